import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { stringify } from 'yaml';
import { eventually, startRedis } from '../test/support/redis-server.js';
import { makeHome, startProcess, type GatewayProcess } from '../test/system/fleet.js';
import { machine } from './table.js';
import { cpuMicroseconds, peakMiB } from './targets.js';

/**
 * `npm run bench:channels`: what many channels cost: the first start, which writes them all, a second one, which finds them
 * there, and the switch of a tag, on Redis or, with `--embedded`, on the embedded store. With `--yaml`, the settings are written as
 * people write them, in lines, which takes longer to read than JSON.
 */

const { values: options } = parseArgs({
  options: {
    channels: { type: 'string', default: '10000' },
    switches: { type: 'string', default: '20' },
    embedded: { type: 'boolean', default: false },
    yaml: { type: 'boolean', default: false },
  },
});
const COUNT = Number(options.channels);
const SWITCHES = Number(options.switches);
const PER_TAG = 10;
const PASSWORD = 'a password for tests';

const redis = options.embedded ? undefined : await startRedis();
const settings = {
  channels: Array.from({ length: COUNT }, (_, index) => ({
    ...{ name: `channel-${index}`, provider: 'cohere', api_key: `key of channel ${index}` },
    ...{ base_url: `http://127.0.0.1:9/${index}`, models: [`model-${index % 1_000}`] },
    tag: `tag-${Math.floor(index / PER_TAG)}`,
  })),
};
const home = await makeHome(settings, redis === undefined ? {} : { REDIS_URL: redis.url });
if (options.yaml) await writeFile(home.env.CONFIG ?? '', stringify(settings));

/** Microseconds that Redis spent at most on one command, and clears its memory of that. */
async function slowest(): Promise<number> {
  if (redis === undefined) return 0;
  const client = new Redis(redis.url);
  const log = (await client.slowlog('GET', -1)) as [number, number, number][];
  await client.slowlog('RESET');
  await client.config('SET', 'slowlog-log-slower-than', '1000');
  client.disconnect();
  return Math.max(0, ...log.map(([, , us]) => us));
}

async function start(what: string): Promise<GatewayProcess> {
  const began = performance.now();
  const gateway = await startProcess(home);
  const ms = performance.now() - began;
  const cpuMs = (await cpuMicroseconds(gateway.pid)) / 1_000;
  console.log(
    `${what}: ${ms.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU, at most ${(await peakMiB(gateway.pid)).toFixed(0)} MiB, ` +
      `Redis held for ${((await slowest()) / 1_000).toFixed(0)} ms`,
  );
  return gateway;
}

console.log(
  `${COUNT} channels in ${options.yaml ? 'YAML' : 'JSON'}, ${PER_TAG} to a tag; ${machine()}`,
);
await slowest();
let gateway = await start('first start');
gateway.kill('SIGTERM');
await gateway.exited;
gateway = await start('second start');
const login = await fetch(`${gateway.url}/api/user/login`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ username: 'root', password: PASSWORD }),
});
const { data } = (await login.json()) as { readonly data: { readonly access_token?: string } };
const cookie = login.headers
  .getSetCookie()
  .map((each) => each.split(';')[0])
  .join('; ');
const headers = {
  'content-type': 'application/json',
  ...(data.access_token === undefined
    ? { cookie }
    : { authorization: `Bearer ${data.access_token}` }),
};
const beganUs = await cpuMicroseconds(gateway.pid);
const began = performance.now();
for (let turn = 0; turn < SWITCHES; turn += 1) {
  const path = turn % 2 === 0 ? 'disabled' : 'enabled';
  const response = await fetch(`${gateway.url}/api/channel/tag/${path}`, {
    ...{ method: 'POST', headers, body: JSON.stringify({ tag: 'tag-7' }) },
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}
// The last of them is in force, and whatever it causes is over.
await eventually('the channels are fresh', async () => (await fetch(`${gateway.url}/readyz`)).ok);
const perSwitch = ((await cpuMicroseconds(gateway.pid)) - beganUs) / 1_000 / SWITCHES;
console.log(
  `a switch: ${((performance.now() - began) / SWITCHES).toFixed(0)} ms, ${perSwitch.toFixed(0)} ms of CPU, ` +
    `Redis held for ${((await slowest()) / 1_000).toFixed(0)} ms; at most ${(await peakMiB(gateway.pid)).toFixed(0)} MiB`,
);
gateway.kill('SIGKILL');
await gateway.exited;
await redis?.stop();
await home.remove();
