import Joi from 'joi';
import { textDocuments } from '../core/text-documents.js';
import { GatewayError } from '../core/errors.js';
import { PROBE_DOCUMENTS, PROBE_QUERY } from '../core/probe.js';
import { OPEN_POLICY } from '../core/token.js';
import { NO_FUNDS } from '../gateway/admission.js';
import type { ExplainAsk } from '../gateway/look/explain.js';
import type { Actor } from '../management/audit.js';
import { probeAddress } from '../management/channel-trials.js';
import { getToken } from '../management/tokens.js';
import { EXPLAINED, explainedWire } from '../shapes/explained.js';
import { SECRET, SETTING } from '../shapes/channel.js';
import { DISCOVERED, discoveredWire } from '../shapes/discovered.js';
import { ID } from '../shapes/lists.js';
import { defineOperation, inArea, type OperationDeps } from './operation.js';
import { arrayOf, mapOf, partial, shape, type Of } from '../shapes/shape.js';

const MAX_DOCUMENTS = 10_000;
const NAME = Joi.string().max(1_024).empty('');

const EXPLAIN_BODY = shape(
  partial({
    model: NAME.description(
      'Under the name that callers use; by default the key’s or the gateway’s default model.',
    ),
    tag: NAME.description('As a request names it in X-Rerank-Tag.'),
    token_id: ID.description('The key that asks; without it a key that may do everything.'),
    query: Joi.string().max(100_000),
    documents: arrayOf(Joi.string().allow('')).min(1).max(MAX_DOCUMENTS),
    document_count: Joi.number()
      .integer()
      .min(1)
      .max(MAX_DOCUMENTS)
      .description('So many short documents, where `documents` is not there.'),
    top_n: Joi.number().integer().min(1),
  }),
);
type ExplainBody = Of<typeof EXPLAIN_BODY>;

const explainRoute = defineOperation({
  id: 'explainRoute',
  method: 'POST',
  path: '/api/route/explain',
  summary: 'Where a request would go now, what it would cost, and why it would not go elsewhere',
  description:
    'Nothing is sent, reserved or charged. The gateway that answers says what cools down and what is busy on it.',
  access: 'auditor',
  body: EXPLAIN_BODY,
  reply: EXPLAINED,
  errors: ['not_found'],
  handler: async ({ deps, body, actor }) =>
    explainedWire(await deps.explain(await askOf(deps, body, actor))),
});

async function askOf(deps: OperationDeps, body: ExplainBody, actor: Actor): Promise<ExplainAsk> {
  const holder =
    body.token_id === undefined ? undefined : await holderOf(deps, body.token_id, actor);
  const policy = holder?.credential.token.policy ?? OPEN_POLICY;
  const model = body.model ?? policy.defaultModel ?? deps.about.defaultModel;
  if (model === undefined) {
    throw new GatewayError(
      'invalid_request',
      'model is required: neither the key nor the gateway has a default.',
      { param: 'model' },
    );
  }
  const documents = textDocuments(body.documents ?? exampleDocuments(body.document_count));
  return {
    dialect: undefined,
    request: {
      model,
      query: body.query ?? PROBE_QUERY,
      documents,
      topN: Math.min(body.top_n ?? documents.count, documents.count),
      returnDocuments: false,
      options: {},
    },
    tag: body.tag,
    policy,
    holder,
  };
}

async function holderOf(
  deps: OperationDeps,
  id: number,
  actor: Actor,
): Promise<NonNullable<ExplainAsk['holder']>> {
  const token = await getToken(deps, id, actor);
  const user = await deps.store.getUser(token.userId, deps.now());
  return {
    credential: { token, version: 0, keyHash: '', userEnabled: user?.enabled ?? false },
    owner: user ?? NO_FUNDS,
  };
}

function exampleDocuments(count: number | undefined): readonly string[] {
  return count === undefined
    ? PROBE_DOCUMENTS
    : Array.from({ length: count }, (_, at) => PROBE_DOCUMENTS[at % PROBE_DOCUMENTS.length] ?? '');
}

const probe = defineOperation({
  id: 'probeAddress',
  method: 'POST',
  path: '/api/channel/probe',
  summary: 'Find out what an unknown server speaks',
  description:
    'Asks the server about itself, and has it rank two short documents in the form of each provider that people run themselves: at most some sixty requests; all but those in its own form get a 404. A provider’s public address is recognised without a request. Nothing that the server says is quoted.',
  access: 'admin',
  body: shape({
    base_url: Joi.string().max(2_048),
    ...partial({
      credentials: mapOf(SECRET).description('Each provider gets those that it knows.'),
      settings: mapOf(SETTING),
      model: NAME.description('One that it serves, for servers that list none.'),
    }),
  }),
  reply: DISCOVERED,
  handler: async ({ deps, body, actor }) => {
    const { base_url: baseUrl, credentials = {}, settings = {}, model } = body;
    const server = { baseUrl, credentials, settings, model };
    return discoveredWire(await probeAddress(deps, server, actor));
  },
});

export const ROUTE_OPERATIONS = inArea('channels', [explainRoute, probe]);
