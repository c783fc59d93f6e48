import Joi from 'joi';
import { newest, noRequest } from '../management/requests.js';
import { OWN_REQUEST, ownRequestWire, REQUEST, requestWire } from '../shapes/request.js';
import { defineOperation, inArea } from './operation.js';
import { shape } from '../shapes/shape.js';

const PARAMS = shape({ request_id: Joi.string().max(128) });

const get = defineOperation({
  id: 'getRequest',
  method: 'GET',
  path: '/api/log/request/:request_id',
  summary: 'One request by its id, admitted or refused, with every attempt',
  access: 'auditor',
  params: PARAMS,
  reply: REQUEST,
  errors: ['not_found'],
  async handler({ deps, params }) {
    const found = await deps.store.findRequest(params.request_id);
    const request = newest(found);
    if (request === undefined) throw await noRequest(deps.store, params.request_id);
    const { userId } = request.entry;
    const user = userId === undefined ? undefined : await deps.store.getUser(userId, deps.now());
    return requestWire(request, user?.username, await deps.known.names());
  },
});

const getOwn = defineOperation({
  id: 'getOwnRequest',
  method: 'GET',
  path: '/api/log/self/request/:request_id',
  summary: 'One of your own requests by its id, admitted or refused',
  access: 'login',
  params: PARAMS,
  reply: OWN_REQUEST,
  errors: ['not_found'],
  async handler({ deps, params, actor }) {
    const { usage, refused } = await deps.store.findRequest(params.request_id);
    const request = newest({
      usage: usage?.userId === actor.id ? usage : undefined,
      refused: refused?.userId === actor.id ? refused : undefined,
    });
    if (request === undefined) throw await noRequest(deps.store, params.request_id);
    return ownRequestWire(request);
  },
});

export const REQUEST_OPERATIONS = inArea('logs', [get, getOwn]);
