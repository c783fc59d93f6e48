import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect as connectHttp2, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pass } from 'node:timers/promises';
import { brotliCompressSync, constants as zlib, gzipSync } from 'node:zlib';
import { deferred, type Deferred } from '../support/deferred.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { takeUncounted, wipeWhatIsGivenBack } from '../support/memory.js';
import { cohereChannel, sendJson } from '../support/upstream.js';

const KILOBYTE = 1_024;
/** So long a body lies where it was written, while others are. */
const READ_AFTER_MS = 50;
/** So long an attempt takes that is joined by another. */
const SLOW_MS = 400;
const AT_ONCE = 9;

/** By how a request is ranked: its model. */
const MODELS = [
  'plain',
  'early',
  'refused',
  'failed',
  'hedged',
  'parts',
  'shared',
  'vectors',
  'chat',
] as const;
type Model = (typeof MODELS)[number];

/** Of all texts of a request: more than the system takes from one that is not read, what is written in steps, at once, and where it lies. */
const KILOBYTES = [6_000, 1_400, 800, 600];

/** How it comes. */
const FORMS = [
  'of known length',
  'in chunks',
  'as gzip',
  'as brotli',
  'as gzip twice',
  'in UTF-16',
  'over HTTP/2',
  'with an explanation',
  'by fields',
] as const;
type Form = (typeof FORMS)[number];

/** When its caller leaves. */
type Leaves = 'never' | 'as it sends' | 'as it waits' | 'as it reads';
const LEAVING: readonly Leaves[] = ['as it sends', 'as it waits', 'as it reads'];

/** Every piece of its texts names the request: nothing of it may turn up in another. */
interface Sent {
  readonly id: number;
  readonly model: Model;
  readonly form: Form;
  readonly leaves: Leaves;
}

const markOf = (id: number | string): string => `~${id}~`;

/** How many marks each of its texts has. */
function marksOf({ id, model }: Sent): number {
  const sizes = isReadLate(model) ? 2 : KILOBYTES.length;
  const bytes = ((KILOBYTES[id % sizes] ?? 0) * KILOBYTE) / textsOf(model);
  return Math.ceil(bytes / markOf(id).length);
}

/** Whether its upstream reads the first body sent to it only when the caller has had an answer. */
function isReadLate(model: Model): boolean {
  return model === 'early' || model === 'refused';
}

function textsOf(model: Model): number {
  return model === 'parts' ? 5 : 2;
}

function documentsOf(sent: Sent): unknown[] {
  const { id, model, form } = sent;
  const text = markOf(id).repeat(marksOf(sent));
  return Array.from({ length: textsOf(model) }, (_, at) => {
    if (form === 'by fields') return { at, title: `no ${at}`, content: text };
    // Of strings alone, all of the body is passed on; of others, their texts.
    return id % 3 === 0 && at === 0 ? { at, text } : text;
  });
}

// Hardly compressed, so that what comes is large, too.
const zipped = (body: string | Buffer) => gzipSync(body, { level: 0 });
const FAST = { params: { [zlib.BROTLI_PARAM_QUALITY]: 1 } };

/** What is not JSON in UTF-8. */
const ENCODED: Partial<Record<Form, (body: string) => { headers: object; bytes: Buffer }>> = {
  'as gzip': (body) => ({ headers: { 'content-encoding': 'gzip' }, bytes: zipped(body) }),
  'as gzip twice': (body) => ({
    headers: { 'content-encoding': 'gzip, gzip' },
    bytes: zipped(zipped(body)),
  }),
  'as brotli': (body) => ({
    headers: { 'content-encoding': 'br' },
    bytes: brotliCompressSync(body, FAST),
  }),
  'in UTF-16': (body) => ({
    headers: { 'content-type': 'application/json; charset=utf-16le' },
    bytes: Buffer.from(body, 'utf16le'),
  }),
};

interface Row {
  readonly index: number;
  readonly document: unknown;
}

