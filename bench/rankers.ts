/**
 * How well each channel ranks, how long it takes and what it costs, measured with your own labelled questions:
 * `npm run bench:rankers -- --file labelled.jsonl`. A line is `{"query": …, "documents": […], "relevance": [0, 2, …]}`, with
 * an optional `language`; without a file the sets that ship are taken. A question without a relevant document counts as 0, unless
 * `--answerable` leaves it out. The channels are those of the configuration (CONFIG, else config/gateway.yaml), plus the lexical
 * ranker. `--channel NAME` takes only that channel; `--questions N` takes the first N questions.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/config/load-config.js';
import { textDocuments } from '../src/core/text-documents.js';
import {
  exponentialNdcg,
  hasRelevant,
  ndcg,
  randomNdcg,
  reciprocalRank,
  trecOrder,
} from '../src/core/evaluation.js';
import { UNITS_PER_DOLLAR } from '../src/core/figures.js';
import { actualCost, priceOf } from '../src/core/quota.js';
import { completeUsage } from '../src/core/rerank.js';
import type { Channel } from '../src/core/channel.js';
import { CHANNEL_DEFAULTS } from '../src/core/channel-members.js';
import { AccessTokens } from '../src/gateway/transport/access-tokens.js';
import { LlamaEngine, loadLlama } from '../src/rankers/llama.js';
import { ChannelHealth } from '../src/gateway/channels/health.js';
import { offerOf } from '../src/gateway/offer.js';
import { chainOf, type ChainParts } from '../src/gateway/plan.js';
import { keyed } from '../src/gateway/policies/keyed.js';
import { longDocuments } from '../src/gateway/policies/long-documents.js';
import { sliding } from '../src/gateway/policies/sliding.js';
import { split } from '../src/gateway/policies/split.js';
import { makeRoute } from '../src/gateway/channels/route.js';
import { createScope } from '../src/gateway/scope.js';
import { createSend } from '../src/gateway/send.js';
import { Trace } from '../src/gateway/trace.js';
import { Upstream } from '../src/gateway/transport/upstream.js';
import { judgeUpstreamAddress } from '../src/management/addresses.js';
import { loadPrompts } from '../src/assembly/prompts.js';
import { mean, questionSets, type Question } from './questions.js';

const { values } = parseArgs({
  options: {
    file: { type: 'string' },
    channel: { type: 'string' },
    questions: { type: 'string' },
    answerable: { type: 'boolean', default: false },
  },
});
const PATIENCE_MS = 300_000;
const config = loadConfig({ env: process.env });
const { maxReplyBytes, maxCooldownMs, promptsDir } = config.gateway;
const { traffic, models: rules } = config;
const upstream = new Upstream({
  maxReplyBytes,
  judgeAddress: judgeUpstreamAddress(config.gateway),
});
const neural = new LlamaEngine({ load: loadLlama });
const ignore = (): void => undefined;
const health = new ChannelHealth({
  maxCooldownMs,
  breaker: {
    failures: traffic.breakerFailures,
    windowMs: traffic.breakerWindowMs,
    openMs: traffic.breakerOpenMs,
    longestMs: maxCooldownMs,
  },
  outage: { failures: traffic.disableFailures, windowMs: traffic.disableWindowMs },
  limits: { outOf: () => undefined, pauses: () => [] },
  places: { isFull: () => false },
  observe: ignore,
  onOutage: ignore,
});
const send = createSend({
  upstream,
  tokens: new AccessTokens({
    now: Date.now,
    fetchToken: (request, signal) => upstream.fetchToken(request, signal),
  }),
  neural,
  tools: { vectors: undefined, prompts: loadPrompts(promptsDir) },
  now: Date.now,
  attemptTimeoutMs: PATIENCE_MS,
  mayBegin: () => true,
});

const UNLIMITED = {
  takeWithKey: () => Promise.resolve({ kind: 'taken', end: ignore } as const),
};
const UNBOUNDED = { takeNow: () => true, take: () => Promise.resolve(true), leave: ignore };

/** The chain that a channel's requests go through in the gateway, without the counting parts: one request at a time. */
const parts: ChainParts = {
  send,
  leased: (next) => next,
  observed: (next) => next,
  keyed: keyed({ health, limits: UNLIMITED, places: UNBOUNDED, now: Date.now }),
  limited: (next) => next,
  placed: (next) => next,
  longDocuments,
  sliding: sliding(Date.now),
  split: split({ parallel: traffic.splitParallel }),
};

