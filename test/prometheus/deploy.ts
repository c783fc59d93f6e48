import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import {
  cohereChannel,
  rankLikeCohere,
  sendJson,
  startUpstream,
  type TestUpstream,
} from '../support/upstream.js';

/** What a real Prometheus makes of the files that watch the gateway, and of a gateway that serves. */

const FILES = 'config/deploy/prometheus';
const DASHBOARD = 'config/deploy/grafana/dashboards/rerank-gateway.json';
/** Panels that are empty while all is well here: nothing is degraded, and no limit is shared. */
const QUIET = ['Answered by a last resort', 'At a shared limit, keys refused, outages'];

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
}

let folder = '';
let gateway: TestGateway;
let upstreams: readonly TestUpstream[] = [];
let prometheus: ChildProcess;
let api = '';

const panels = (JSON.parse(readFileSync(DASHBOARD, 'utf8')) as { panels: Panel[] }).panels.filter(
  ({ targets }) => targets !== undefined,
);

/** An expression as Grafana would send it. */
function sent(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5s').replaceAll('$job', 'rerank-gateway');
}

async function ask(path: string, query: Record<string, string> = {}): Promise<unknown> {
  const reply = await fetch(`${api}/api/v1/${path}?${new URLSearchParams(query).toString()}`);
  const body = (await reply.json()) as { status: string; error?: string; data: unknown };
  expect([path, query, body.error, body.status]).toEqual([path, query, undefined, 'success']);
  return body.data;
}

async function valuesOf(expr: string): Promise<unknown[]> {
  const { result } = (await ask('query', { query: expr })) as { result: unknown[] };
  return result;
}

/** Requests that go well, fail and open a circuit, and are refused. */
async function serve(key: string): Promise<void> {
  const documents = ['sun', 'moon'];
  for (let at = 0; at < 12; at += 1) {
    await gateway.post(key, { model: 'moon', query: 'moon', documents });
    await gateway.post(key, { model: 'mars', query: 'mars', documents });
    await gateway.post(key, { model: 'nobody', query: 'x', documents });
  }
  await gateway.post('sk-unknown', { model: 'moon', query: 'moon', documents });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

beforeAll(async () => {
  upstreams = [
    await startUpstream(rankLikeCohere),
    await startUpstream((_request, res) => sendJson(res, { message: 'down' }, 500)),
  ];
  const [good, bad] = upstreams.map(({ url }) => url);
  gateway = await startGateway({
    prices: { default: { per_request: 10 } },
    channels: [
      cohereChannel('good', good ?? '', { tag: 'blue' }),
      cohereChannel('bad', bad ?? '', { tag: 'red', models: ['mars'] }),
    ],
  });
  const limited = { unlimitedQuota: false, remainQuota: 900_000 };
  const { key } = await gateway.createKey({ ...limited, policy: { budget: 500_000 } });
  await serve(key);
  folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  cpSync(FILES, folder, { recursive: true });
  const file = join(folder, 'prometheus.yml');
  const settings = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    settings.replace('localhost:8080', new URL(gateway.url).host).replaceAll(': 15s', ': 1s'),
  );
  api = `http://127.0.0.1:${await freePort()}`;
  const options = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${new URL(api).host}`,
  ];
  prometheus = spawn('prometheus', options, { stdio: 'ignore' });
  await until('Prometheus is ready', async () => {
    const reply = await fetch(`${api}/-/ready`).catch(() => undefined);
    return reply?.status === 200;
  });
  // Rates need two samples within their five seconds.
  await until('it has read the gateway twice', async () => {
    await serve(key);
    return (await valuesOf('count_over_time(rerank_store_up[5s]) >= 2')).length > 0;
  });
}, 60_000);

afterAll(async () => {
  prometheus.kill('SIGTERM');
  await once(prometheus, 'exit');
  await gateway.close();
  await Promise.all(upstreams.map((upstream) => upstream.close()));
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

function promtool(args: readonly string[], input?: string) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', input });
  return { status, said: stdout + stderr };
}

describe('the files for Prometheus', () => {
  it('are valid, and their alerts say what they should when they should', () => {
    expect(promtool(['check', 'config', `${FILES}/prometheus.yml`])).toMatchObject({ status: 0 });
    expect(promtool(['test', 'rules', 'test/prometheus/alerts.yml'])).toEqual({
      status: 0,
      said: expect.stringContaining('SUCCESS') as unknown,
    });
  });

  it('are evaluated without an error', async () => {
    await until('every rule was evaluated', async () => {
      const { groups } = (await ask('rules')) as {
        groups: { rules: { name: string; health: string; lastError?: string }[] }[];
      };
      const rules = groups.flatMap((group) => group.rules);
      expect(rules.filter(({ lastError }) => lastError !== undefined)).toEqual([]);
      return rules.length > 10 && rules.every(({ health }) => health === 'ok');
    });
  });
});

describe('metrics', () => {
  it('have names and units as Prometheus wants them', async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();

    expect(promtool(['check', 'metrics'], text)).toEqual({ status: 0, said: '' });
  });

  it('include every name that the dashboard and the rules use', async () => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    const families = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const used = readFileSync(DASHBOARD, 'utf8') + readFileSync(`${FILES}/alerts.yml`, 'utf8');
    const names = [...used.matchAll(/\b(?:rerank|process|nodejs)_\w+/g)].map(([name]) => name);

    const unknown = names.filter((name) => !families.has(name.replace(/_bucket$/, '')));
    expect(names.length).toBeGreaterThan(50);
    expect(unknown).toEqual([]);
  });
});

describe('the dashboard', () => {
  it('has an answer to every query of every panel', async () => {
    const empty: string[] = [];
    for (const { title, targets = [] } of panels) {
      const found = await Promise.all(targets.map(({ expr }) => valuesOf(sent(expr))));
      if (found.every((values) => values.length === 0)) empty.push(title);
    }

    expect(panels.length).toBeGreaterThan(20);
    expect(empty).toEqual(QUIET);
  });

  it('shows what was served', async () => {
    const of = async (query: string) =>
      ((await valuesOf(query)) as { metric: object; value: [number, string] }[]).map(
        ({ metric, value }) => [metric, Number(value[1])],
      );

    expect(await of('max by (channel, tag) (rerank_channel_circuit{state="open"})')).toEqual([
      [{ channel: 'bad', tag: 'red' }, 1],
    ]);
    expect(await of('count by (kind) (rerank_budget_units)')).toEqual([[{ kind: 'key' }, 1]]);
    const attempts = 'sum by (channel, model) (rerank_channel_attempts_total{outcome="ok"}) >= 12';
    expect((await of(attempts)).map(([labels]) => labels)).toEqual([
      { channel: 'good', model: 'moon' },
    ]);
  });
});
