import { randomBytes } from 'node:crypto';

/** Random per process, so that ids are unique across the fleet without needing randomness on every request. */
const PREFIX = `rr_${randomBytes(12).toString('hex')}`;
let issued = 0;

/** A new id: unique across the fleet, safe in JSON and in headers. */
export function newId(): string {
  issued += 1;
  return `${PREFIX}${issued.toString(36)}`;
}
