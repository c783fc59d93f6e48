import { listNodes } from '../management/nodes.js';
import { NODES, nodesWire } from '../shapes/node.js';
import { defineOperation, inArea } from './operation.js';

const list = defineOperation({
  id: 'listNodes',
  method: 'GET',
  path: '/api/node',
  summary: 'Every gateway that works on the store, and whether it is up to date',
  description:
    'Each gateway reports every two seconds. One that was killed is listed as silent for ten minutes; one that was shut down is no longer listed.',
  access: 'auditor',
  reply: NODES,
  handler: async ({ deps }) => nodesWire(await listNodes(deps)),
});

export const NODE_OPERATIONS = inArea('nodes', [list]);
