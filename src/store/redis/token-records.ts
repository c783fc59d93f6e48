import type { Token } from '../../core/token.js';
import type { Credential, QuotaChange } from '../store.js';
import { credentialOf, TOKENS, type StoredToken } from '../tokens.js';
import { USERS } from '../users.js';
import { fieldsOf } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, runWithTokens, SCRIPTS, type Reply } from './scripts.js';

/** Where a token is stored: its record is in its user's slot. */
export interface TokenPlace {
  readonly tokenId: number;
  readonly userId: number;
}

/** Reads a token from its fields and values, unless there are none. */
export function storedTokenOf(
  { tokenId: id, userId }: TokenPlace,
  reply: Reply | undefined,
): StoredToken | undefined {
  const fields = fieldsOf(reply);
  return fields.hash === undefined ? undefined : TOKENS.fromFields(fields, { id, userId });
}

/** Reads tokens of one user; with a time, gives back its expired reservations first. Leaves out missing tokens. */
export async function readTokens(
  connection: Connection,
  keys: Keys,
  userId: number,
  tokenIds: readonly number[],
  nowMs?: number,
  wantedHash?: string,
): Promise<Credential[]> {
  const tokenKey = (tokenId: number | string): string => keys.userToken(userId, tokenId);
  const reply = await runWithTokens(
    connection,
    SCRIPTS.findTokens,
    [keys.user(userId), keys.userReservations(userId), ...tokenIds.map(tokenKey)],
    tokenKey,
    [tokenIds.length, nowMs === undefined ? '' : connection.told(nowMs)],
  );
  const [userEnabled, ...records] = listOf(reply);
  if (userEnabled === null) return [];
  return tokenIds.flatMap((tokenId, index) => {
    const stored = storedTokenOf({ tokenId, userId }, records[index]);
    return (stored && credentialOf(stored, userEnabled === '1', wantedHash)) ?? [];
  });
}

/** Reads `<a>:<b>`, two whole numbers. */
export function pairOf(text: string): [number, number] {
  const [first, second] = text.split(':');
  return [Number(first), Number(second)];
}

/** Rate, places and budget are stored next to the JSON for scripts that need them on every request. */
export function limitFields(policy: Token['policy']): (string | number)[] {
  const { rateLimit, maxConcurrency, budget, budgetPeriod, budgetTimeZone } = policy;
  return [
    ...['rate', rateLimit, 'places', maxConcurrency],
    ...USERS.toFields({ budget, budgetPeriod, budgetTimeZone }),
  ];
}

/** The script arguments that change a balance. */
export function quotaArguments(change: QuotaChange | undefined): [string, number] {
  if (change === undefined) return ['', 0];
  return 'set' in change ? ['set', change.set] : ['add', change.add];
}
