import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import { recordAudit } from '../management/audit.js';
import { ALERT, alertWire, DELIVERY_STATE } from '../shapes/alert.js';
import { LIST_QUERY, listOf, listReply, sliceOf } from '../shapes/lists.js';
import { arrayOf, nullable, optional, shape } from '../shapes/shape.js';
import { defineOperation, inArea } from './operation.js';

const list = defineOperation({
  id: 'listAlerts',
  method: 'GET',
  path: '/api/alert',
  summary: 'What was sent to the targets of `alerts`, when and where to, newest first',
  description:
    'The last 1,000 that were sent and the last 1,000 that are dead are kept. Audit entries that are sent to a target are among them.',
  access: 'auditor',
  query: shape({ ...LIST_QUERY, state: optional(DELIVERY_STATE.empty('')) }),
  reply: listOf(ALERT),
  async handler({ deps, query }) {
    const { state } = query;
    const slice = { ...sliceOf(query), ...(state === undefined ? {} : { state }) };
    return listReply(await deps.store.listDeliveries(slice), query, alertWire);
  },
});

const test = defineOperation({
  id: 'testAlerts',
  method: 'POST',
  path: '/api/alert/test',
  summary: 'Send a test message to every target, or to one, at once',
  description: 'Each is tried once, whatever kinds it takes. The list does not show it.',
  access: 'admin',
  body: shape({ target: optional(Joi.string().max(64)) }),
  reply: arrayOf(
    shape({
      target: Joi.string(),
      error: nullable(Joi.string()).description('Null if the target accepted the message.'),
    }),
  ),
  errors: ['not_found'],
  async handler({ deps, body, actor }) {
    const { targets } = deps.alerting;
    const wanted =
      body.target === undefined ? targets : targets.filter((one) => one === body.target);
    if (wanted.length === 0) {
      const known = targets.length === 0 ? 'none is configured' : `there are ${targets.join(', ')}`;
      throw new GatewayError('not_found', `There is no such target of alerts: ${known}.`);
    }
    const results = await deps.alerting.test(wanted, actor.name);
    return Array.from(results, ([target, error]) => ({
      target,
      error: error === '' ? null : error,
    }));
  },
});

const again = defineOperation({
  id: 'resendAlert',
  method: 'POST',
  path: '/api/alert/:id/again',
  summary: 'Send an alert again, whether it was sent, is waiting or is dead',
  access: 'admin',
  params: shape({ id: Joi.string().max(200) }),
  reply: ALERT,
  errors: ['not_found'],
  async handler({ deps, params, actor }) {
    const found = await deps.store.redeliver(params.id, deps.now());
    if (found === undefined) throw new GatewayError('not_found', 'There is no such alert.');
    const { type, target } = found;
    await recordAudit(deps, actor, 'alert.resend', `alert:${found.id}`, { type, target });
    deps.alerting.wake();
    return alertWire(found);
  },
});

export const ALERT_OPERATIONS = inArea('alerts', [list, test, again]);
