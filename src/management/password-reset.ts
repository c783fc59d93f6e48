import { GatewayError } from '../core/errors.js';
import type { User } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { recordAudit, type Actor, type ManagementDeps } from './audit.js';
import { loginName } from './fields.js';
import type { Mail, SendMail } from './mail.js';
import { checkPassword } from './password-rules.js';
import { hashPassword, newPassword } from './passwords.js';
import { checkBelow } from './rank.js';
import { knownUser } from './scrypt-thread.js';
import { hashSecret } from './secrets.js';
import { actorOf, createUser, getUser, type UserDraft } from './users.js';

export interface ResetMailDeps extends ManagementDeps {
  readonly accounts: Pick<AccountSettings, 'resetMailsPerHour'>;
  readonly sendMail: SendMail;
  /** Where people reach the gateway; without it, mails carry a code alone. */
  readonly publicUrl: string | undefined;
}

/** A person who must choose a password, by mail. */
export type Invitation = Omit<UserDraft, 'password' | 'enabled' | 'email'> & {
  readonly email: string;
};

export interface PasswordReset {
  readonly email: string;
  /** The one-time code from the mail. */
  readonly code: string;
  /** Without it, a strong one is generated. */
  readonly password: string | undefined;
}

const CODE_MINUTES = 10;
const CODE_MS = CODE_MINUTES * 60_000;
/** For whoever has not asked for it and reads mail tomorrow. */
const SENT_CODE_HOURS = 24;
/**
 * Nobody guesses a code of 120 bits, so strangers' tries need not invalidate it; how often each may try is counted
 * elsewhere.
 */
const MAX_WRONG_CODES = 1_000_000;
const HOUR_MS = 3_600_000;
/** No user has this id. Asking for it keeps the work the same if there is no account. */
const NOBODY = 0;

/**
 * Mails a one-time code to the account with this address, if there is one that may log in. The time taken depends on that,
 * so it must be called off the path of the request.
 */
export async function mailResetCode(
  deps: ResetMailDeps,
  email: string,
  block: string,
): Promise<void> {
  const { store, now, randomBytes } = deps;
  const user = await findByEmail(deps, email);
  if (user?.email === undefined || !user.enabled) return;
  if (!(await mayMail(deps, user.id, block))) return;
  const code = newPassword(randomBytes);
  await store.putOneTimeCode(user.id, hashSecret(code), now(), CODE_MS);
  await deps.sendMail(resetMail(user.email, user.username, wayIn(deps, user.email, code)));
}

/** An admin has a one-time code mailed to somebody of a lower role, who sets a password with it. */
export async function mailResetTo(deps: ResetMailDeps, id: number, actor: Actor): Promise<void> {
  const user = await getUser(deps, id);
  checkBelow(user.role, actor, 'The role of this account');
  if (user.email === undefined) {
    throw new GatewayError('conflict', 'The account has no address to mail to.', {
      param: 'email',
    });
  }
  if (!user.enabled) {
    throw new GatewayError('conflict', 'The account is disabled; enable it first.');
  }
  const most = deps.accounts.resetMailsPerHour * WHOLE_FACTOR;
  const mails = await deps.store.takeLimit(`reset-mail:sent:${id}`, most, HOUR_MS, deps.now());
  if (!mails.allowed) {
    throw new GatewayError(
      'rate_limited',
      'This account has been sent enough mail for this hour.',
      { retryAfterMs: mails.retryAfterMs },
    );
  }
  await mailSentCode(deps, user, user.email, sentResetMail);
  await recordAudit(deps, actor, 'user.mail_reset', `user:${id}`, {}, { name: user.username });
}

/** Makes an account with an unknown password, and mails a code to set one. */
export async function inviteUser(
  deps: ResetMailDeps,
  invitation: Invitation,
  actor: Actor,
): Promise<User> {
  const draft = { ...invitation, password: newPassword(deps.randomBytes) };
  const user = await createUser(deps, draft, actor);
  await mailSentCode(deps, user, user.email ?? invitation.email, invitationMail);
  return user;
}

async function mailSentCode(
  deps: ResetMailDeps,
  { id, username }: User,
  to: string,
  mailOf: (to: string, username: string, way: readonly string[]) => Mail,
): Promise<void> {
  const { store, now, randomBytes, sendMail } = deps;
  const code = newPassword(randomBytes);
  await store.putOneTimeCode(id, hashSecret(code), now(), SENT_CODE_HOURS * HOUR_MS);
  try {
    await sendMail(mailOf(to, username, wayIn(deps, to, code)));
  } catch (cause) {
    throw new GatewayError(
      'upstream_error',
      `The mail to account ${id} "${username}" could not be sent; send it again once the mail server answers.`,
      { cause },
    );
  }
}

