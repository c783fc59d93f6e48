import Joi from 'joi';
import type { ShownSession } from '../management/sessions.js';
import type { Session } from '../store/store.js';

/** Something that somebody is logged in with, on the wire. */
export interface SessionWire {
  id: string;
  kind: Session['kind'];
  /** Unix seconds. */
  created_time: number;
  expires_time: number;
  used_time: number;
  address: string | null;
  agent: string | null;
  current: boolean;
}

const TIME = Joi.number().integer().required();
const TOLD = Joi.string().allow(null).required();

export const SESSION = Joi.object<SessionWire, true>({
  id: Joi.string().required(),
  kind: Joi.string().valid('session', 'access_token').required(),
  created_time: TIME,
  expires_time: TIME.description('Of a session: if it is not used until then.'),
  used_time: TIME.description('Its last use, to the minute.'),
  address: TOLD.description('Where it was made from.'),
  agent: TOLD.description('What the browser or client called itself.'),
  current: Joi.boolean().required().description('Whether it is the one making this request.'),
});

export function sessionWire({ id, session, current }: ShownSession): SessionWire {
  const { kind, createdAtMs, expiresAtMs, usedAtMs, address, agent } = session;
  return {
    ...{ id, kind, current },
    created_time: Math.floor(createdAtMs / 1000),
    expires_time: Math.floor(expiresAtMs / 1000),
    used_time: Math.floor(usedAtMs / 1000),
    address: address === '' ? null : address,
    agent: agent === '' ? null : agent,
  };
}
