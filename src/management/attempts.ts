import { GatewayError } from '../core/errors.js';
import type { Store } from '../store/store.js';
import type { AccountSettings } from './accounts.js';
import { loginName } from './fields.js';
import { knownUser, type Asker } from './scrypt-thread.js';
import { hashSecret } from './secrets.js';

export interface AttemptDeps {
  readonly store: Store;
  readonly now: () => number;
  readonly accounts: Pick<AccountSettings, 'attemptsPerAccount' | 'attemptsWindowMs'>;
}

/** All other addresses together may try this many times what one address may, before they have to wait their turn. */
const WHOLE_FACTOR = 3;
/** Pause between two attempts on an account whose attempts wait their turn, per process. */
const TURN_MS = 1_000;
const MOST_WAITING = 5;
/** How long an address is remembered as one from which somebody logged in. */
const PLACE_MS = 180 * 24 * 60 * 60 * 1000;
/** No user has this id. Asking for it keeps the work the same if there is no account. */
const NOBODY = 0;

/** What attempts on an account are counted by: the same however its name is typed. */
export function accountNamed(login: string): string {
  return loginName(login).toLowerCase();
}

/**
 * Counts one attempt of some kind on an account from an address block, or throws 429. Other addresses have counts of their
 * own, so that nobody can lock anybody else out.
 */
export async function countAttempt(
  { store, now, accounts }: AttemptDeps,
  kind: string,
  account: string,
  block: string,
): Promise<void> {
  const { attemptsPerAccount: most, attemptsWindowMs: windowMs } = accounts;
  const taken = await store.takeLimit(pairOf(kind, account, block), most, windowMs, now());
  if (!taken.allowed) throw tooMany(taken.retryAfterMs);
}

/** Forgets an address block's wrong attempts on an account, after a right one. */
export async function forgetAttempts(
  { store }: Pick<AttemptDeps, 'store'>,
  kind: string,
  account: string,
  block: string,
): Promise<void> {
  await store.clearLimit(pairOf(kind, account, block));
}

/** Notes that somebody logged in from there, and need not wait next time. */
export async function rememberPlace(
  { store, now }: Pick<AttemptDeps, 'store' | 'now'>,
  userId: number,
  block: string,
): Promise<void> {
  await store.rememberPlace(userId, hashSecret(block), now(), PLACE_MS);
}

/** Whether somebody logged in to the account from there within half a year. */
export function knowsPlace(
  { store, now }: Pick<AttemptDeps, 'store' | 'now'>,
  userId: number,
  block: string,
): Promise<boolean> {
  return store.knowsPlace(userId, hashSecret(block), now());
}

/** The attempts waiting their turn, by account: how many, and the turn of the last of them. */
const lanes = new Map<string, { waiting: number; last: Promise<unknown> }>();

/**
 * Admits a login attempt: at once, unless the account has had many from addresses that nobody has logged in from. Then
 * strangers are served one after another; known addresses do not wait. @returns on whose behalf the password is hashed.
 */
export async function awaitTurn(
  { store, now, accounts }: AttemptDeps,
  account: string,
  userId: number | undefined,
  block: string,
): Promise<Asker> {
  const isKnown = await knowsPlace({ store, now }, userId ?? NOBODY, block);
  if (isKnown && userId !== undefined) return knownUser(userId);
  const stranger = { owner: block, isKnown: false };
  const { attemptsPerAccount, attemptsWindowMs: windowMs } = accounts;
  const most = attemptsPerAccount * WHOLE_FACTOR;
  const name = `login:whole:${hashSecret(account)}`;
  if ((await store.takeLimit(name, most, windowMs, now())).allowed) return stranger;
  const lane = lanes.get(account) ?? { waiting: 0, last: Promise.resolve() };
  if (lane.waiting >= MOST_WAITING) throw tooMany(MOST_WAITING * TURN_MS);
  lanes.set(account, lane);
  lane.waiting += 1;
  lane.last = lane.last.then(() => new Promise((resolve) => setTimeout(resolve, TURN_MS)));
  await lane.last;
  lane.waiting -= 1;
  if (lane.waiting === 0) lanes.delete(account);
  return stranger;
}

function pairOf(kind: string, account: string, block: string): string {
  return `${kind}:account:${hashSecret(account)}:${hashSecret(block)}`;
}

function tooMany(retryAfterMs: number): GatewayError {
  return new GatewayError('rate_limited', 'Too many attempts; try again later.', { retryAfterMs });
}
