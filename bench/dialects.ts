/**
 * What the other dialects cost the main one: a request is read and its reply written, with and without choosing the dialect by
 * path, headers and members. Then what requests in other forms, and with other documents, cost beside one of texts in the main
 * form. Each two take turns in one run, which prints the median of the rounds' ratios.
 */
import { openBody, writeJson, type JsonFragment, type OpenBody } from '../src/bytes/index.js';
import { cohere } from '../src/ingress/cohere.js';
import {
  readIn,
  type IngressDialect,
  type ParsedRerank,
  type Ranking,
} from '../src/ingress/dialect.js';
import {
  dialectByHeaders,
  dialectOf,
  ingressRoute,
  listsAt,
  type IngressRoute,
} from '../src/ingress/index.js';
import { IngressRequest } from '../src/ingress/read.js';

const ROUNDS = 41;
const ROUND_MS = 40;
const PATH = '/v1/rerank';
const HEADERS = {
  'content-type': 'application/json',
  'user-agent': 'bench',
  authorization: 'Bearer sk-x',
};
const CLOCK = { nowMs: 0, elapsedMs: 0 };

function bodyOf(documents: number): Buffer {
  const texts = Array.from({ length: documents }, (_, at) => `Document ${at}. `.repeat(20));
  return Buffer.from(JSON.stringify({ model: 'm', query: 'Which one?', documents: texts }));
}

function rankingOf(documents: number): Ranking {
  return {
    rows: Array.from({ length: documents }, (_, index) => ({ index, score: 1 / (index + 1.5) })),
    usage: { inputTokens: 100, searchUnits: 1, estimated: false },
    warnings: [],
    written: undefined,
  };
}

function requestOf(route: IngressRoute, body: Buffer): IngressRequest {
  const opened = openBody(body, listsAt(route), 10_000) as OpenBody;
  return new IngressRequest(opened, HEADERS, route.params, 10_000);
}

function answerOf(dialect: IngressDialect, request: IngressRequest, ranking: Ranking): number {
  const { model = 'm', kept, ...parsed } = readIn(dialect, request) as ParsedRerank;
  const { size } = parsed.documents.texts();
  const reply = writeJson(dialect.reply('rr_1', { ...parsed, model }, ranking, kept, CLOCK));
  return size + (reply as JsonFragment).size;
}

/** As if there were only this dialect. */
function alone(body: Buffer, ranking: Ranking): number {
  const opened = openBody(body, cohere.lists, 10_000) as OpenBody;
  return answerOf(cohere, new IngressRequest(opened, HEADERS, {}, 10_000), ranking);
}

/** Chosen among all dialects, as `http/rerank-exchange.ts` does it. */
function chosen(body: Buffer, ranking: Ranking): number {
  return served(PATH, body, ranking);
}

interface Asked {
  readonly path?: string;
  readonly members: (texts: readonly string[]) => object;
}

const objectsOf = (texts: readonly string[]): object[] =>
  texts.map((text, at) => ({
    id: at,
    title: `Title ${at}`,
    text,
    metadata: { page: at, tags: [] },
  }));

/** Requests that users send beside texts in the main form. */
const KINDS: Readonly<Record<string, Asked>> = {
  'texts returned': { members: (documents) => ({ documents, return_documents: true }) },
  objects: { members: (texts) => ({ documents: objectsOf(texts) }) },
  'objects ranked by two fields': {
    members: (texts) => ({ documents: objectsOf(texts), rank_fields: ['title', 'text'] }),
  },
  'voyage, returned': {
    members: (documents) => ({ documents, top_k: null, truncation: true, return_documents: true }),
  },
  'tei, returned': { path: '/rerank', members: (texts) => ({ texts, return_text: true }) },
  nvidia: {
    path: '/v1/ranking',
    members: (texts) => ({ query: { text: 'Which?' }, passages: texts.map((text) => ({ text })) }),
  },
};

/** Reads a request of any form, writes its documents for an upstream, and its reply. */
function served(path: string, body: Buffer, ranking: Ranking): number {
  const route = ingressRoute(path);
  if (route === undefined) throw new Error('nothing is there');
  const request = requestOf(route, body);
  const dialect = dialectOf(route, dialectByHeaders(route, HEADERS), request, 'auto');
  return answerOf(dialect, request, ranking);
}

/** Microseconds per call. */
function timeOf(call: () => number): number {
  const untilMs = performance.now() + ROUND_MS;
  const startedMs = performance.now();
  let calls = 0;
  while (performance.now() < untilMs) {
    for (let at = 0; at < 20; at += 1) call();
    calls += 20;
  }
  return ((performance.now() - startedMs) * 1_000) / calls;
}

function median(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

for (const documents of [10, 100, 1_000]) {
  const body = bodyOf(documents);
  const ranking = rankingOf(documents);
  const rounds = Array.from({ length: ROUNDS }, (_, round) => {
    const isFirst = round % 2 === 0;
    const before = isFirst ? timeOf(() => alone(body, ranking)) : 0;
    const after = timeOf(() => chosen(body, ranking));
    return { before: isFirst ? before : timeOf(() => alone(body, ranking)), after };
  }).slice(5);
  const alonePer = median(rounds.map(({ before }) => before));
  const ratio = median(rounds.map(({ before, after }) => after / before));
  console.log(
    `${String(documents).padStart(5)} documents: ${alonePer.toFixed(1)} µs alone, ${ratio.toFixed(3)} × among all forms`,
  );
}

const texts = Array.from({ length: 100 }, (_, at) => `Document ${at}: "so"\n`.repeat(25));
const ranking = rankingOf(texts.length);
const bodyWith = (members: object): Buffer =>
  Buffer.from(JSON.stringify({ model: 'm', query: 'Which one?', ...members }));
const plain = bodyWith({ documents: texts });
for (const [kind, { path = PATH, members }] of Object.entries(KINDS)) {
  const body = bodyWith(members(texts));
  const ratios = Array.from({ length: ROUNDS }, () => {
    const one = timeOf(() => served(PATH, plain, ranking));
    return timeOf(() => served(path, body, ranking)) / one;
  }).slice(5);
  console.log(`${kind.padEnd(30)} ${median(ratios).toFixed(2)} × texts`);
}
