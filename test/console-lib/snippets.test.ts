import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ANY_KEY,
  bodyFor,
  codeFor,
  type CodeLanguage,
  type NamesModels,
} from '../../src/console/lib/snippets.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const run = promisify(execFile);
const HAS_PYTHON = ['/usr/bin/python3', '/usr/local/bin/python3'].some(existsSync);
const LANGUAGES: readonly CodeLanguage[] = [
  ...(['curl', 'typescript'] as const),
  ...(HAS_PYTHON ? (['python'] as const) : []),
];

/** How each language’s code is run, as somebody who pastes it would. */
const RUNS: Readonly<Record<CodeLanguage, (code: string) => readonly [string, string[]]>> = {
  curl: (code) => ['sh', ['-c', code.replace('curl', 'curl -sS --fail-with-body')]],
  typescript: (code) => [process.execPath, ['--input-type=module', '-e', code]],
  python: (code) => ['python3', ['-c', code]],
};

const KEYS: readonly (readonly [name: string, key: NamesModels, byDefault: string | null])[] = [
  ['that may name any model', ANY_KEY, 'local'],
  ['limited to another model than the gateway’s own', limitedTo('other'), 'local'],
  ['limited to several, one of them the gateway’s own', limitedTo('other', 'local'), 'local'],
  ['limited, with a model of its own', { ...limitedTo('other'), default_model: 'other' }, 'local'],
  ['limited to several, of which nobody serves the first', limitedTo('gone', 'other'), 'local'],
  ['that may name any model, where the gateway has none of its own', ANY_KEY, null],
  ['limited, where the gateway has none of its own', limitedTo('other'), null],
];

function limitedTo(...models: string[]): NamesModels {
  return { ...ANY_KEY, model_limits_enabled: true, model_limits: models };
}

describe('the code that is shown with a key', () => {
  const LIVE = ['local', 'other'];
  const gateways = new Map<string | null, TestGateway>();

  beforeAll(async () => {
    for (const byDefault of ['local', null]) {
      const started = await startGateway({
        gateway: byDefault === null ? {} : { default_model: byDefault },
        channels: [
          {
            name: 'inside',
            provider: 'local',
            models: Object.fromEntries(LIVE.map((model) => [model, 'local/lexical'])),
          },
        ],
      });
      gateways.set(byDefault, started);
    }
  });

  afterAll(() => Promise.all(Array.from(gateways.values(), (gateway) => gateway.close())));

  it('names a model that is served for a key that is bound to tags', () => {
    const bound = { ...ANY_KEY, tags: ['blue'] };

    expect(bodyFor(bound, 'local', ['local', 'other'])).not.toHaveProperty('model');
    expect(bodyFor(bound, 'local', ['other'])).toMatchObject({ model: 'other' });
    expect(bodyFor({ ...bound, default_model: 'other' }, 'local', ['other'])).not.toHaveProperty(
      'model',
    );
  });

  describe.each(KEYS)('%s', (_, known, byDefault) => {
    const { model_limits: models, model_limits_enabled: limited, default_model: own } = known;

    it.each(LANGUAGES)('ranks with it in %s', async (language) => {
      const gateway = gateways.get(byDefault);
      if (gateway === undefined) throw new Error('it did not start');
      const { key } = await gateway.createKey({
        policy: {
          ...(limited ? { models } : {}),
          ...(own === null ? {} : { defaultModel: own }),
        },
      });
      const body = bodyFor(known, byDefault, LIVE);
      const [program, args] = RUNS[language](
        codeFor(language, { address: gateway.url, body, key }),
      );
      const { stdout } = await run(program, args);
      expect(stdout).toMatch(/^1 0\.\d+\n|"index":1,"relevance_score":0\.\d+/);
    });
  });
});
