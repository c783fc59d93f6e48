import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startStubs } from '../test/stubs/server.js';
import { escapedJson } from './bodies.js';
import { CHINESE, ENGLISH, textOf, textsOf, type Case } from './turn-case.js';
import { casesOf, MAIN } from './turn-cases.js';
import { makeHome, runCli, startProcess, type GatewayProcess } from '../test/system/fleet.js';

/**
 * `npx tsx bench/turns.ts`: how long one large request blocks the gateway's event loop, by kind of request. Each case is sent
 * several times, alone. Prints the longest turn of all but the first, as elapsed time and as processor time. Exits with 1 if a
 * turn takes more processor time than the gateway promises.
 */
const { values: options } = parseArgs({
  options: {
    case: { type: 'string', default: '' },
    megabytes: { type: 'string', default: '27' },
    times: { type: 'string', default: '3' },
    preload: { type: 'string', default: './bench/preload/turns.mjs' },
    most: { type: 'string', default: '20' },
  },
});
const UNITS = Number(options.megabytes) * 1e6;
const TIMES = Number(options.times);
const MOST_MS = Number(options.most);

/** As long as vectors get. */
const LONG_VECTOR = Float32Array.from({ length: 4096 }, (_, at) => Math.sin(at + 1));

const stubs = await startStubs();
const echoed = rankingOf(textsOf(ENGLISH, 1000, UNITS));
const escaped = escapedJson(rankingOf(textsOf(CHINESE, 1000, UNITS / 6)));
const talkers = await Promise.all(
  [
    () => echoed,
    () => escaped,
    embeddingsOf(() => Array.from(LONG_VECTOR)),
    embeddingsOf(() => Buffer.from(LONG_VECTOR.buffer).toString('base64')),
    embeddingsOf(() =>
      Array.from(LONG_VECTOR.subarray(0, 1024), (value) => Math.round(127 * value)),
    ),
    tokenVectorsOf,
  ].map((replyTo) => startTalker(replyTo)),
);
const page = `<html><p>${textsOf(ENGLISH, 1000, UNITS).join('</p><p>')}</p></html>`;
const mistake = JSON.stringify({ error: { message: textOf(ENGLISH, UNITS) } });
const repeated = JSON.stringify({ detail: [{ msg: 'no', input: textsOf(ENGLISH, 1000, UNITS) }] });
talkers.push(
  await startTalker(() => page),
  await startTalker(() => page, 502),
  await startTalker(() => mistake, 500),
  await startTalker(() => repeated, 422),
);
const talker = (model: string, at: number, provider: string): object => ({
  name: model,
  models: [model],
  provider,
  base_url: talkers[at]?.url,
  credentials: { apiKey: 'bench' },
});
const stub = (model: string, id: string, more: object = {}): object => ({
  name: model,
  ...stubs.channel(id),
  models: { [model]: 'm' },
  ...more,
});
const home = await makeHome({
  server: { in_flight_share: 1, max_in_flight_bytes: 2 ** 30 },
  gateway: { deadline_ms: 120_000, attempt_timeout_ms: 120_000 },
  models: { split: { split: true }, cached: { coalesce: true, cache_ttl_ms: 60_000 } },
  channels: [
    { name: 'local', provider: 'local', models: ['local'] },
    stub('cohere', 'cohere'),
    talker('echo', 0, 'cohere'),
    talker('escapes', 1, 'cohere'),
    talker('vectors', 2, 'embeddings'),
    talker('encoded', 3, 'embeddings'),
    talker('integers', 4, 'embeddings'),
    talker('tokens', 5, 'vllm-maxsim'),
    talker('page', 6, 'cohere'),
    talker('away', 7, 'cohere'),
    talker('mistake', 8, 'cohere'),
    talker('repeated', 9, 'cohere'),
    { ...stub('contextual', 'contextual'), settings: { metadataKey: 'meta' } },
    stub('cut', 'cohere', { pair_tokens: 4_000 }),
    stub('passages', 'cohere', { pair_tokens: 4_000, long_documents: 'chunk' }),
    stub('split', 'voyage'),
    stub('voyage', 'voyage'),
    stub('tei', 'tei'),
    stub('embeddings', 'openai-embeddings'),
    stub('tei-embeddings', 'tei-embeddings'),
    stub('cached', 'cohere'),
    stub('bedrock', 'bedrock'),
    stub('chat', 'openai-listwise'),
    stub('windows', 'openai-listwise', { window_size: 20, window_stride: 10 }),
  ],
});

