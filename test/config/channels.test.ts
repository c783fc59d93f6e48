import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../src/config/mistakes.js';
import { loadConfig } from '../../src/config/load-config.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rerank-config-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function load(text: string, env: Readonly<Record<string, string>> = {}) {
  const configPath = join(folder, 'gateway.yaml');
  writeFileSync(configPath, text);
  return loadConfig({ env, configPath, folder });
}

/** The mistakes of settings with one channel, without where they are. */
function mistakesOf(channel: object, gateway: object = {}): string[] {
  const written = { name: 'a', provider: 'cohere', models: ['m'], ...channel };
  try {
    load(JSON.stringify({ gateway, channels: [written] }));
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.mistakes.map(({ path, message }) => [...path.slice(2), message].join('.'));
  }
}

function channelOf(channel: object, env: Readonly<Record<string, string>> = {}) {
  const written = { name: 'a', provider: 'cohere', models: ['m'], ...channel };
  const [read] = load(JSON.stringify({ channels: [written] }), env).channels ?? [];
  if (read === undefined) throw new Error('there is no channel');
  return read;
}

describe('the keys of a channel', () => {
  it('may be several, of which all are used', () => {
    const { credentials } = channelOf({ api_keys: ['key-one', ' key-two '] });

    expect(credentials.apiKey?.reveal()).toBe('key-one\nkey-two');
  });

  it.each([
    [{ api_key: 'k', api_keys: ['l'] }, ['api_keys.is set together with api_key; keep one']],
    [
      { api_keys: ['l'], credentials: { api_key: 'k' } },
      ['api_keys.is set together with api_key; keep one'],
    ],
    [
      { api_key: 'k', credentials: { api_key: 'l' } },
      ['api_key.is given twice: here and under credentials; keep one'],
    ],
    [{ credentials: { api_key: 'k' } }, []],
  ])('%j have the mistakes %j', (channel, expected) => {
    expect(mistakesOf(channel)).toEqual(expected);
  });
});

describe('the address of a channel', () => {
  const METADATA = {
    provider: 'tei',
    base_url: 'http://169.254.169.254',
  };

  it('is no cloud’s metadata service, unless that is allowed', () => {
    expect(mistakesOf(METADATA)).toEqual([
      expect.stringMatching(/^base_url\.is link-local or belongs to a cloud metadata service/),
    ]);
    expect(mistakesOf(METADATA, { allow_metadata_upstreams: true })).toEqual([]);
  });

  it('is private only if that is allowed, as it is by default', () => {
    const inside = { provider: 'tei', base_url: 'http://10.1.2.3' };

    expect(mistakesOf(inside)).toEqual([]);
    expect(mistakesOf(inside, { allow_private_upstreams: false })).toEqual([
      expect.stringMatching(/^base_url\.is private/),
    ]);
  });

  it('is judged where its tokens come from, too', () => {
    const watsonx = {
      provider: 'watsonx',
      base_url: 'https://eu-de.ml.cloud.ibm.com',
      api_key: 'k',
      settings: { project_id: 'p', token_url: 'http://169.254.169.254/token' },
    };

    expect(mistakesOf(watsonx)).toEqual([
      expect.stringMatching(/^settings\.token_url\.is link-local/),
    ]);
  });
});

describe('a setting that comes through a variable', () => {
  const generic = (indexBase: string) => ({
    provider: 'openai-compatible',
    base_url: 'https://rerank.example.com',
    settings: { index_base: indexBase },
  });
  const elastic = (legacyOptions: string) => ({
    provider: 'elastic',
    base_url: 'https://search.example.com',
    api_key: 'k',
    settings: { legacy_options: legacyOptions },
  });

  it('has the type of its setting', () => {
    expect(channelOf(generic('${BASE}'), { BASE: '1' }).declared.settings).toEqual({
      indexBase: 1,
    });
    for (const value of [true, false]) {
      const { declared } = channelOf(elastic('${LEGACY}'), { LEGACY: String(value) });
      expect(declared.settings).toEqual({ legacyOptions: value });
    }
  });

  it.each([' ', 'one', '1e999'])('is not the number %j', (value) => {
    expect(mistakesOf(generic(value))).toEqual([
      expect.stringMatching(/^settings\.index_base\.must be a number/),
    ]);
  });

  it('is neither true nor false if it says something else', () => {
    expect(mistakesOf(elastic('yes'))).toEqual([
      expect.stringMatching(/^settings\.legacy_options\./),
    ]);
  });
});

describe('a channel of no known provider', () => {
  it.each([
    [{ provider: 'coherre' }, '"coherre" is not a provider; did you mean cohere?'],
    [{ provider: 5 }, 'must be a string; put it in quotes'],
    [{ provider: undefined }, 'is missing'],
  ])('(%j) has its other mistakes told as well', (given, mistake) => {
    const channel = {
      ...{ api_key: 'k', base_url: 'http://169.254.169.254', window_stride: 5 },
      credentials: { api_key: 'l', other_key: '$OTHER_KEY' },
      settings: { anything: 'x' },
    };

    expect(mistakesOf({ ...channel, ...given })).toEqual([
      `provider.${mistake}`,
      expect.stringMatching(/^credentials\.other_key\.is the name of a variable/),
      'api_key.is given twice: here and under credentials; keep one',
      expect.stringMatching(/^base_url\.is link-local/),
      'window_stride.has no effect without window_size',
    ]);
  });
});

describe('windows of a channel', () => {
  it.each([
    [{ window_stride: 5 }, ['window_stride.has no effect without window_size']],
    [
      { window_size: 5, window_stride: 5 },
      ['window_stride.must be less than window_size, so that windows overlap'],
    ],
    [{ window_size: 5, window_stride: 4 }, []],
  ])('%j have the mistakes %j', (windows, expected) => {
    expect(mistakesOf({ api_key: 'k', ...windows })).toEqual(expected);
  });
});
