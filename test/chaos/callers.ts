import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { CallEnd, CallSeen } from './observations.js';
import type { Chance } from './random.js';
import { mistakeIn, type Asked, type RowSeen } from './ranking.js';

/** A gateway that may be asked now. */
export interface Target {
  readonly name: string;
  readonly port: number;
  readonly agent: Agent;
}

/** A key as its holders know it. */
export interface HeldKey {
  readonly id: number;
  readonly key: string;
}

export interface CallersOptions {
  readonly count: number;
  readonly targets: () => readonly Target[];
  readonly keys: readonly HeldKey[];
  /** Its holders leave now and then: that may cost something or nothing, so the sums of the others alone are exact. */
  readonly leaving: HeldKey | undefined;
  /** What a ranking costs, by the model that answers. */
  readonly prices: Readonly<Record<string, number>>;
  /** By model, the models that may answer in its place. */
  readonly answers: Readonly<Record<string, readonly string[]>>;
  readonly mostAttempts: (model: string) => number;
  readonly deadlineMs: number;
  readonly chance: Chance;
  /** In front of the names of what is asked, where several groups of callers ask. */
  readonly name?: string;
}

export interface Callers {
  readonly seen: readonly CallSeen[];
  /** Resolves when every caller has heard the end of its last call. */
  stop(): Promise<void>;
}

/** Nobody waits longer than this beyond a deadline. */
const SILENCE_MS = 15_000;

interface Form {
  readonly path: string;
  body(asked: Asked, model: string): unknown;
  rows(reply: unknown): readonly RowSeen[];
}

interface WireRow {
  readonly index: number;
  readonly relevance_score?: number;
  readonly score?: number;
  readonly document?: { readonly text: string } | string;
  readonly text?: string;
}

function rowOf({ index, relevance_score, score, document, text }: WireRow): RowSeen {
  return {
    index,
    score: relevance_score ?? score ?? Number.NaN,
    document: typeof document === 'object' ? document.text : (document ?? text),
  };
}

function membersOf(reply: unknown, name: string): readonly RowSeen[] {
  return ((reply as Readonly<Record<string, readonly WireRow[]>>)[name] ?? []).map(rowOf);
}

/** Forms that callers speak: a few that differ in members, paths and replies. */
const FORMS: readonly Form[] = [
  ...['/v1/rerank', '/v2/rerank'].map((path): Form => ({
    path,
    body: ({ query, documents, topN, echo }, model) => ({
      ...{ model, query, documents },
      ...{ top_n: topN, return_documents: echo },
    }),
    rows: (reply) => membersOf(reply, 'results'),
  })),
  {
    path: '/rerank',
    body: ({ query, documents, topN, echo }, model) => ({
      ...{ model, query, texts: documents },
      ...{ top_n: topN, return_text: echo },
    }),
    rows: (reply) => (reply as readonly WireRow[]).map(rowOf),
  },
  {
    path: '/v1/rerank',
    body: ({ query, documents, topN, echo }, model) => ({
      ...{ model, query, documents },
      ...{ top_k: topN, return_documents: echo, truncation: true },
    }),
    rows: (reply) => membersOf(reply, 'data'),
  },
];

interface Plan {
  readonly content: string;
  readonly asked: Asked;
  readonly model: string;
}

