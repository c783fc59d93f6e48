import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { loadConfig } from '../../src/config/load-config.js';
import { allProviders } from '../../src/providers/index.js';
import { PROVIDER_PAGE, readyChannel, renderProviders } from '../support/provider-docs.js';

const written = readFileSync(PROVIDER_PAGE, 'utf8');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'provider-docs-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('docs/providers.md', () => {
  it('is current: `npm run docs:providers` would not change it', async () => {
    expect(written).toBe(await renderProviders());
  });

  it('has links that lead to its sections', () => {
    const anchors = [...written.matchAll(/^## (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .replaceAll(' ', '-'),
    );

    const links = new Set([...written.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor));
    expect(links.size).toBe(allProviders().length);
    expect([...links].filter((link) => !anchors.includes(link ?? ''))).toEqual([]);
    expect(new Set(anchors).size).toBe(anchors.length);
  });

  it('has a channel of every provider that can be pasted as it is', () => {
    const ready = allProviders().map(readyChannel);
    const channels = ready.flatMap(({ yaml }) => (parse(yaml) as { channels: unknown[] }).channels);
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, stringify({ channels }));
    const env = Object.assign({}, ...ready.map(({ env }) => env)) as Record<string, string>;

    const config = loadConfig({ env: { ...env, CONFIG: file, DATA_DIR: folder } });

    expect(config.channels?.map(({ declared }) => declared.provider)).toEqual(
      allProviders().map(({ id }) => id),
    );
  });
});