/** How many times what one address may have mailed all of them together may. */
const WHOLE_FACTOR = 4;

/** One address can use up only its own share of mails, and leaves some to the owner of the account. */
async function mayMail(
  { store, now, accounts }: ResetMailDeps,
  userId: number,
  block: string,
): Promise<boolean> {
  const most = accounts.resetMailsPerHour;
  const name = `reset-mail:account:${userId}`;
  const from = `${name}:${hashSecret(block)}`;
  if (!(await store.takeLimit(from, most, HOUR_MS, now())).allowed) return false;
  return (await store.takeLimit(name, most * WHOLE_FACTOR, HOUR_MS, now())).allowed;
}

/**
 * Takes the code and sets the password; all sessions and access tokens of the account end. The refusal is the same for
 * wrong, expired and used codes, and for addresses that nobody has. @returns the generated password, `undefined` if one was
 * given.
 */
export async function resetPassword(
  deps: ManagementDeps,
  { email, code, password }: PasswordReset,
  address: string | undefined,
): Promise<string | undefined> {
  const { store, now, randomBytes } = deps;
  if (password !== undefined) checkPassword(password, [email]);
  const user = await findByEmail(deps, email);
  const taken = await store.takeOneTimeCode(
    user?.id ?? NOBODY,
    hashSecret(code.trim().toLowerCase()),
    now(),
    MAX_WRONG_CODES,
  );
  if (user === undefined || !taken) {
    throw new GatewayError(
      'invalid_request',
      'The code is wrong, has expired or was used; ask for a new one.',
      { param: 'token' },
    );
  }
  const made = password === undefined ? newPassword(randomBytes) : undefined;
  // A person with the code is not a stranger, and the code is used up: they must not be turned away now.
  const asker = knownUser(user.id);
  const passwordHash = await hashPassword(password ?? made ?? '', randomBytes, asker);
  await store.updateUser(user.id, { passwordHash }, now());
  await store.deleteUserSessions(user.id);
  await recordAudit(deps, actorOf(user, address), 'user.reset_password', `user:${user.id}`);
  return made;
}

async function findByEmail(
  { store, now }: ManagementDeps,
  email: string,
): Promise<User | undefined> {
  const wanted = loginName(email).toLowerCase();
  const user = await store.findUser(wanted, now());
  return user?.email?.toLowerCase() === wanted ? user : undefined;
}

/** The code, and the page that takes it. Both are behind the `#` of the link, which reaches no server and no log. */
function wayIn(
  { publicUrl }: Pick<ResetMailDeps, 'publicUrl'>,
  email: string,
  code: string,
): string[] {
  const lines = ['', `    ${code}`, ''];
  if (publicUrl === undefined) return lines;
  const filled = new URLSearchParams({ email, code });
  return [...lines, `    ${publicUrl.replace(/\/+$/, '')}/console/reset#${filled.toString()}`, ''];
}

function sentResetMail(to: string, username: string, way: readonly string[]): Mail {
  return {
    to,
    subject: 'Your code for a new password',
    text: [
      `An administrator has sent you this code to set a new password for the account "${username}".`,
      ...way,
      `The code is good once, for ${SENT_CODE_HOURS} hours. Until then your password stays as it is.`,
      '',
    ].join('\n'),
  };
}

function invitationMail(to: string, username: string, way: readonly string[]): Mail {
  return {
    to,
    subject: 'Your account at the rerank gateway',
    text: [
      `You have an account named "${username}". Set its password with this code.`,
      ...way,
      `The code is good once, for ${SENT_CODE_HOURS} hours. After that, ask for another one.`,
      '',
    ].join('\n'),
  };
}

function resetMail(to: string, username: string, way: readonly string[]): Mail {
  return {
    to,
    subject: 'Your code for a new password',
    text: [
      `Somebody, most likely you, asked for a new password for the account "${username}".`,
      ...way,
      `The code is good once, for ${CODE_MINUTES} minutes. If you did not ask for it, do nothing:`,
      'your password stays as it is.',
      '',
    ].join('\n'),
  };
}