/** Large bodies and replies use memory again that others have had. */
describe('large requests at once', () => {
  const upstreams: Server[] = [];
  let gateway: TestGateway;
  let key: string;
  const strange: string[] = [];
  const sent: Sent[] = [];
  /** Settled when the callers of each have an answer, or have left. */
  const answers: Deferred[] = [];

  takeUncounted();
  wipeWhatIsGivenBack();

  beforeAll(async () => {
    const listening = async (): Promise<string> => {
      const upstream = createServer((req, res) => {
        answer(req, res).catch((error: unknown) => {
          // What was cut off, by either side, is nobody's.
          if (req.complete) strange.push(String(error));
        });
      });
      upstreams.push(upstream);
      upstream.listen(0, '127.0.0.1');
      await once(upstream, 'listening');
      return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    };
    const [url, otherUrl] = [await listening(), await listening()];
    // Servers of their own: on one connection, the second would wait behind what the first has left unread.
    const two = (model: Model, first: string, more: object = {}) => [
      cohereChannel(`${model} 1`, `${url}/${first}`, { models: [model], priority: 1, ...more }),
      cohereChannel(`${model} 2`, `${otherUrl}/second`, { models: [model], ...more }),
    ];
    const limited = { provider: 'openvino', settings: { maxDocuments: 2 } };
    gateway = await startGateway({
      channels: [
        cohereChannel('plain', url, { models: ['plain', 'shared'] }),
        cohereChannel('early', `${url}/early`, { models: ['early'] }),
        ...two('refused', 'refusing'),
        ...two('failed', 'failing'),
        ...two('hedged', 'slow'),
        ...two('parts', 'failing', limited),
        cohereChannel('vectors', url, { models: ['vectors'], provider: 'embeddings' }),
        cohereChannel('chat', url, { models: ['chat'], provider: 'chat-listwise' }),
      ],
      models: { hedged: { hedge: true }, shared: { coalesce: true, cache_ttl_ms: 60_000 } },
      traffic: { breaker_failures: 0, hedge_percent: 100 },
      // However long this machine takes: nothing is asked twice for that.
      gateway: { attempt_timeout_ms: 100_000, deadline_ms: 100_000 },
    });
    ({ key } = await gateway.createKey({ policy: { mayExplain: true } }));
    // Only then is it known what is slow.
    for (let asked = 0; asked < 20; asked += 1) {
      const small = { model: 'hedged', query: 'q', documents: ['a', 'b'] };
      expect((await gateway.post(key, small)).status).toBe(200);
    }
  }, 60_000);
  afterAll(async () => {
    await gateway.close();
    for (const upstream of upstreams) {
      upstream.closeAllConnections();
      upstream.close();
    }
  });

  it('send and get nothing but their own', async () => {
    for (const model of MODELS) {
      for (const form of FORMS) sent.push({ id: sent.length, model, form, leaves: 'never' });
      for (const leaves of LEAVING) {
        const form = FORMS[sent.length % FORMS.length] ?? 'in chunks';
        sent.push({ id: sent.length, model, form, leaves });
      }
    }
    const left = sent.toSorted((one, other) => (one.id % 7) - (other.id % 7));
    for (const one of sent) answers[one.id] = deferred();
    let answered = 0;
    const lane = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const more = await asked(next);
        answered += more;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));

    expect(strange).toEqual([]);
    const stayed = sent.filter(({ leaves }) => leaves === 'never');
    const more = sent.filter(({ model }) => model === 'shared').length;
    expect(answered).toBe(stayed.length + 2 * more);
  }, 300_000);

  /** Asks, and returns how many answers there were. */
  async function asked(one: Sent): Promise<number> {
    if (one.model !== 'shared') return isAnswered(one);
    const other: Sent = { ...one, leaves: 'never' };
    // Together with the second, and the third from what is kept.
    const together = await Promise.all([isAnswered(one), isAnswered(other)]);
    return together[0] + together[1] + (await isAnswered(other));
  }

  async function isAnswered(one: Sent): Promise<number> {
    const text = await (one.form === 'over HTTP/2' ? overHttp2(one) : overHttp1(one)).catch(
      () => undefined,
    );
    answers[one.id]?.resolve();
    const whose = JSON.stringify(one);
    if (one.leaves !== 'never') return 0;
    if (text === undefined) strange.push(`no answer to ${whose}`);
    else {
      const { results = [] } = JSON.parse(text) as { results?: Row[] };
      const documents = documentsOf(one).map((document) =>
        typeof document === 'string' ? { text: document } : document,
      );
      const got = results.toSorted((a, b) => a.index - b.index).map(({ document }) => document);
      if (JSON.stringify(got) !== JSON.stringify(documents)) {
        strange.push(`to ${whose}: ${text.slice(0, 500)}`);
      }
    }
    return 1;
  }

  /** Its path, its headers and its body. */
  function written(one: Sent) {
    const { id, model, form } = one;
    const body = JSON.stringify({
      ...{ model, query: `${markOf(id)} q`, documents: documentsOf(one), return_documents: true },
      ...(form === 'by fields' && { rank_fields: ['title', 'content'] }),
    });
    const plain = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const { headers, bytes } = ENCODED[form]?.(body) ?? { headers: {}, bytes: Buffer.from(body) };
    const path = form === 'with an explanation' ? '/v1/rerank?explain=after' : '/v1/rerank';
    return { path, headers: { ...plain, ...headers }, bytes };
  }

  /** What came; rejects where that is cut off. */
  async function overHttp1(one: Sent): Promise<string> {
    const { path, headers, bytes } = written(one);
    const length = one.form === 'in chunks' ? {} : { 'content-length': bytes.length };
    const req = httpRequest(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...length },
    });
    return sendAndRead(one, bytes, {
      write: (piece) => req.write(piece),
      end: (piece) => req.end(piece),
      leave: () => req.destroy(),
      reply: once(req, 'response').then(([res]) => res as IncomingMessage),
    });
  }

  async function overHttp2(one: Sent): Promise<string> {
    const { path, headers, bytes } = written(one);
    const session = connectHttp2(gateway.url);
    session.on('error', () => undefined);
    const stream = session.request({ ':method': 'POST', ':path': path, ...headers });
    try {
      return await sendAndRead(one, bytes, {
        write: (piece) => stream.write(piece),
        end: (piece) => stream.end(piece),
        leave: () => stream.close(constants.NGHTTP2_CANCEL),
        reply: once(stream, 'response').then(() => stream),
      });
    } finally {
      session.destroy();
    }
  }

  interface Call {
    readonly write: (piece: Buffer) => unknown;
    readonly end: (piece: Buffer) => unknown;
    readonly leave: () => unknown;
    readonly reply: Promise<Readable>;
  }

  async function sendAndRead({ leaves }: Sent, bytes: Buffer, call: Call): Promise<string> {
    call.reply.catch(() => undefined);
    const half = bytes.length >>> 1;
    call.write(bytes.subarray(0, half));
    if (leaves === 'as it sends') {
      await pass(READ_AFTER_MS);
      call.leave();
      return '';
    }
    call.end(bytes.subarray(half));
    if (leaves === 'as it waits') {
      await pass(2 * READ_AFTER_MS);
      call.leave();
      return '';
    }
    const reply = await call.reply;
    if (leaves === 'as it reads') {
      await once(reply, 'data');
      call.leave();
      return '';
    }
    return (await buffer(reply)).toString();
  }

  let failures = 0;

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    req.on('error', () => undefined);
    res.on('error', () => undefined);
    // Otherwise what has not been read is thrown away with the answer.
    req.read(0);
    const [, where] = req.url?.split('/') ?? [];
    const isLarge = Number(req.headers['content-length']) > 100 * KILOBYTE;
    const rows = [0, 1].map((index) => ({ index, relevance_score: 1 - index / 10 }));
    if (where === 'early') sendJson(res, { results: rows });
    if (where === 'refusing') res.writeHead(503).end();
    const begun = res.writableEnded ? await whenAnswered(req) : '';
    if (isLarge) await pass(where === 'slow' ? SLOW_MS : READ_AFTER_MS);
    if (where === 'failing' && (failures += 1) % 2 === 0) {
      await once(req, 'data');
      req.destroy();
      return;
    }
    const text = begun + (await buffer(req)).toString();
    const body = JSON.parse(text) as {
      documents?: readonly string[];
      input?: readonly string[];
      messages?: unknown;
    };
    const { documents, input, messages } = body;
    if (isLarge) look(text, documents?.length);
    if (res.writableEnded) return;
    if (where === 'failing') {
      res.writeHead(503).end();
    } else if (documents !== undefined) {
      // A reply with documents is copied without them, and its memory is used again, too.
      const results = documents.map((document, index) => ({
        ...{ index, relevance_score: 1 - index / 10 },
        document: { text: document },
      }));
      sendJson(res, { results });
    } else if (input !== undefined) {
      const embedding = Array.from({ length: 60_000 }, (_, at) => 1 / (at + 1));
      sendJson(res, { data: input.map((_, index) => ({ index, embedding })) });
    } else if (messages !== undefined) {
      const message = { role: 'assistant', content: '[1] > [2]' };
      sendJson(res, { choices: [{ message, finish_reason: 'stop' }] });
    }
  }

  /** Waits until the caller of a request has its answer; returns what was read to know whose it is. */
  async function whenAnswered(req: IncomingMessage): Promise<string> {
    let begun = '';
    for (;;) {
      const id = /~(\d+)~/.exec(begun)?.[1];
      if (id !== undefined) {
        await answers[Number(id)]?.promise;
        return begun;
      }
      const piece = req.read() as Buffer | null;
      if (piece === null) await once(req, 'readable');
      else begun += piece.toString();
    }
  }

  /** What a large body holds: the marks of one request alone, and all of them where there is a list of documents. */
  function look(text: string, documents: number | undefined): void {
    const id = /~(\d+)~/.exec(text)?.[1] ?? '';
    const of = sent[Number(id)];
    const pieces = text.split(markOf(id));
    const isForeign = pieces.some((piece) => piece.includes('~') && piece.length > 20);
    const isWhole =
      documents === undefined ||
      (of !== undefined && pieces.length === 2 + documents * marksOf(of));
    if (isForeign || !isWhole) {
      strange.push(`sent of ${id}: ${pieces.length} pieces, ${pieces.join('').slice(0, 500)}`);
    }
  }
});
