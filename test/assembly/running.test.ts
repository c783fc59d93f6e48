import { expect, it } from '@jest/globals';
import { reload } from '../../src/assembly/running.js';
import { loadConfig } from '../../src/config/load-config.js';
import { liveConfig } from '../../src/config/reload.js';
import type { Config } from '../../src/config/values.js';
import { Secret } from '../../src/core/secret.js';

type Running = Parameters<typeof reload>[0];

const usual = loadConfig({ env: {}, folder: 'none' });

/** With one channel, and its key. */
function configWith(key: string, more: Partial<Config> = {}): Config {
  const channel = { declared: { name: 'eu' }, credentials: { apiKey: new Secret(key) } };
  return { ...usual, channels: [channel] as unknown as Config['channels'], ...more };
}

/** A gateway with the key `old`, what is asked of its parts, and the key of its channel. */
function running(declareChannels: () => Promise<void> = () => Promise.resolve()) {
  const config = liveConfig(configWith('old'));
  const declared = new Map([['eu', { apiKey: new Secret('old') }]]);
  const asked: unknown[][] = [];
  const note =
    (what: string) =>
    (...given: unknown[]) =>
      void asked.push([what, ...given]);
  const parts = {
    ...{ config, upstreams: { declared }, logger: { level: 'info' }, now: Date.now },
    store: { declareChannels, keepPrices: () => Promise.resolve() },
    channels: { refresh: () => Promise.resolve(), remake: note('remake') },
    ...{ load: { resize: note('resize') }, alerts: { reload: () => note('alerts')() } },
    audit: { update: note('audit') },
  } as unknown as Running;
  return {
    parts,
    asked,
    keys: () => [...declared].map(([name, { apiKey }]) => [name, apiKey.reveal()]),
  };
}

it('a reload puts limits, targets of alerts and credentials in force', async () => {
  const { parts, asked, keys } = running();
  const server = { ...usual.server, maxInFlight: 7, maxInFlightBytes: 8, inFlightShare: 0.5 };
  const alerts = { ...usual.alerts, backupMaxDays: 3 };

  await reload(parts, { ...configWith('new', { server, alerts }), channels: [] });

  expect(asked).toEqual([['resize', 7, 8, 0.5], ['alerts'], ['audit'], ['remake']]);
  expect(keys()).toEqual([]);
});

it('a reload that the store refuses leaves the credentials as they were', async () => {
  const during: unknown[] = [];
  const { parts, asked, keys } = running(() => {
    during.push(...keys());
    return Promise.reject(new Error('away'));
  });

  await expect(reload(parts, configWith('new'))).rejects.toThrow('away');

  // Channels of either configuration may be asked for meanwhile.
  expect([during, keys(), asked]).toEqual([[['eu', 'new']], [['eu', 'old']], []]);
});