const LEXICAL: Channel = {
  ...CHANNEL_DEFAULTS,
  id: 0,
  name: 'lexical',
  provider: 'local',
  baseUrl: undefined,
  credentials: {},
  models: { lexical: 'lexical' },
  tag: undefined,
  status: 1,
  settings: {},
  origin: 'store',
};

const declared = (config.channels ?? []).map(({ declared: fields, credentials }, at): Channel => ({
  ...LEXICAL,
  ...fields,
  id: at + 1,
  credentials,
}));
const channels = [...declared.filter(({ provider }) => provider !== 'local'), LEXICAL].filter(
  ({ name }) => values.channel === undefined || name === values.channel,
);

const PLACES = 10;
for (const [name, all] of questionSets(values.file)) {
  const questions = all
    .filter(({ relevance }) => !values.answerable || hasRelevant(relevance))
    .slice(0, Number(values.questions ?? all.length));
  console.log(`\n${name}: ${questions.length} questions\n`);
  console.log(
    row([
      ...['channel', 'model', 'nDCG@10', '2^label', 'MRR'],
      ...['median ms', 'p95 ms', '$ per 1000', 'failed'],
    ]),
  );
  const random = mean(questions.map(({ relevance }) => randomNdcg(relevance, PLACES)));
  console.log(row(['a random order', '', random.toFixed(3)]));
  for (const channel of channels) {
    for (const model of Object.keys(channel.models)) {
      console.log(row(await measure(channel, model, questions)));
    }
  }
}
await upstream.close();
await neural.close();

async function measure(
  channel: Channel,
  model: string,
  questions: readonly Question[],
): Promise<string[]> {
  const made = makeRoute(channel, new Map(), new Map());
  if (made.kind === 'unusable') return [channel.name, model, made.why];
  const gains: number[] = [];
  const exponential: number[] = [];
  const ranks: number[] = [];
  const times: number[] = [];
  const costs: number[] = [];
  let failures = 0;
  for (const question of questions) {
    const startedMs = performance.now();
    const outcome = await ask(channel, made.route, model, question);
    if (outcome === undefined) {
      failures += 1;
      continue;
    }
    times.push(performance.now() - startedMs);
    costs.push(outcome.cost);
    gains.push(ndcg(outcome.order, question.relevance, PLACES));
    exponential.push(exponentialNdcg(outcome.order, question.relevance, PLACES));
    ranks.push(reciprocalRank(outcome.order, question.relevance));
  }
  times.sort((one, other) => one - other);
  const at = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0).toFixed(0);
  return [
    channel.name,
    model,
    mean(gains).toFixed(3),
    mean(exponential).toFixed(3),
    mean(ranks).toFixed(3),
    at(0.5),
    at(0.95),
    ((mean(costs) / UNITS_PER_DOLLAR) * 1_000).toFixed(3),
    String(failures),
  ];
}

async function ask(
  channel: Channel,
  route: Parameters<typeof offerOf>[0],
  model: string,
  { query, documents: texts }: Question,
): Promise<{ order: number[]; cost: number } | undefined> {
  const scope = createScope(Date.now(), PATIENCE_MS);
  const documents = textDocuments(texts);
  const offer = offerOf(route, model, rules.named[model] ?? rules.fallback);
  try {
    const outcome = await chainOf(parts, [offer]).ask(offer, {
      requestId: 'bench',
      owner: 'bench',
      keyId: 0,
      model,
      query,
      documents,
      topN: documents.count,
      options: {},
      admits: () => true,
      mayAnswer: () => false,
      scope,
      trace: new Trace(),
    });
    if (outcome.kind !== 'ranked') {
      const why = outcome.kind === 'failed' ? outcome.failure : undefined;
      console.error(`${channel.name}: ${why?.kind ?? outcome.kind} ${why?.message ?? ''}`);
      return undefined;
    }
    const usage = completeUsage(outcome.ranking.usage, query, documents);
    return {
      order: trecOrder(outcome.ranking.rows),
      cost: actualCost(priceOf(config.prices, model), documents.count, usage),
    };
  } finally {
    scope.release();
  }
}

function row(cells: readonly string[]): string {
  return cells.map((cell, at) => (at < 2 ? cell.padEnd(26) : cell.padStart(11))).join('');
}
