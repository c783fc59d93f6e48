import { afterEach, expect, it, jest } from '@jest/globals';
import { close, reload } from '../../src/assembly/running.js';
import { loadConfig } from '../../src/config/load-config.js';
import { liveConfig } from '../../src/config/reload.js';
import type { Config } from '../../src/config/values.js';
import { Secret } from '../../src/core/secret.js';

type Running = Parameters<typeof reload>[0];

const usual = loadConfig({ env: {}, folder: 'none' });

afterEach(() => {
  jest.useRealTimers();
});

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

/** A gateway that ends, of which one part never does; and what it has closed, in its order. */
function closing(hangs: string, drainMs: number): string[] {
  let nowMs = 5_000_000;
  const order: string[] = [];
  const end = (what: string) => () => {
    order.push(what);
    if (what === 'server') nowMs += drainMs;
    return what === hangs ? new Promise<void>(() => undefined) : Promise.resolve();
  };
  void close(
    {
      ...{ now: () => nowMs, server: { drain: end('server') }, load: { idle: end('load') } },
      upkeep: { stopRecovering: end('recovering'), stopTrimming: end('trimming') },
      ...{ settlements: { drained: end('settlements') }, events: { flush: end('events') } },
      readers: {
        ...{ writeRest: end('logs'), closeOtlp: end('otlp'), reports: { stop: end('reports') } },
      },
      ...{ care: { stop: end('care') }, audit: { stop: end('audit') } },
      ...{ alerts: { close: end('alerts') }, background: { drained: end('background') } },
      ...{ plane: { close: end('limits') }, channels: { stop: end('channels') } },
      upstreams: { upstream: { close: end('upstream') }, neural: { close: end('models') } },
      store: { close: end('store') },
    } as unknown as Parameters<typeof close>[0],
    drainMs,
  );
  return order;
}

const LAST = [
  ...['settlements', 'events', 'logs', 'care', 'audit', 'alerts', 'otlp', 'background', 'limits'],
  ...['reports', 'channels', 'upstream', 'models', 'store', 'events'],
];

it('a gateway that ends closes every part after those that use it', async () => {
  jest.useFakeTimers();
  const order = closing('nothing', 100);
  await jest.advanceTimersByTimeAsync(0);

  expect(order).toEqual(['server', 'recovering', 'load', 'trimming', ...LAST]);
});

it.each(['load', 'alerts', 'limits'])(
  'has a second beyond its time to drain, and none more: with %s without an end',
  async (hangs) => {
    jest.useFakeTimers();
    const order = closing(hangs, 100);
    await jest.advanceTimersByTimeAsync(999);
    const before = order.at(-1);
    await jest.advanceTimersByTimeAsync(1);

    expect([before, order.slice(-LAST.length)]).toEqual([hangs, LAST]);
  },
);
