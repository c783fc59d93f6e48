import { GatewayError } from '../core/errors.js';
import type { Role } from '../store/store.js';
import { ROOT_ROLE } from './audit.js';
import { invalid, loginName, refuseKeys } from './fields.js';
import { isReserved, usernameMistake } from './names.js';

const MAX_EMAIL_CHARACTERS = 254;
/** No "@", so that a name is never somebody else's address; not only digits, so that it is never an id. */
const USERNAME = /^(?!\p{Nd}+$)[\p{L}\p{Nd}][\p{L}\p{Nd}._-]{0,63}$/u;
/** No `\p{C}` either: an address with an invisible character is taken for another one. */
const EMAIL =
  /^[^\s\p{C}@<>"(),:;\\[\]]{1,64}@[^\s\p{C}@<>"(),:;\\[\]]+\.[^\s\p{C}@<>"(),:;\\[\].]+$/u;

/** A name that cannot be mistaken for others; reserved ones are for root alone. */
export function checkUsername(value: string, role: Role): string {
  const username = loginName(value);
  if (!USERNAME.test(username)) {
    throw invalid(
      'username',
      'username must have 1 to 64 letters, digits, dots, hyphens or underscores, begin with a letter or digit, and not be digits alone.',
    );
  }
  refuseKeys(username, 'username');
  const mistake = usernameMistake(username);
  if (mistake !== undefined) throw invalid('username', `username ${mistake}.`);
  if (role !== ROOT_ROLE && isReserved(username)) {
    throw invalid('username', 'username is, or looks like, a name that is reserved for root.');
  }
  return username;
}

export function checkEmail(value: string): string {
  const email = loginName(value);
  if (email.length > MAX_EMAIL_CHARACTERS || !EMAIL.test(email)) {
    throw invalid('email', 'email must be an address such as ann@example.com.');
  }
  refuseKeys(email, 'email');
  return email;
}

export function rootStays(): GatewayError {
  return new GatewayError(
    'permission_denied',
    'The root account cannot be disabled, deleted or given another role.',
  );
}
