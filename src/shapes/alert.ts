import Joi from 'joi';
import { COUNT } from './counts.js';
import { secondsOf } from './seconds.js';
import type { DeliveryRecord } from '../store/store.js';
import { choice, nullable, shape, wireOf, type Of } from './shape.js';

export const DELIVERY_STATE = choice('waiting', 'sent', 'dead').description(
  'waiting: to be sent, or sent again; dead: given up after the last try, or refused for good.',
);

/** A delivery on the wire: one alert to one target. */
export const ALERT = shape({
  id: Joi.string(),
  message_id: Joi.string().description('Sent as `webhook-id`; the same for all targets and tries.'),
  type: Joi.string(),
  target: Joi.string(),
  summary: Joi.string(),
  body: Joi.string().description('What is sent, in the form of the target.'),
  time: COUNT.description('When it happened, in unix seconds.'),
  state: DELIVERY_STATE,
  changed_time: COUNT.description('When it came into this state, or was last tried.'),
  tries: COUNT.description('Failed ones.'),
  error: nullable(Joi.string()).description('Why the last try failed.'),
  due_time: nullable(COUNT).description('When it is tried again.'),
});
export type AlertWire = Of<typeof ALERT>;

export function alertWire(record: DeliveryRecord): AlertWire {
  const { atMs, changedMs, dueAtMs, error, state } = record;
  return wireOf(ALERT, {
    ...record,
    time: Math.floor(atMs / 1_000),
    changedTime: Math.floor(changedMs / 1_000),
    error: error === '' ? null : error,
    dueTime: secondsOf(state === 'waiting' ? dueAtMs : undefined),
  });
}