/** Callers that ask one thing after the other, each in its own way, until they are stopped. */
export function startCallers(options: CallersOptions): Callers {
  const seen: CallSeen[] = [];
  const recent: Plan[] = [];
  let isStopped = false;
  let calls = 0;

  const planned = (chance: Chance): Plan => {
    const again = chance.hits(0.1) ? recent.at(-chance.whole(1, 5)) : undefined;
    if (again !== undefined) return again;
    calls += 1;
    const content = `c${options.name ?? ''}${calls}`;
    const documents = Array.from({ length: chance.whole(1, 30) }, (_, at) =>
      chance.hits(0.1)
        ? 'the same text'
        : `${content} document ${at} ${'word '.repeat(chance.whole(0, 20))}`,
    );
    const plan = {
      content,
      model: chance.pick(Object.keys(options.answers)),
      asked: {
        query: `what is asked [${content}]`,
        documents,
        topN: chance.whole(1, documents.length),
        echo: chance.hits(0.3),
      },
    };
    recent.push(plan);
    if (recent.length > 20) recent.shift();
    return plan;
  };

  const caller = async (chance: Chance): Promise<void> => {
    while (!isStopped) {
      await pause(chance.whole(0, 10));
      const plan = planned(chance);
      const key = chance.pick(options.keys);
      // Who gets no answer, or is told to come back, asks again: the same, elsewhere.
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const targets = options.targets();
        if (targets.length === 0) break;
        const target = chance.pick(targets);
        const call = await ask(options, plan, key, target, chance, seen.length);
        seen.push(call);
        await pause(chance.whole(0, 40));
        const { end } = call;
        if (end.kind === 'answered' && end.status !== 503) break;
        if (end.kind === 'left') break;
      }
    }
  };
  const running = Array.from({ length: options.count }, (_, index) =>
    caller(options.chance.fork(`caller ${index}`)),
  );
  return {
    seen,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function ask(
  { leaving, prices, answers, mostAttempts, deadlineMs }: CallersOptions,
  { content, asked, model }: Plan,
  key: HeldKey,
  target: Target,
  chance: Chance,
  serial: number,
): Promise<CallSeen> {
  const form = chance.pick(FORMS);
  const ownMs = chance.hits(0.2) ? chance.whole(50, 2_000) : undefined;
  const budgetMs = Math.min(deadlineMs, ownMs ?? Infinity);
  const id = `chaos-${serial}-${content}`;
  const sentMs = Date.now();
  const heard = await exchange(target, {
    path: form.path,
    headers: {
      authorization: `Bearer ${key.key}`,
      'content-type': 'application/json',
      'x-request-id': id,
      ...(ownMs === undefined ? {} : { 'x-request-timeout-ms': String(ownMs) }),
    },
    body: JSON.stringify(form.body(asked, model)),
    leaveAfterMs: key === leaving && chance.hits(0.2) ? chance.whole(0, 300) : undefined,
    giveUpMs: budgetMs + SILENCE_MS,
  });
  return {
    id,
    content,
    keyId: key.id,
    process: target.name,
    model,
    mostCost: Math.max(...(answers[model] ?? []).map((name) => prices[name] ?? 0)),
    mostAttempts: mostAttempts(model),
    budgetMs,
    sentMs,
    endedMs: Date.now(),
    end: heard.kind === 'reply' ? answered(heard, form, asked, model, prices) : heard,
  };
}

function answered(
  { status, headers, text }: Reply,
  form: Form,
  asked: Asked,
  model: string,
  prices: Readonly<Record<string, number>>,
): CallEnd {
  if (status !== 200) return { kind: 'answered', status, mistake: undefined, cost: 0 };
  const by = String(headers['x-rerank-model'] ?? model);
  return {
    kind: 'answered',
    status,
    mistake: mistakeInText(form, asked, text),
    cost: prices[by] ?? 0,
  };
}

function mistakeInText(form: Form, asked: Asked, text: string): string | undefined {
  try {
    return mistakeIn(asked, form.rows(JSON.parse(text)));
  } catch (error) {
    return `the reply cannot be read: ${String(error)}: ${text.slice(0, 200)}`;
  }
}

interface Message {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly leaveAfterMs: number | undefined;
  readonly giveUpMs: number;
}

interface Reply {
  readonly kind: 'reply';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

type Heard = Reply | Exclude<CallEnd, { kind: 'answered' }>;

/** One request on a kept connection, and what came of it. */
function exchange({ port, agent }: Target, message: Message): Promise<Heard> {
  return new Promise((resolve) => {
    const { path, headers, body, leaveAfterMs, giveUpMs } = message;
    let isOver = false;
    const end = (heard: Heard): void => {
      if (isOver) return;
      isOver = true;
      for (const timer of timers) clearTimeout(timer);
      resolve(heard);
    };
    const timers = [
      setTimeout(() => {
        end({ kind: 'silence' });
        request.destroy();
      }, giveUpMs),
    ];
    const request = httpRequest(
      {
        ...{ host: '127.0.0.1', port, path, method: 'POST', agent },
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', (error) => end({ kind: 'cut', how: error.message }));
        response.on('end', () => {
          end({
            kind: 'reply',
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          });
        });
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => {
      end(
        error.code === 'ECONNREFUSED' ? { kind: 'unheard' } : { kind: 'cut', how: error.message },
      );
    });
    if (leaveAfterMs !== undefined) {
      timers.push(
        setTimeout(() => {
          end({ kind: 'left' });
          request.destroy();
        }, leaveAfterMs),
      );
    }
    request.end(body);
  });
}
