import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { NAMELESS, type AttemptSeen } from './observations.js';
import type { Chance } from './random.js';
import { scoreOf } from './ranking.js';

/** How an upstream behaves until it is told otherwise. */
export type Mood =
  'well' | 'slow' | 'hanging' | 'resetting' | 'failing' | 'busy' | 'refusing' | 'lying' | 'sloppy';

export const BAD_MOODS: readonly Mood[] = [
  'slow',
  'hanging',
  'resetting',
  'failing',
  'busy',
  'refusing',
  'lying',
  'sloppy',
];

export type Wire = 'cohere' | 'voyage' | 'tei';

export interface ChaosUpstream {
  readonly port: number;
  /** What arrived, the latest last: a request counts from its headers on. */
  readonly attempts: readonly AttemptSeen[];
  mood(next: Mood): void;
  close(): Promise<void>;
}

interface Row {
  index: unknown;
  score: unknown;
}

type Seen = { -readonly [K in keyof AttemptSeen]: AttemptSeen[K] };

interface Question {
  readonly query: string;
  readonly documents: readonly string[];
  readonly topN: number;
}

/** What every request of the suite has in its query, so that whoever sees it knows which it is. */
const CONTENT = /\[(c[\w-]+)\]/;

export function contentOf(query: string): string {
  return CONTENT.exec(query)?.[1] ?? NAMELESS;
}

/** A server that ranks by the function that all know, or does whatever its mood is. */
export async function startUpstream(
  {
    channel,
    tag,
    wire,
  }: { readonly channel: string; readonly tag: string | undefined; readonly wire: Wire },
  chance: Chance,
): Promise<ChaosUpstream> {
  const attempts: Seen[] = [];
  const sockets = new Set<Socket>();
  let mood: Mood = 'well';
  const server = createServer((req, res) => {
    const attempt: Seen = {
      content: NAMELESS,
      channel,
      tag,
      atMs: Date.now(),
      answeredMs: undefined,
    };
    attempts.push(attempt);
    const chunks: Buffer[] = [];
    req.on('error', () => undefined);
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const question = read(wire, Buffer.concat(chunks).toString());
      attempt.content = contentOf(question.query);
      res.on('finish', () => (attempt.answeredMs = Date.now()));
      answer({ mood, wire, question, chance }, req, res);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await listening(server);
  return {
    port: (server.address() as AddressInfo).port,
    attempts,
    mood(next) {
      mood = next;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function listening(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
}

function read(wire: Wire, body: string): Question {
  const members = JSON.parse(body) as Readonly<Record<string, unknown>>;
  const documents = (wire === 'tei' ? members.texts : members.documents) as readonly string[];
  const topN = wire === 'tei' ? undefined : wire === 'voyage' ? members.top_k : members.top_n;
  return {
    query: String(members.query),
    documents,
    topN: typeof topN === 'number' ? topN : documents.length,
  };
}

interface Turn {
  readonly mood: Mood;
  readonly wire: Wire;
  readonly question: Question;
  readonly chance: Chance;
}

function answer(
  { mood, wire, question, chance }: Turn,
  req: IncomingMessage,
  res: ServerResponse,
): void {
  const send = (rows: readonly Row[]): void => reply(res, wire, rows);
  switch (mood) {
    case 'well':
      setTimeout(() => send(ranked(question)), chance.whole(1, 15));
      return;
    case 'slow':
      setTimeout(() => send(ranked(question)), chance.whole(100, 1_500));
      return;
    case 'hanging':
      // Until the caller goes, or the suite ends; half of them after the headers.
      if (chance.hits(0.5)) res.writeHead(200, { 'content-type': 'application/json' }).write('{');
      return;
    case 'resetting':
      if (chance.hits(0.5)) res.writeHead(200, { 'content-length': 1_000 }).write('{"results":[');
      setTimeout(() => req.socket.resetAndDestroy(), chance.whole(0, 20));
      return;
    case 'failing':
      json(res, { message: 'broken' }, chance.pick([500, 502, 503, 504]));
      return;
    case 'busy':
      res.setHeader(
        'retry-after',
        chance.pick(['1', '0', 'soon', new Date(Date.now() + 1_000).toUTCString()]),
      );
      json(res, { message: 'too many requests' }, chance.pick([429, 503]));
      return;
    case 'refusing':
      json(res, { message: 'no such key' }, chance.pick([401, 403]));
      return;
    case 'lying':
      lie(wire, question, chance, res);
      return;
    case 'sloppy':
      // Nothing that would make the ranking wrong: the rows in any order, and all of them.
      send(shuffled(ranked({ ...question, topN: question.documents.length }), chance));
  }
}

/**
 * Something that is not a ranking of these documents, in one of many ways. A row without a number for a score is none of them:
 * some servers say so of a document that they could not score, and it comes last.
 */
function lie(wire: Wire, question: Question, chance: Chance, res: ServerResponse): void {
  const rows = ranked(question);
  const count = question.documents.length;
  const [first] = rows;
  const lies: readonly (() => void)[] = [
    () =>
      reply(
        res,
        wire,
        rows.map((row, at) => (at === 0 ? { ...row, index: count } : row)),
      ),
    () =>
      reply(
        res,
        wire,
        rows.map((row, at) => (at === 0 ? { ...row, index: -1 } : row)),
      ),
    () =>
      reply(
        res,
        wire,
        rows.map((row, at) => (at === 0 ? { ...row, index: 0.5 } : row)),
      ),
    () => reply(res, wire, [...rows, ...ranked({ ...question, topN: count }), ...rows]),
    () => reply(res, wire, first === undefined ? [] : rows.slice(1).concat(rows.slice(1, 2))),
    // Where no number of rows can be asked for, fewer than all may still be as many as the caller wants.
    () => reply(res, wire, wire === 'tei' ? [] : rows.slice(1)),
    () => reply(res, wire, []),
    () => res.writeHead(200, { 'content-type': 'text/html' }).end('<html>Log in</html>'),
    () => res.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[{"index":0,'),
    () => json(res, { message: 'ok' }),
  ];
  chance.pick(lies)();
}

function ranked({ query, documents, topN }: Question): Row[] {
  return documents
    .map((document, index) => ({ index, score: scoreOf(query, document) }))
    .sort((one, other) => other.score - one.score)
    .slice(0, topN);
}

function shuffled(rows: readonly Row[], chance: Chance): Row[] {
  return rows
    .map((row) => ({ row, place: chance.next() }))
    .sort((one, other) => one.place - other.place)
    .map(({ row }) => row);
}

function reply(res: ServerResponse, wire: Wire, rows: readonly Row[]): void {
  const named = rows.map(({ index, score }) => ({ index, relevance_score: score }));
  if (wire === 'tei') json(res, rows);
  else if (wire === 'voyage')
    json(res, { object: 'list', data: named, usage: { total_tokens: 9 } });
  else json(res, { id: 'up', results: named, meta: { billed_units: { search_units: 1 } } });
}

function json(res: ServerResponse, value: unknown, status = 200): void {
  if (res.destroyed) return;
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
