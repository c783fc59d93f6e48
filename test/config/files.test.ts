import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { checkConfig, loadConfig } from '../../src/config/load-config.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rerank-config-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

type Env = Readonly<Record<string, string>>;

function write(files: Readonly<Record<string, string>>): string {
  const path = join(folder, 'conf.d');
  mkdirSync(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return path;
}

function load(files: Readonly<Record<string, string>>, env: Env = {}) {
  return loadConfig({ env, configPath: write(files), folder });
}

/** The lines of the message that a mistake causes, without the folder. */
function refusal(files: Readonly<Record<string, string>>): string[] {
  try {
    checkConfig({ env: {}, configPath: write(files), folder });
  } catch (error) {
    const lines = String(error).split('\n').slice(1);
    return lines.map((line) => line.trim().replaceAll(`${join(folder, 'conf.d')}/`, ''));
  }
  return [];
}

const channel = (name: string) =>
  `channels: [{ name: ${name}, provider: cohere, api_key: k, models: [m] }]`;

describe('a folder of settings', () => {
  it('says that a mistake is where its last file has the setting', () => {
    expect(
      refusal({
        '1.yaml': 'server:\n  port: 8080\n',
        '2.yaml': `# more\n\nserver:\n  port: none\n`,
      }),
    ).toEqual([expect.stringMatching(/^2\.yaml:4: server\.port: /)]);
  });

  it('keeps the channels of its other files if one says that it has none', () => {
    const { channels } = load({ 'a.yaml': channel('a'), 'b.yaml': 'channels:' });

    expect(channels?.map(({ declared }) => declared.name)).toEqual(['a']);
  });

  it('is reported if it holds none', () => {
    const [found] = refusal({ 'notes.txt': 'channels:' });

    expect(found).toMatch(
      /conf\.d: holds no settings; add some, such as "channels:", or remove it$/,
    );
  });

  it('says in which file and line a mistake is, though lists grow', () => {
    const wrong = 'channels:\n  - { name: b, provider: nobody, models: [m] }';

    expect(refusal({ 'a.yaml': channel('a'), 'b.yaml': wrong })).toEqual([
      expect.stringMatching(/^b\.yaml:2: channels\[1\]\.provider: "nobody" is not a provider/),
    ]);
  });

  it('refuses a tag that two of its files switch', () => {
    const tags = 'tags: [{ tag: eu, disabled: true }]';

    expect(refusal({ 'a.yaml': `${channel('a')}\n${tags}`, 'b.yaml': tags })).toEqual(
      expect.arrayContaining([
        'b.yaml:1: tags[1].tag: "eu" exists already (a.yaml:2); names must be unique',
      ]),
    );
  });
});

describe('a variable', () => {
  it('that is empty gives way to the default behind it', () => {
    expect(load({ 'a.yaml': 'server: { host: "${HOST:-h}" }' }, { HOST: '' }).server.host).toBe(
      'h',
    );
  });

  it('that names no file leaves the usual one in force', () => {
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'config', 'gateway.yaml'), 'server: { host: usual }');

    expect(loadConfig({ env: { CONFIG: '' }, folder }).server.host).toBe('usual');
  });
});

describe('what settings may say', () => {
  it('includes rules for models that have none of their own', () => {
    expect(refusal({ 'a.yaml': `${channel('a')}\nmodels: { default: { queue_ms: 5 } }` })).toEqual(
      [],
    );
  });

  it('includes room for just one body of the largest size', () => {
    const sizes = (most: number) =>
      `server: { body_limit_bytes: 1000000, max_in_flight_bytes: ${most} }`;

    expect(refusal({ 'a.yaml': sizes(1_000_000) })).toEqual([]);
    expect(refusal({ 'a.yaml': sizes(999_999) })).toEqual([
      expect.stringContaining('server.max_in_flight_bytes: is less than body_limit_bytes'),
    ]);
  });
});
