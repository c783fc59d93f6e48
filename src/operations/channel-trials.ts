import Joi from 'joi';
import { listUpstreamModels, testChannel, testDraft } from '../management/channel-trials.js';
import { TESTED, testedWire } from '../shapes/tested.js';
import { ID_PARAMS } from '../shapes/lists.js';
import { defineOperation } from './operation.js';
import { because, REASON } from './reason.js';
import { CREATE_BODY, draftOf, NAME, type CreateBody } from './channel-draft.js';

interface TestBody {
  model?: string;
  reason?: string;
}

interface DraftBody extends CreateBody {
  model?: string;
}

const TEST_MODEL = NAME.empty(['', null]).description(
  'Under the name that callers use; by default its first model.',
);

const upstreamModels = defineOperation({
  id: 'listUpstreamModels',
  method: 'GET',
  path: '/api/channel/:id/upstream-models',
  area: 'channels',
  summary: 'The models that a channel’s server lists, under its own names',
  description: 'Asks the server; empty if it lists none.',
  access: 'admin',
  params: ID_PARAMS,
  reply: Joi.array<string[]>().items(Joi.string()).required(),
  errors: ['not_found', 'conflict', 'upstream_error'],
  handler: async ({ deps, params }) => [...(await listUpstreamModels(deps, params.id))],
});

const test = defineOperation({
  id: 'testChannel',
  method: 'POST',
  path: '/api/channel/test/:id',
  area: 'channels',
  summary: 'Send a channel a real request of two documents, switched on or not',
  description:
    'Costs what the provider charges. `problem` says what is wrong, with status 200, since the test itself was made.',
  access: 'admin',
  params: ID_PARAMS,
  body: Joi.object<TestBody, true>({
    model: TEST_MODEL,
    reason: REASON,
  }),
  reply: TESTED,
  errors: ['not_found', 'conflict'],
  async handler({ deps, params, body, actor }) {
    const { model, reason } = body;
    return testedWire(await testChannel(deps, params.id, model, because(actor, reason)));
  },
});

const draft = defineOperation({
  id: 'testDraft',
  method: 'POST',
  path: '/api/channel/test',
  area: 'channels',
  summary: 'Send a draft of a channel a real request of two documents',
  description:
    'Takes the same input as adding a channel, and answers like the test of a channel. Stores nothing but an entry in the audit log, without credentials. Costs what the provider charges.',
  access: 'admin',
  body: Joi.object<DraftBody, true>({ ...CREATE_BODY, model: TEST_MODEL }),
  reply: TESTED,
  async handler({ deps, body, actor }) {
    const { model, reason } = body;
    return testedWire(await testDraft(deps, draftOf(body), model, because(actor, reason)));
  },
});

export const CHANNEL_TRIAL_OPERATIONS = [upstreamModels, test, draft] as const;
