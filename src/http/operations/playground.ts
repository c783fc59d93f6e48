import Joi from 'joi';
import { textDocuments } from '../../core/documents.js';
import { GatewayError } from '../../core/errors.js';
import type { RerankOptions } from '../../core/rerank.js';
import { OPEN_POLICY } from '../../core/token.js';
import type { RequestEvent } from '../../gateway/events.js';
import { rerank, type RerankReply } from '../../gateway/rerank.js';
import { createScope } from '../../gateway/scope.js';
import { Trace } from '../../gateway/trace.js';
import type { Credential } from '../../store/store.js';
import { ID } from '../../wire/lists.js';
import { ADMIN_ROLE } from '../../management/audit.js';
import { asGatewayError } from '../error-reply.js';
import { defineOperation, type Operation, type OperationDeps } from '../operation.js';
import { newId } from '../request-id.js';

interface RankBody {
  query: string;
  documents: string[];
  model: string;
  top_n?: number;
  max_tokens_per_doc?: number;
  instruction?: string;
}

interface RankWire {
  request_id: string;
  model: string;
  channel: { id: number; name: string; provider: string; tag: string | null } | null;
  results: { index: number; relevance_score: number }[];
  usage: { input_tokens: number; search_units: number; estimated: boolean };
  quota: number;
  timing: { total_ms: number; upstream_ms: number };
  attempts: number;
  warnings: string[];
}

const COUNT = Joi.number().integer().min(0).required();
const MS = Joi.number().min(0).required();
const TEXT = Joi.string().allow('').required();

/** What one account may do in the playground until an admin says otherwise on its key. */
const RATE_LIMIT = 60;
const MAX_CONCURRENCY = 4;
const MAX_DOCUMENTS = 1_000;
const KEY_NAME = 'console';

const rank = defineOperation({
  id: 'rankForComparison',
  method: 'POST',
  path: '/api/playground/rank',
  area: 'playground',
  summary: 'Rank documents with one’s login, the way a caller’s request is ranked',
  description:
    'It is admitted, priced and logged like any other, by a key of the account named `console` that is made on first use and that nobody has: its limits bound the playground, and its row shows what was spent there.',
  access: 'login',
  idempotent: true,
  body: Joi.object<RankBody, true>({
    query: Joi.string().required(),
    documents: Joi.array().items(Joi.string()).min(1).max(MAX_DOCUMENTS).required(),
    model: Joi.string()
      .max(1_024)
      .required()
      .description('As callers name it; `model@tag` leads to channels with that tag.'),
    top_n: Joi.number().integer().min(1),
    max_tokens_per_doc: Joi.number().integer().min(1),
    instruction: Joi.string().max(10_000),
  }),
  reply: Joi.object<RankWire>({
    request_id: Joi.string().required(),
    model: TEXT,
    channel: Joi.object({
      id: ID.required(),
      name: Joi.string().required(),
      provider: Joi.string().required(),
      tag: Joi.string().allow(null).required(),
    })
      .allow(null)
      .required()
      .description('Which one ranked; null for those who are not admins.'),
    results: Joi.array()
      .items(Joi.object({ index: COUNT, relevance_score: Joi.number().required() }))
      .required(),
    usage: Joi.object({
      input_tokens: COUNT,
      search_units: COUNT,
      estimated: Joi.boolean().required(),
    }).required(),
    quota: COUNT.description('Charged, in units.'),
    timing: Joi.object({ total_ms: MS, upstream_ms: MS }).required(),
    attempts: COUNT,
    warnings: Joi.array().items(Joi.string()).required(),
  }),
  errors: [
    ...(['invalid_query', 'invalid_documents', 'model_not_found', 'model_not_allowed'] as const),
    ...(['tag_not_allowed', 'insufficient_user_quota', 'token_quota_exhausted'] as const),
    ...(['token_disabled', 'token_expired', 'ip_not_allowed', 'invalid_api_key'] as const),
    ...(['rate_limited', 'too_many_concurrent_requests', 'too_many_documents'] as const),
    ...(['payload_too_large', 'upstream_error', 'upstream_invalid_response'] as const),
    ...(['upstream_timeout', 'no_channel_available', 'client_closed_request'] as const),
  ],
  async handler({ deps, body, actor, address }) {
    const isAdmin = actor.role >= ADMIN_ROLE;
    return rankAs(deps, body, actor.id, address, isAdmin);
  },
});

