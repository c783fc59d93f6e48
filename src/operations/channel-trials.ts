import Joi from 'joi';
import { listUpstreamModels, testChannel, testDraft } from '../management/channel-trials.js';
import { TESTED, testedWire } from '../shapes/tested.js';
import { ID_PARAMS } from '../shapes/lists.js';
import { defineOperation, inArea } from './operation.js';
import { REASON } from './reason.js';
import { CREATE_BODY, draftOf, NAME } from './channel-draft.js';
import { arrayOf, optional, shape } from '../shapes/shape.js';

const TEST_MODEL = NAME.empty(['', null]).description(
  'Under the name that callers use; by default its first model.',
);

const upstreamModels = defineOperation({
  id: 'listUpstreamModels',
  method: 'GET',
  path: '/api/channel/:id/upstream-models',
  summary: 'The models that a channel’s server lists, under its own names',
  description: 'Asks the server; empty if it lists none.',
  access: 'admin',
  params: ID_PARAMS,
  reply: arrayOf(Joi.string()),
  errors: ['not_found', 'conflict', 'upstream_error'],
  handler: async ({ deps, params }) => [...(await listUpstreamModels(deps, params.id))],
});

const test = defineOperation({
  id: 'testChannel',
  method: 'POST',
  path: '/api/channel/test/:id',
  summary: 'Send a channel a real request of two documents, switched on or not',
  description:
    'Costs what the provider charges. `problem` says what is wrong, with status 200, since the test itself was made.',
  access: 'admin',
  params: ID_PARAMS,
  body: shape({ model: optional(TEST_MODEL), reason: REASON }),
  reply: TESTED,
  errors: ['not_found', 'conflict'],
  async handler({ deps, params, body, actor }) {
    const { model } = body;
    return testedWire(await testChannel(deps, params.id, model, actor));
  },
});

const draft = defineOperation({
  id: 'testDraft',
  method: 'POST',
  path: '/api/channel/test',
  summary: 'Send a draft of a channel a real request of two documents',
  description:
    'Takes the same input as adding a channel, and answers like the test of a channel. Stores nothing but an entry in the audit log, without credentials. Costs what the provider charges.',
  access: 'admin',
  body: shape({ ...CREATE_BODY, model: optional(TEST_MODEL) }),
  reply: TESTED,
  async handler({ deps, body, actor }) {
    const { model } = body;
    return testedWire(await testDraft(deps, draftOf(body), model, actor));
  },
});

export const CHANNEL_TRIAL_OPERATIONS = inArea('channels', [upstreamModels, test, draft]);
