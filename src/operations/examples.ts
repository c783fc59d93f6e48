import Joi from 'joi';
import { deleteExample, getExample, saveExample } from '../management/examples.js';
import { exampleWire, type ExampleContent } from '../shapes/example.js';
import { ID, ID_PARAMS } from '../shapes/lists.js';
import { defineOperation, inArea } from './operation.js';
import { arrayOf, shape } from '../shapes/shape.js';

const MAX_NAME = 1_024;
const REPLY = {
  id: ID,
  name: Joi.string(),
  shared: Joi.boolean().description('Whether everybody sees it.'),
  own: Joi.boolean(),
  created_time: Joi.number().integer().min(0),
};
const CONTENT = Joi.object<ExampleContent>()
  .unknown()
  .description('As the playground saves it to a file: query, documents, lanes, labels, options.');
const EXAMPLE = shape(REPLY);

const list = defineOperation({
  id: 'listExamples',
  method: 'GET',
  path: '/api/playground/example',
  summary: 'Playground examples: your own and shared ones, newest first',
  access: 'login',
  reply: arrayOf(EXAMPLE),
  handler: async ({ deps, actor }) =>
    (await deps.store.listExamples(actor.id)).map(exampleWire(actor.id)),
});

const get = defineOperation({
  id: 'getExample',
  method: 'GET',
  path: '/api/playground/example/:id',
  summary: 'One example, with its query and documents',
  access: 'login',
  params: ID_PARAMS,
  reply: shape({ ...REPLY, content: CONTENT }),
  errors: ['not_found'],
  async handler({ deps, params, actor }) {
    const { example, content } = await getExample(deps, params.id, actor);
    return { ...exampleWire(actor.id)(example), content };
  },
});

const save = defineOperation({
  id: 'saveExample',
  method: 'POST',
  path: '/api/playground/example',
  summary: 'Keep an input of the playground',
  description:
    'Its query and documents are then in the store, which otherwise holds none; `console.examples: false` forbids it. An account keeps up to 100.',
  access: 'login',
  body: shape({
    name: Joi.string().max(MAX_NAME),
    shared: Joi.boolean().default(false).description('Everybody with a login sees it.'),
    content: CONTENT,
  }),
  reply: EXAMPLE,
  errors: ['permission_denied', 'conflict'],
  idempotent: true,
  handler: async ({ deps, body, actor }) =>
    exampleWire(actor.id)(await saveExample(deps, body, actor)),
});

const remove = defineOperation({
  id: 'deleteExample',
  method: 'DELETE',
  path: '/api/playground/example/:id',
  summary: 'Delete an example',
  description: 'Your own; admins also those that others share.',
  access: 'login',
  params: ID_PARAMS,
  errors: ['not_found', 'permission_denied'],
  async handler({ deps, params, actor }) {
    await deleteExample(deps, params.id, actor);
    return null;
  },
});

export const EXAMPLE_OPERATIONS = inArea('playground', [list, get, save, remove]);
