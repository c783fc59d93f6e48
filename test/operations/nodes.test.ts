import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { liveBuilds } from '../../src/management/nodes.js';
import { StoreUnavailableError } from '../../src/store/store.js';
import { callApi, createAccount, type Account, type ApiReply } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { report } from '../support/nodes.js';

interface NodesWire {
  readonly version: number;
  readonly nodes: readonly {
    readonly name: string;
    readonly standing: string;
    readonly version: number | null;
    readonly release: string | null;
    readonly channels: readonly { readonly name: string; readonly why: string }[];
  }[];
}

interface SwitchedWire {
  readonly in_force: string;
  readonly nodes: { readonly confirmed: number; readonly total: number; readonly late: string[] };
  readonly waited_ms: number;
}

const STALENESS_MS = 2_000;

let gateway: TestGateway;
let admin: Account;

beforeAll(async () => {
  gateway = await startGateway({
    gateway: { staleness_ms: STALENESS_MS },
    channels: [{ name: 'inside', provider: 'local', tag: 'own', models: ['served'] }],
  });
  admin = await createAccount(gateway.store, { role: 10 });
});
afterAll(() => gateway.close());

function call<T>(method: string, path: string, body?: unknown): Promise<ApiReply<T>> {
  return callApi<T>(gateway.url, method, path, {
    token: admin.token,
    ...(body === undefined ? {} : { body }),
  });
}

/** Whether a running gateway serves that build of the console. */
async function hasBuild(build: string): Promise<boolean> {
  const { body } = await call<{ readonly builds: string[] }>('GET', '/api/about');
  return body.data.builds.includes(build);
}

const nodes = async (): Promise<NodesWire> => (await call<NodesWire>('GET', '/api/node')).body.data;

describe('nodes', () => {
  it('tell of themselves from their start on', async () => {
    const { version, nodes: listed } = await nodes();

    expect(listed).toEqual([
      expect.objectContaining({
        standing: 'current',
        version,
        pid: process.pid,
        in_flight: 0,
        pending_settlements: 0,
        faults: 0,
      }),
    ]);
  });

  it('confirm a switch, and the reply says on how many after how long', async () => {
    const { data } = (await call<SwitchedWire>('POST', '/api/channel/tag/disabled', { tag: 'own' }))
      .body;

    expect(data).toMatchObject({
      in_force: 'confirmed',
      nodes: { confirmed: 1, total: 1, late: [] },
    });
    expect(data.waited_ms).toBeGreaterThanOrEqual(0);
    expect(data.waited_ms).toBeLessThan(STALENESS_MS);
  });

  it('that are frozen are named late with the bound, and are behind until they count as gone', async () => {
    const { store } = gateway;
    const nowMs = Date.now();
    await report(store, 'frozen', await store.channelsVersion(), nowMs, 60_000);
    await store.describeNode(
      {
        nodeId: 'frozen',
        name: 'node-c',
        release: '0.1.9',
        build: 'another',
        pid: 9,
        startedMs: nowMs,
        atMs: nowMs,
        inFlight: 2,
        maxInFlight: 10,
        pendingSettlements: 12,
        faults: 3,
        channels: [
          { name: 'azure', untilMs: 0, why: 'credentials locked' },
          { name: 'busy', id: 7, state: 'cooling', untilMs: nowMs + 9_000, why: 'busy' },
        ],
      },
      60_000,
    );

    const { data } = (await call<SwitchedWire>('POST', '/api/channel/tag/enabled', { tag: 'own' }))
      .body;

    expect(data).toMatchObject({
      in_force: 'bound_passed',
      nodes: { confirmed: 1, total: 2, late: ['node-c'] },
    });
    expect(data.waited_ms).toBeGreaterThanOrEqual(STALENESS_MS);
    expect((await nodes()).nodes.find(({ name }) => name === 'node-c')).toMatchObject({
      standing: 'behind',
      release: '0.1.9',
      build: 'another',
      channels: [
        { id: null, state: 'unusable', name: 'azure', until: null, why: 'credentials locked' },
        { id: 7, state: 'cooling', name: 'busy', why: 'busy' },
      ],
    });

    await eventually('its console is told of', () => hasBuild('another'));
    await report(store, 'frozen', 0, nowMs - 10_000, 1);
    await eventually('nobody serves that any more', async () => !(await hasBuild('another')));
    expect((await nodes()).nodes.find(({ name }) => name === 'node-c')?.standing).toBe('silent');

    // One of the same name has taken its place.
    await report(store, 'anew', await store.channelsVersion(), Date.now(), 60_000);
    const about = { name: 'node-c', release: '0.1.9', pid: 10, startedMs: nowMs, channels: [] };
    const load = { inFlight: 0, maxInFlight: 10, pendingSettlements: 0, faults: 0 };
    await store.describeNode({ nodeId: 'anew', atMs: nowMs, ...about, ...load }, 60_000);
    const named = (await nodes()).nodes.filter(({ name }) => name === 'node-c');
    expect(named.map(({ standing }) => standing)).toEqual(['current']);
  });
});

it('builds of the console are unknown while the store is away, and other faults are told', async () => {
  const failing = (error: Error) => ({
    store: { ...gateway.store, listNodes: () => Promise.reject(error) },
    now: Date.now,
  });

  expect(await liveBuilds(failing(new StoreUnavailableError('away')))).toEqual([]);
  await expect(liveBuilds(failing(new Error('a mistake')))).rejects.toThrow('a mistake');
});
