import Joi from 'joi';
import { documentsOf } from '../bytes/index.js';
import { asGatewayError, GatewayError, withBeside } from '../core/errors.js';
import { present } from '../core/records.js';
import type { RerankOptions } from '../core/rerank.js';
import { OPEN_POLICY } from '../core/token.js';
import { requestEvent } from '../gateway/request-event.js';
import { rerank, type RerankReply } from '../gateway/rerank.js';
import { createScope } from '../gateway/scope.js';
import { Trace } from '../gateway/trace.js';
import type { Trial } from '../gateway/look/trial.js';
import { readDocument } from '../ingress/cohere.js';
import { fieldsOf } from '../ingress/read.js';
import type { Credential } from '../store/store.js';
import { ID } from '../shapes/lists.js';
import { ADMIN_ROLE, recordAudit, type Actor } from '../management/audit.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';
import { REASON } from './reason.js';
import { ATTEMPTS, attemptsOf, RANKED, rankedWire, type RankWire } from './ranked.js';
import { newId } from '../gateway/request-id.js';
import { arrayOf, partial, recordOf, shape, type Of } from '../shapes/shape.js';

/** The limits of one account in the playground, until an admin changes them on its key. */
const RATE_LIMIT = 60;
const MAX_CONCURRENCY = 4;
const MAX_DOCUMENTS = 1_000;
const KEY_NAME = 'console';
const MAX_DEPTH = 64;

const DOCUMENT = Joi.object<Record<string, unknown>>()
  .pattern(/^/, Joi.any())
  .custom((value: unknown, { error }) =>
    isDeeper(value, MAX_DEPTH) ? error('any.invalid') : value,
  )
  .description('With a `text`, or with the members that `rank_fields` names.');

/** Written back recursively: what is nested deeper is refused. */
function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((member) => isDeeper(member, most - 1));
}

const OPTIONS = partial({
  max_tokens_per_doc: Joi.number().integer().min(1),
  instruction: Joi.string().max(10_000),
  rank_fields: arrayOf(Joi.string())
    .max(100)
    .description('Of documents that are objects: the members to rank by.'),
  truncation: Joi.boolean().description('Whether texts that are too long are cut.'),
  priority: Joi.number()
    .integer()
    .min(0)
    .max(999)
    .description('For providers that serve requests by priority.'),
});
const RANK_BODY = shape({
  query: Joi.string(),
  documents: Joi.array<(string | Record<string, unknown>)[]>()
    .items(Joi.string(), DOCUMENT)
    .min(1)
    .max(MAX_DOCUMENTS),
  model: Joi.string()
    .max(1_024)
    .description('As callers name it; `model@tag` leads to channels with that tag.'),
  ...partial({
    channel_id: ID.description('For admins: the one channel that is asked.'),
    ignore_switches: Joi.boolean().description(
      'With `channel_id`: the channel ranks although it, or its tag, is switched off.',
    ),
    top_n: Joi.number().integer().min(1),
  }),
  ...OPTIONS,
  ...partial({
    fresh: Joi.boolean().description(
      'No ranking that was kept from an earlier request, as latencies are measured.',
    ),
  }),
  reason: REASON,
}).with('ignore_switches', 'channel_id');
type RankBody = Of<typeof RANK_BODY>;

const rank = defineOperation({
  id: 'rankForComparison',
  method: 'POST',
  path: '/api/playground/rank',
  summary: 'Rank documents with your login, as a caller’s request is ranked',
  description:
    'It is admitted, priced and logged like any other, under a key of the account named `console`, which is made on first use and whose secret nobody has: its limits apply to the playground, and its row shows what was spent there. Admins may name one channel, which ranks alone and in one attempt, whatever its priority, weight and health; the audit log records that, without the texts.',
  access: 'login',
  idempotent: true,
  bodyLimitBytes: 8 * 1024 * 1024,
  body: RANK_BODY,
  reply: RANKED,
  beside: { attempts: ATTEMPTS },
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
  { channel_id: channelId, ignore_switches: ignoresSwitches = false, model }: RankBody,
  actor: Actor,
): Promise<Trial | undefined> {
  if (channelId === undefined) return undefined;
  if (actor.role < ADMIN_ROLE) {
    throw new GatewayError('permission_denied', 'Only admins may name a channel.', {
      param: 'channel_id',
    });
  }
  const detail = { model, ignoresSwitches };
  await recordAudit(deps, actor, 'playground.rank', `channel:${channelId}`, detail);
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
  const fields = fieldsOf(body.rank_fields);
  const parts = body.documents.map((item, index) => readDocument(item, index, fields));
  if (parts.every(({ text = '', image }) => image === undefined && text.trim() === '')) {
    throw new GatewayError('invalid_documents', 'All documents are blank.', { param: 'documents' });
  }
  const isAdmin = asker.actor.role >= ADMIN_ROLE;
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
        documents: documentsOf(parts),
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
    throw withBeside(failure, { attempts: attemptsOf(deps, trace, isAdmin) });
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
  const endedMs = gateway.now();
  const timing = {
    total_ms: endedMs - startedMs,
    upstream_ms: trace.upstreamMs,
    admission_ms: (trace.admittedMs ?? endedMs) - startedMs,
  };
  return { request_id: requestId, timing, ...rankedWire(deps, trace, reply, isAdmin) };
}

function optionsOf(body: RankBody): RerankOptions {
  const { rankFields: names, ...options } = recordOf(OPTIONS, body);
  return { ...options, ...present({ rankFields: fieldsOf(names) }) };
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

export const PLAYGROUND_OPERATIONS = inArea('playground', [rank]);