async function startTalker(replyTo: (body: string) => string, status = 200): Promise<Talker> {
  const server = createServer((req, res) => {
    const pieces: Buffer[] = [];
    req
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const reply = replyTo(Buffer.concat(pieces).toString());
        res.writeHead(status, { 'content-type': 'application/json' }).end(reply);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close().closeAllConnections() };
}

/** A ranking with texts, whatever is asked. */
function rankingOf(texts: readonly string[]): string {
  const results = texts.map((text, index) => ({
    index,
    relevance_score: 1 - index / texts.length,
    document: { text },
  }));
  return JSON.stringify({ id: 'bench', results });
}

/** An embedding for each text. */
function embeddingsOf(embeddingOf: () => unknown): (body: string) => string {
  const embedding = embeddingOf();
  return (body) => JSON.stringify(listOf(body, (index) => ({ index, embedding })));
}

/** A vector for each of sixty-four tokens. */
function tokenVectorsOf(body: string): string {
  const vectors = new Array<number[]>(64).fill(Array.from(LONG_VECTOR.subarray(0, 128)));
  return JSON.stringify(listOf(body, (index) => ({ index, data: vectors })));
}

function listOf(body: string, rowOf: (index: number) => object): object {
  const { input } = JSON.parse(body) as { readonly input: readonly string[] };
  return { data: input.map((_, index) => rowOf(index)), usage: { prompt_tokens: 1 } };
}

interface Talker {
  readonly url: string;
  readonly close: () => void;
}

interface Turn {
  readonly tookMs: number;
  readonly workedMs: number;
}

async function longestTurn(gateway: GatewayProcess): Promise<Turn> {
  const before = gateway.log.length;
  gateway.kill('SIGUSR2');
  for (;;) {
    const line = gateway.log.slice(before).find((one) => one.startsWith('{"turns"'));
    if (line !== undefined) return (JSON.parse(line) as { turns: Turn }).turns;
    await delay(10);
  }
}

/** Sends a request several times: the longest turn, and what was said. */
async function measured(one: Case, key: string): Promise<{ worst: Turn; said: string }> {
  const { path, headers = {}, body: bodyOf } = one.form ?? MAIN;
  const { model, query = 'who may rotate the keys', documents, written = JSON.stringify } = one;
  const body = written({ ...bodyOf({ model, query, documents: documents() }), ...one.more });
  const said = new Set<string>();
  const worst = { tookMs: 0, workedMs: 0 };
  const times = Math.max(TIMES, one.times ?? 0);
  for (let time = 0; time < times; time += 1) {
    await longestTurn(gateway);
    said.add(await send(path, key, headers, body, one.leavesMs));
    const turn = await longestTurn(gateway);
    // The engine has not seen such a request before: the first one pays for compilation.
    if (time === 0 && times > 1) continue;
    worst.tookMs = Math.max(worst.tookMs, turn.tookMs);
    worst.workedMs = Math.max(worst.workedMs, turn.workedMs);
  }
  return { worst, said: [...said].join(' ') };
}

/** The status of the reply, and what a refusal says. */
async function send(
  path: string,
  key: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
  leavesMs?: number,
): Promise<string> {
  try {
    const reply = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body,
      ...(leavesMs !== undefined && { signal: AbortSignal.timeout(leavesMs) }),
    });
    const text = await reply.text();
    return reply.ok ? String(reply.status) : `${reply.status} ${text.slice(0, 160)}`;
  } catch (error) {
    await delay(500);
    return error instanceof Error ? error.name : String(error);
  }
}

let failed = false;
const program = [
  process.execPath,
  '--single-threaded-gc',
  '--initial-old-space-size=128',
  '--max-semi-space-size=16',
  '--import',
  options.preload,
  'dist/main.js',
];
const gateway = await startProcess(home, program);
try {
  const { key } = (await runCli(home, [
    'keys',
    'create',
    '--name',
    'turns',
    '--quota',
    '1000000000000',
    '--may-explain',
    'true',
  ])) as { key: string };
  for (const [name, one] of Object.entries(casesOf(UNITS))) {
    if (!options.case.split(',').some((part) => name.includes(part))) continue;
    const { worst, said } = await measured(one, key);
    if (worst.workedMs > MOST_MS) failed = true;
    const shown = `${worst.workedMs.toFixed(1).padStart(7)} ms worked, ${worst.tookMs.toFixed(1).padStart(7)} ms took`;
    console.log(`${name.padEnd(48)} ${shown}  ${said}`);
  }
} finally {
  gateway.kill('SIGTERM');
  await gateway.exited;
  await stubs.close();
  for (const { close } of talkers) close();
  await home.remove();
}
process.exitCode = failed ? 1 : 0;
