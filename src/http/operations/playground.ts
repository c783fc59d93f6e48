import Joi from 'joi';
import { textDocuments } from '../../core/documents.js';
import { GatewayError } from '../../core/errors.js';
import type { RerankOptions } from '../../core/rerank.js';
import { OPEN_POLICY } from '../../core/token.js';
import { requestEvent } from '../../gateway/request-event.js';
import type { Offer } from '../../gateway/rank.js';
import { rerank, type RerankReply } from '../../gateway/rerank.js';
import { createScope } from '../../gateway/scope.js';
import { Trace } from '../../gateway/trace.js';
import type { Trial } from '../../gateway/trial.js';
import type { Credential } from '../../store/store.js';
import { ID } from '../../wire/lists.js';
import { ADMIN_ROLE, recordAudit, type Actor } from '../../management/audit.js';
import { asGatewayError } from '../error-reply.js';
import { defineOperation, type Operation, type OperationDeps } from '../operation.js';
import { because, REASON } from '../reason.js';
import { newId } from '../request-id.js';

type ScoreScale = Offer['scale'];

interface RankBody {
  query: string;
  documents: string[];
  model: string;
  channel_id?: number;
  ignore_switches?: boolean;
  top_n?: number;
  max_tokens_per_doc?: number;
  instruction?: string;
  fresh?: boolean;
  reason?: string;
}

interface RankWire {
  request_id: string;
  model: string;
  channel: { id: number; name: string; provider: string; tag: string | null } | null;
  upstream_model: string | null;
  score_scale: ScoreScale | null;
  results: { index: number; relevance_score: number }[];
  usage: { input_tokens: number; search_units: number; estimated: boolean };
  quota: number;
  timing: { total_ms: number; upstream_ms: number };
  attempts: number;
  warnings: string[];
}

const SCORE_SCALES: readonly ScoreScale[] = [
  ...(['probability', 'logit', 'cosine', 'unbounded', 'order'] as const),
];
const COUNT = Joi.number().integer().min(0).required();
const MS = Joi.number().min(0).required();
const TEXT = Joi.string().allow('').required();

/** The limits of one account in the playground, until an admin changes them on its key. */
const RATE_LIMIT = 60;
const MAX_CONCURRENCY = 4;
const MAX_DOCUMENTS = 1_000;
const KEY_NAME = 'console';

const rank = defineOperation({
  id: 'rankForComparison',
  method: 'POST',
  path: '/api/playground/rank',
  area: 'playground',
  summary: 'Rank documents with your login, as a caller’s request is ranked',
  description:
    'It is admitted, priced and logged like any other, under a key of the account named `console`, which is made on first use and whose secret nobody has: its limits apply to the playground, and its row shows what was spent there. Admins may name one channel, which ranks alone and in one attempt, whatever its priority, weight and health; the audit log records that, without the texts.',
  access: 'login',
  idempotent: true,
  bodyLimitBytes: 8 * 1024 * 1024,
  body: Joi.object<RankBody, true>({
    query: Joi.string().required(),
    documents: Joi.array().items(Joi.string()).min(1).max(MAX_DOCUMENTS).required(),
    model: Joi.string()
      .max(1_024)
      .required()
      .description('As callers name it; `model@tag` leads to channels with that tag.'),
    channel_id: ID.description('For admins: the one channel that is asked.'),
    ignore_switches: Joi.boolean().description(
      'With `channel_id`: the channel ranks although it, or its tag, is switched off.',
    ),
    top_n: Joi.number().integer().min(1),
    max_tokens_per_doc: Joi.number().integer().min(1),
    instruction: Joi.string().max(10_000),
    fresh: Joi.boolean().description(
      'No ranking that was kept from an earlier request, as latencies are measured.',
    ),
    reason: REASON,
  }).with('ignore_switches', 'channel_id'),
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
    upstream_model: Joi.string()
      .allow(null)
      .required()
      .description('What that channel calls the model; null for those who are not admins.'),
    score_scale: Joi.string()
      .valid(...SCORE_SCALES)
      .allow(null)
      .required()
      .description('What its scores are as far as is known; null where several channels ranked.'),
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
  async handler({ deps, body, actor, address, requestId }) {
    const trial = await trialOf(deps, body, actor);
    return rankAs(deps, body, { actor, address, requestId, trial });
  },
});

