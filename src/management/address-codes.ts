import { GatewayError } from '../core/errors.js';
import type { User } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { changesOf } from './changes.js';
import { accountNamed } from './attempts.js';
import type { Mail, SendMail } from './mail.js';
import { newPassword } from './passwords.js';
import { hashSecret } from './secrets.js';

export interface AddressMailDeps extends ManagementDeps {
  readonly accounts: Pick<AccountSettings, 'resetMailsPerHour'>;
  readonly sendMail: SendMail;
}

const CODE_HOURS = 24;
const CODE_MS = CODE_HOURS * 3_600_000;
const HOUR_MS = 3_600_000;

/**
 * Mails a code that confirms the address for the account. If it already belongs to another account, its owner is told
 * instead, and whoever asked learns nothing of that. Must be called off the path of the request, since the two take
 * different times.
 */
export async function mailAddressCode(
  deps: AddressMailDeps,
  { id, username }: Pick<User, 'id' | 'username'>,
  email: string,
): Promise<void> {
  const { store, now, randomBytes, accounts } = deps;
  const mails = await store.takeLimit(
    `address-mail:${hashSecret(accountNamed(email))}`,
    accounts.resetMailsPerHour,
    HOUR_MS,
    now(),
  );
  if (!mails.allowed) return;
  const owner = await store.findUser(email, now());
  if (owner !== undefined && owner.id !== id) {
    await deps.sendMail(takenMail(email));
    return;
  }
  const code = newPassword(randomBytes);
  await store.putAddressCode(id, email, hashSecret(code), now(), CODE_MS);
  await deps.sendMail(codeMail(email, username, code));
}

/** Takes the code from the mail; from then on the address belongs to the account. */
export async function confirmAddress(
  deps: ManagementDeps,
  { id }: Pick<User, 'id'>,
  code: string,
  actor: Actor,
): Promise<User> {
  const { store, now } = deps;
  const email = await store.takeAddressCode(id, hashSecret(code.trim().toLowerCase()), now());
  if (email === undefined) throw wrongCode();
  const before = await store.getUser(id, now());
  const update = await store.updateUser(id, { email }, now());
  // Somebody else has confirmed it meanwhile: whoever reads its mails may know that.
  if (update.kind === 'taken') {
    throw new GatewayError('conflict', 'That address belongs to another account.', {
      param: 'email',
    });
  }
  if (update.kind !== 'updated') throw wrongCode();
  const changes = changesOf({ email: before?.email }, { email });
  const of = { name: update.user.username, changes };
  await recordAudit(deps, actor, 'user.confirm_email', `user:${id}`, { email }, of);
  return update.user;
}

function wrongCode(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'The code is wrong, has expired or was used; ask for a new one by setting the address again.',
    { param: 'token' },
  );
}

function codeMail(to: string, username: string, code: string): Mail {
  return {
    to,
    subject: 'Your code to confirm this address',
    text: [
      `Somebody, most likely you, named this address for the account "${username}".`,
      '',
      `    ${code}`,
      '',
      `The code is good once, for ${CODE_HOURS} hours, while logged in to that account. If it is not yours, do`,
      'nothing: the address will not count.',
      '',
    ].join('\n'),
  };
}

function takenMail(to: string): Mail {
  return {
    to,
    subject: 'You already have an account',
    text: [
      'Somebody, perhaps you, named this address for a new account. It already belongs to one, and stays with it.',
      '',
      'If you have forgotten the password, ask for a new one. If it was not you, do nothing.',
      '',
    ].join('\n'),
  };
}
