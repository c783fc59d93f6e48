import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';
import { makeHome, startProcess, type GatewayProcess, type Home } from './fleet.js';

const ROOT_PASSWORD = 'the-root-password-of-a-day';
const UPSTREAM_KEY = 'the-upstream-key-of-a-day';

let redis: RedisServer;
let upstream: TestUpstream;
let home: Home;
let gateway: GatewayProcess;

beforeAll(async () => {
  redis = await startRedis();
  upstream = await startUpstream();
  home = await makeHome(
    {},
    {
      REDIS_URL: redis.url,
      ROOT_PASSWORD,
      ENCRYPTION_KEY: 'an encryption key for a day',
    },
  );
  gateway = await startProcess(home);
}, 120_000);

afterAll(async () => {
  gateway.kill('SIGKILL');
  await gateway.exited;
  await Promise.all([redis.stop(), upstream.close()]);
  await home.remove();
});

it('a day in the life goes as the script tells it, and leaves no secret in the store', async () => {
  const day = join(home.folder, 'day');
  await mkdir(day);

  const { code, output } = await tell(day);

  expect({ code, output }).toMatchObject({ code: 0 });
  const secrets = secretsOf(day);
  expect(new Set(secrets.map(({ kind }) => kind))).toEqual(
    new Set(['password', 'session', 'key', 'code', 'reset code', 'channel credential']),
  );
  const dump = await dumpOf(redis);
  expect(dump).toMatch(/grace-\w+@example\.com/);
  const log = gateway.log.join('\n');
  expect(secrets.filter(({ text }) => dump.includes(text))).toEqual([]);
  expect(secrets.filter(({ text }) => log.includes(text))).toEqual([]);
}, 120_000);

async function tell(
  day: string,
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn('bash', ['docs/day-in-the-life.sh'], {
    env: {
      ENV_FILE: '',
      PATH: process.env.PATH ?? '',
      URL: gateway.url,
      ROOT_PASSWORD,
      OUTBOX: join(home.folder, 'outbox'),
      UPSTREAM: upstream.url,
      UPSTREAM_KEY,
      DAY: day,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

interface Kept {
  readonly kind: string;
  readonly text: string;
}

/** Everything that was to be kept secret that day, from what the script has kept. */
function secretsOf(day: string): Kept[] {
  const read = (name: string): string => readFileSync(join(day, name), 'utf8');
  const names = readdirSync(day);
  const lines = (name: string): string[] => read(name).split('\n').filter(Boolean);
  const key = (JSON.parse(read('key.json')) as { data: { key: string } }).data.key;
  return [
    { kind: 'password', text: ROOT_PASSWORD },
    { kind: 'channel credential', text: UPSTREAM_KEY },
    { kind: 'key', text: key },
    ...lines('codes.txt').map((text) => ({ kind: 'code', text })),
    ...lines('reset-code.txt').map((text) => ({ kind: 'reset code', text })),
    ...names
      .filter((name) => name.endsWith('.password'))
      .flatMap(lines)
      .map((text) => ({ kind: 'password', text })),
    ...names
      .filter((name) => name.endsWith('.cookies'))
      .flatMap(lines)
      .flatMap((line) => /\trerank_session\t(\S+)/.exec(line)?.[1] ?? [])
      .map((text) => ({ kind: 'session', text })),
  ];
}

/** All keys and all that is in them, as text. */
async function dumpOf({ url }: RedisServer): Promise<string> {
  const client = new Redis(url);
  try {
    const parts: unknown[] = [];
    for (const key of await client.keys('*')) {
      parts.push(key);
      switch (await client.type(key)) {
        case 'string':
          parts.push(await client.get(key));
          break;
        case 'hash':
          parts.push(await client.hgetall(key));
          break;
        case 'set':
          parts.push(await client.smembers(key));
          break;
        case 'zset':
          parts.push(await client.zrange(key, '0', '-1'));
          break;
        case 'list':
          parts.push(await client.lrange(key, 0, -1));
          break;
        default:
          throw new Error(`${key} is of a type that is not looked at`);
      }
    }
    return JSON.stringify(parts);
  } finally {
    client.disconnect();
  }
}