/** The channel that an admin asks for, recorded in the audit log before it is called. */
async function trialOf(
  deps: OperationDeps,
  { channel_id: channelId, ignore_switches: ignoresSwitches = false, model, reason }: RankBody,
  actor: Actor,
): Promise<Trial | undefined> {
  if (channelId === undefined) return undefined;
  if (actor.role < ADMIN_ROLE) {
    throw new GatewayError('permission_denied', 'Only admins may name a channel.', {
      param: 'channel_id',
    });
  }
  const detail = { model, ignoresSwitches };
  await recordAudit(
    deps,
    because(actor, reason),
    'playground.rank',
    `channel:${channelId}`,
    detail,
  );
  return { channelId, ignoresSwitches };
}

interface Asker {
  readonly actor: Actor & { readonly id: number };
  readonly address: string;
  readonly requestId: string;
  readonly trial: Trial | undefined;
}

/** One ranking for an account, from its admission to its entry in the log. */
async function rankAs(deps: OperationDeps, body: RankBody, asker: Asker): Promise<RankWire> {
  const { gateway } = deps;
  const { address, requestId, trial: onTrial } = asker;
  const { id: userId } = asker.actor;
  if (body.query.trim() === '') {
    throw new GatewayError('invalid_query', 'The query is blank.', { param: 'query' });
  }
  if (body.documents.every((text) => text.trim() === '')) {
    throw new GatewayError('invalid_documents', 'All documents are blank.', { param: 'documents' });
  }
  const startedMs = gateway.now();
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
      // The key is used only from here, whoever sits in front of the page.
      addressAllowed: () => true,
    };
    reply = await rerank(gateway, {
      id: newId(),
      requestId,
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
      ...(body.fresh === true ? { mayBeOldMs: 0 } : {}),
      trial: onTrial,
      scope,
      trace,
    });
  } catch (error) {
    failure = asGatewayError(error);
    throw failure;
  } finally {
    scope.release();
    const event = await requestEvent(trace, {
      requestId,
      startedMs,
      durationMs: gateway.now() - startedMs,
      route: '/api/playground/rank',
      status: failure?.status ?? 200,
      failure,
      userId,
      token: credential?.token,
      model: body.model,
      documents: body.documents.length,
      address: () => address,
      source: 'console',
    });
    gateway.observe(event);
  }
  const isAdmin = asker.actor.role >= ADMIN_ROLE;
  return wireOf(deps, requestId, trace, reply, gateway.now() - startedMs, isAdmin);
}

function wireOf(
  deps: OperationDeps,
  requestId: string,
  trace: Trace,
  { rows, usage, warnings, model }: RerankReply,
  totalMs: number,
  isAdmin: boolean,
): RankWire {
  const { byId, plans } = deps.gateway.channels.current;
  const [served, ...others] = trace.servedBy;
  const route = served === undefined ? undefined : byId.get(served.channelId);
  const answered = model ?? trace.model ?? '';
  const offer = plans.get(answered)?.offers.find(({ id }) => id === served?.channelId);
  const isNormalized = offer?.scale === 'logit' && route?.channel.scores === 'normalized';
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
    upstream_model: isAdmin ? (offer?.upstreamModel ?? null) : null,
    score_scale: others.length > 0 ? null : isNormalized ? 'probability' : (offer?.scale ?? null),
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

/** Not the hash of any key: those are 64 hexadecimal digits. No key that can be sent leads here. */
function hashOf(userId: number): string {
  return `console:${userId}`;
}

/** The key that the playground of an account spends with; created on first use. */
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
  // Another lane may have created it at the same moment: then it is there all the same.
  const credential = await credentials.findFresh(keyHash);
  if (credential !== undefined) return credential;
  throw new GatewayError('not_found', 'The account no longer exists.', { cause: failed?.error });
}

export const PLAYGROUND_OPERATIONS: readonly Operation[] = [rank];