/** One ranking for an account, from its admission to its entry in the log. */
async function rankAs(
  deps: OperationDeps,
  body: RankBody,
  userId: number,
  address: string,
  isAdmin: boolean,
): Promise<RankWire> {
  const { gateway } = deps;
  if (body.query.trim() === '') {
    throw new GatewayError('invalid_query', 'The query is blank.', { param: 'query' });
  }
  if (body.documents.every((text) => text.trim() === '')) {
    throw new GatewayError('invalid_documents', 'All documents are blank.', { param: 'documents' });
  }
  const startedMs = gateway.now();
  const id = newId();
  const trace = new Trace();
  const scope = createScope(startedMs, deps.deadlineMs);
  let failure: GatewayError | undefined;
  let reply: RerankReply | undefined;
  let credential: Credential | undefined;
  try {
    credential = await consoleKey(deps, userId);
    const caller = {
      keyHash: hashOf(userId),
      credential,
      // The key is used from here alone, whoever sits in front of the page.
      addressAllowed: () => true,
    };
    reply = await rerank(gateway, {
      id,
      requestId: id,
      caller,
      request: {
        model: body.model,
        query: body.query,
        documents: textDocuments(body.documents),
        topN: Math.min(body.top_n ?? body.documents.length, body.documents.length),
        returnDocuments: false,
        options: optionsOf(body),
      },
      modelBy: () => body.model,
      tag: undefined,
      scope,
      trace,
    });
  } catch (error) {
    failure = asGatewayError(error);
    throw failure;
  } finally {
    scope.release();
    const durationMs = gateway.now() - startedMs;
    const charged = trace.charged === undefined ? undefined : await trace.charged;
    const [served] = trace.servedBy;
    const last = served ?? trace.made.at(-1);
    const event: RequestEvent = {
      kind: 'request',
      requestId: id,
      atMs: startedMs,
      method: 'POST',
      route: '/api/playground/rank',
      status: failure?.status ?? 200,
      outcome: failure?.code ?? 'ok',
      userId,
      tokenId: credential?.token.id,
      tokenName: credential?.token.name,
      model: trace.model ?? body.model,
      knownModel: trace.model !== undefined,
      channelId: last?.channelId,
      provider: last?.provider,
      tag: last?.tag,
      attempts: trace.attempts,
      documents: body.documents.length,
      inputTokens: trace.usage?.inputTokens ?? 0,
      searchUnits: trace.usage?.searchUnits ?? 0,
      quota: charged ?? trace.quota,
      admitted: trace.admitted,
      degraded: trace.degraded,
      durationMs,
      upstreamMs: trace.upstreamMs,
      source: 'console',
      ...(failure === undefined ? {} : { message: failure.message }),
      ...(trace.admitted ? {} : { address }),
    };
    gateway.observe(event);
  }
  return wireOf(deps, id, trace, reply, gateway.now() - startedMs, isAdmin);
}

function wireOf(
  deps: OperationDeps,
  requestId: string,
  trace: Trace,
  { rows, usage, warnings }: RerankReply,
  totalMs: number,
  isAdmin: boolean,
): RankWire {
  const [served] = trace.servedBy;
  const route =
    served === undefined ? undefined : deps.gateway.channels.current.byId.get(served.channelId);
  return {
    request_id: requestId,
    model: trace.model ?? '',
    channel:
      !isAdmin || served === undefined
        ? null
        : {
            id: served.channelId,
            name: route?.channel.name ?? `#${served.channelId}`,
            provider: served.provider,
            tag: served.tag ?? null,
          },
    results: rows.map(({ index, score }) => ({ index, relevance_score: score })),
    usage: {
      input_tokens: usage.inputTokens,
      search_units: usage.searchUnits,
      estimated: usage.estimated,
    },
    quota: trace.quota,
    timing: { total_ms: totalMs, upstream_ms: trace.upstreamMs },
    attempts: trace.attempts,
    warnings: [...warnings],
  };
}

function optionsOf({ max_tokens_per_doc: maxTokensPerDoc, instruction }: RankBody): RerankOptions {
  return {
    ...(maxTokensPerDoc === undefined ? {} : { maxTokensPerDoc }),
    ...(instruction === undefined ? {} : { instruction }),
  };
}

/** No hash of any key: those are 64 hexadecimal digits. Nobody can send what leads here. */
function hashOf(userId: number): string {
  return `console:${userId}`;
}

/** The key that the playground of an account spends by; made on first use. */
async function consoleKey(deps: OperationDeps, userId: number): Promise<Credential> {
  const { credentials } = deps.gateway;
  const keyHash = hashOf(userId);
  const known = await credentials.find(keyHash);
  if (known !== undefined) return known;
  const made = deps.store
    .createToken(
      {
        userId,
        name: KEY_NAME,
        keyHash,
        keyHint: KEY_NAME,
        enabled: true,
        expiredTime: -1,
        remainQuota: 0,
        unlimitedQuota: true,
        policy: { ...OPEN_POLICY, rateLimit: RATE_LIMIT, maxConcurrency: MAX_CONCURRENCY },
      },
      deps.now(),
    )
    .then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  const failed = await made;
  // Another lane may have made it in the same moment: then it is there all the same.
  const credential = await credentials.findFresh(keyHash);
  if (credential !== undefined) return credential;
  throw new GatewayError('not_found', 'The account no longer exists.', { cause: failed?.error });
}

export const PLAYGROUND_OPERATIONS: readonly Operation[] = [rank];
