import type { BudgetUse } from '../../core/budget.js';
import type { Token } from '../../core/token.js';
import type { Credential } from '../store.js';
import { storedPolicy } from '../tokens.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, runWithTokens, SCRIPTS, textOf, type Reply } from './scripts.js';

/** Where a token is stored: its record is in its user's slot. */
export interface TokenPlace {
  readonly tokenId: number;
  readonly userId: number;
}

/**
 * Reads a token from the fields that scripts return, in their order, as found by the key of `wantedHash`, or by its current
 * key without one. `undefined` if the token has another key.
 */
export function credentialOf(
  { tokenId, userId }: TokenPlace,
  userEnabled: boolean,
  fields: readonly Reply[],
  wantedHash?: string,
): Credential | undefined {
  const [
    name,
    enabled,
    keyHint,
    created,
    accessed,
    expires,
    remain,
    unlimited,
    used,
    policy,
    version,
    keyHash,
    spent,
    untilMs,
    oldHash,
    oldUntil,
  ] = fields;
  const isOld = wantedHash !== undefined && oldHash === wantedHash;
  if (wantedHash !== undefined && keyHash !== wantedHash && !isOld) return undefined;
  const hasOld = typeof oldHash === 'string';
  const token: Token = {
    id: tokenId,
    userId,
    name: textOf(name),
    enabled: enabled === '1',
    keyHint: textOf(keyHint),
    createdTime: numberOf(created),
    accessedTime: numberOf(accessed),
    expiredTime: numberOf(expires),
    remainQuota: numberOf(remain),
    unlimitedQuota: unlimited === '1',
    usedQuota: numberOf(used),
    budgetUse: budgetUseOf(spent, untilMs),
    ...(hasOld ? { oldKeyUntilMs: numberOf(oldUntil) } : {}),
    policy: storedPolicy(textOf(policy)),
  };
  return {
    token,
    version: numberOf(version),
    keyHash: isOld ? wantedHash : textOf(keyHash),
    ...(isOld ? { endsAtMs: numberOf(oldUntil) } : {}),
    userEnabled,
  };
}

/** Reads a budget's window as scripts return it; records of older releases have none. */
export function budgetUseOf(spent: Reply | undefined, untilMs: Reply | undefined): BudgetUse {
  return { spent: numberOf(spent ?? 0), untilMs: numberOf(untilMs ?? 0) };
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
    const fields = records[index] ?? null;
    if (fields === null) return [];
    const place = { tokenId, userId };
    return credentialOf(place, userEnabled === '1', listOf(fields), wantedHash) ?? [];
  });
}

/** Reads `<a>:<b>`, two whole numbers. */
export function pairOf(text: string): [number, number] {
  const [first, second] = text.split(':');
  return [Number(first), Number(second)];
}
