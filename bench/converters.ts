/**
 * Times each provider's converter: `npm run bench:converters`. 1000 documents of 1 kB go through its body and encoding, and
 * its reply goes through decoding and normalizing. The yardstick is the leanest converter possible: it splices the incoming
 * bytes into an object, and reads rows of two members.
 */
import { documentsIn } from '../test/support/documents.js';
import { writeJson, type JsonBody } from '../src/bytes/index.js';
import { Json, JsonShapeError } from '../src/core/json.js';
import { InvalidRankingError, normalizeRanking } from '../src/core/rerank.js';
import { allProviders } from '../src/providers/index.js';
import type { HttpProvider, UpstreamCall } from '../src/providers/provider.js';
import { defaultSettings } from '../src/providers/settings.js';
import { readFixture } from '../test/support/provider-fixtures.js';

const COUNT = 1_000;
const SIZE_BYTES = 1_024;
const ROUNDS = 30;

/** Prose, with a quotation and a line break here and there. */
const text = `${'The quick brown fox jumps over the lazy dog. '.repeat(6)}It said "yes".\n`.repeat(
  4,
);
const array = Buffer.from(
  JSON.stringify(Array.from({ length: COUNT }, (_, at) => `${at} ${text.slice(0, SIZE_BYTES)}`)),
);

/** The documents of all calls, as they are once the request is read. */
const documents = documentsIn(array);

function callFor(provider: HttpProvider): UpstreamCall {
  const { channel } = readFixture(provider.id);
  return {
    model: provider.exampleModels[0] ?? 'a-model',
    query: 'Which fox jumps?',
    documents,
    topN: COUNT,
    options: {},
    settings: { ...defaultSettings(provider), ...channel?.settings },
  };
}

/** The quickest of a few rounds, in microseconds: anything above it is noise of the machine. */
async function timed(run: () => unknown): Promise<number> {
  let quickest = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const result = run();
    if (result instanceof Promise) await result;
    quickest = Math.min(quickest, performance.now() - start);
  }
  return quickest * 1_000;
}

/** The fixture's first successful reply with its list of rows grown to `COUNT`; `undefined` if no case has a JSON reply. */
function longReply(provider: HttpProvider): string | undefined {
  const { cases } = readFixture(provider.id);
  const json = cases.find(({ result, reply }) => result !== undefined && reply?.json !== undefined)
    ?.reply?.json;
  return json === undefined ? undefined : JSON.stringify(grow(json));
}

/** Repeats the first row of each list; the index in a row becomes its position. */
function grow(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list: readonly unknown[] = value;
    const [first] = list;
    if (first === undefined || Array.isArray(first)) return list.map(grow);
    return Array.from({ length: COUNT }, (_, at) => numbered(first, at));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, grow(member)]));
}

function numbered(row: unknown, at: number): unknown {
  if (typeof row === 'number') return 1 - at / COUNT;
  if (typeof row !== 'object' || row === null) return row;
  const members = Object.entries(row as Record<string, unknown>).map(
    ([name, member]): [string, unknown] => [
      name,
      /index|^id$|corpus_id/i.test(name)
        ? typeof member === 'string'
          ? String(at)
          : at
        : typeof member === 'number'
          ? 1 - at / COUNT
          : member,
    ],
  );
  return Object.fromEntries(members);
}

const rows = JSON.stringify({
  results: Array.from({ length: COUNT }, (_, index) => ({ index, score: 1 - index / COUNT })),
});

/** Bodies above a megabyte are written in steps. */
const encoded = async (body: JsonBody): Promise<Buffer> => (await writeJson(body)).bytes;

const lean = (): Promise<number> =>
  timed(() => encoded({ model: 'm', documents: documents.texts() }));
// What comes first also pays for memory that the others take again.
for (let round = 0; round < 5; round += 1) await lean();
const leanBody = await lean();
const leanReply = await timed(() => {
  const reply = new Json(JSON.parse(rows) as unknown);
  const list = reply.field('results').array() as { index: number; score: number }[];
  return normalizeRanking({ rows: list }, COUNT, COUNT, 'none');
});

const parsedBody = await timed(() =>
  JSON.stringify({ model: 'm', documents: JSON.parse(array.toString()) as unknown }),
);

console.log(`leanest: body ${leanBody.toFixed(0)} µs, reply ${leanReply.toFixed(0)} µs`);
console.log(`parsing and writing the documents: body ${(parsedBody / leanBody).toFixed(1)}x\n`);
console.log(`${'provider'.padEnd(36)}${'body'.padStart(8)}${'reply'.padStart(8)}`);
for (const provider of allProviders()) {
  if (provider.transport !== 'http' || provider.rounds !== undefined) continue;
  const call = callFor(provider);
  const body = await timed(() => encoded(provider.body(call)));
  const ratios = [`${(body / leanBody).toFixed(1)}x`, await replyRatio(provider)];
  console.log(provider.id.padEnd(36) + ratios.map((ratio) => ratio.padStart(8)).join(''));
}

async function replyRatio(provider: HttpProvider): Promise<string> {
  const reply = longReply(provider);
  if (reply === undefined) return '-';
  const call = callFor(provider);
  const read = (): unknown => {
    const json = new Json(JSON.parse(reply) as unknown);
    const http = { status: 200, headers: {}, json, text: reply };
    return normalizeRanking(provider.decode(json, call, http), COUNT, COUNT, 'none');
  };
  try {
    read();
  } catch (error) {
    // Repeating its rows does not give a valid reply.
    if (error instanceof InvalidRankingError || error instanceof JsonShapeError) return '?';
    throw error;
  }
  return `${((await timed(read)) / leanReply).toFixed(1)}x`;
}
