import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHANNEL_DEFAULTS } from '../src/core/channel-members.js';
import { loadConfig } from '../src/config.js';
import { Secret } from '../src/core/secret.js';
import { openStore } from '../src/open-store.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

describe('the embedded store', () => {
  it('makes its own encryption key once, for its owner’s eyes, and reads credentials with it again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    const settings = loadConfig({ env: { DATA_DIR: folder }, folder }).store;
    const store = await openStore(settings);
    await store.createChannel({
      name: 'c',
      provider: 'cohere',
      baseUrl: undefined,
      credentials: { apiKey: new Secret('up-secret') },
      models: { m: 'm' },
      tag: undefined,
      ...CHANNEL_DEFAULTS,
      status: 1,
      settings: {},
    });
    await store.close();

    const again = await openStore(settings);
    const { channels, locked } = await again.loadChannels();
    await again.close();

    expect(channels[0]?.credentials.apiKey?.reveal()).toBe('up-secret');
    expect(locked.size).toBe(0);
    expect(statSync(join(folder, 'encryption.key')).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, 'gateway.db')).includes('up-secret')).toBe(false);
  });

  it('refuses an encryption key that is empty', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
    folders.push(folder);
    writeFileSync(join(folder, 'encryption.key'), '\n');
    const settings = loadConfig({ env: { DATA_DIR: folder }, folder }).store;

    await expect(openStore(settings)).rejects.toThrow(/encryption\.key is empty/);
  });
});
