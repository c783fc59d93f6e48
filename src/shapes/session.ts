import Joi from 'joi';
import type { ShownSession } from '../management/sessions.js';
import { secondsOf } from './seconds.js';
import { choice, nullable, shape, wireOf, type Of } from './shape.js';

const TIME = Joi.number().integer();

/** Something that somebody is logged in with, on the wire. */
export const SESSION = shape({
  id: Joi.string(),
  kind: choice('session', 'access_token'),
  created_time: TIME,
  expires_time: TIME.description('Of a session: if it is not used until then.'),
  used_time: TIME.description('Its last use, to the minute.'),
  address: nullable(Joi.string()).description('Where it was made from.'),
  agent: nullable(Joi.string()).description('What the browser or client called itself.'),
  current: Joi.boolean().description('Whether it is the one making this request.'),
});
export type SessionWire = Of<typeof SESSION>;

export function sessionWire({ id, session, current }: ShownSession): SessionWire {
  const { kind, createdAtMs, expiresAtMs, usedAtMs, address, agent } = session;
  return wireOf(SESSION, {
    ...{ id, kind, current },
    createdTime: secondsOf(createdAtMs),
    expiresTime: secondsOf(expiresAtMs),
    usedTime: secondsOf(usedAtMs),
    address: address === '' ? null : address,
    agent: agent === '' ? null : agent,
  });
}
