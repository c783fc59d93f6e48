import { windowOf, type BudgetPeriod, type BudgetTerms } from '../../core/budget.js';
import type { RateState } from '../../core/rate-limit.js';
import type { Admission, AdmissionStore, AdmitRequest } from '../store.js';
import { credentialOf } from '../tokens.js';
import { AdmissionBatches, type Answered, type Asked } from './admission-batches.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, missingTokens, numberOf, run, SCRIPTS, textOf, type Reply } from './scripts.js';
import { pairOf, readTokens, storedTokenOf } from './token-records.js';

type Refused = Extract<Admission, { kind: 'refused' }>;
type RefusalReason = Exclude<Refused['reason'], 'rate' | BudgetRefused['reason']>;
type BudgetRefused = Extract<Refused, { reason: 'token_budget' | 'user_budget' }>;
const REFUSALS: ReadonlySet<string> = new Set<RefusalReason>([
  'unknown',
  'user_disabled',
  'disabled',
  'expired',
  'token_quota',
  'user_quota',
  'concurrency',
]);
const ADMITTED: Admission = { kind: 'admitted', rate: undefined };

/** `flush` sends what is still waiting to be batched. */
export function openAdmission(
  connection: Connection,
  keys: Keys,
): AdmissionStore & { readonly flush: () => void } {
  const send = async (userId: number, { settlements, admissions }: Asked): Promise<Answered> => {
    // One argument per item: five or six would cost the client more than it costs the script to split one.
    const args = [String(settlements.length)];
    const tokenIds = new Set<number>();
    for (const { tokenId, reservationId, amount, cost, served } of settlements) {
      tokenIds.add(tokenId);
      args.push(`${tokenId} ${reservationId} ${amount} ${cost} ${served ? 1 : 0}`);
    }
    for (const request of admissions) {
      tokenIds.add(request.tokenId);
      args.push(admissionArgument(request));
    }
    const places = [keys.user(userId), keys.userReservations(userId)];
    for (const tokenId of tokenIds) places.push(keys.userToken(userId, tokenId));
    const reply = listOf(await run(connection, SCRIPTS.settleAndAdmit, places, args));
    const [charged, admitted] = [listOf(reply[0]), listOf(reply[1])];
    return {
      charged: charged.map((units) => (units === null ? undefined : numberOf(units))),
      admissions: await admissionsOf(userId, admissions, admitted),
    };
  };

  const admissionArgument = (request: AdmitRequest): string => {
    const { tokenId, version, reservationId, amount, nowMs, expiresAtMs } = request;
    const told = connection.told(nowMs);
    return `${tokenId} ${version} ${reservationId} ${amount} ${told} ${expiresAtMs - nowMs}`;
  };

  /** The script's answer to each; some must be asked again, once what stood in their way has been dealt with. */
  async function admissionsOf(
    userId: number,
    asked: readonly AdmitRequest[],
    replies: readonly Reply[],
  ): Promise<Admission[]> {
    const told = (request: AdmitRequest, each: number): Admission =>
      admissionOf(request, replies[each] ?? null);
    if (!replies.some(isUndone)) return asked.map(told);
    // Reading gives back expired reservations, with all the keys that this needs.
    if (replies.some((reply) => missingTokens(reply) !== undefined)) {
      await readTokens(connection, keys, userId, [], asked[0]?.nowMs);
    }
    await beginWindows(userId, asked, replies);
    const undone = asked.filter((_, each) => isUndone(replies[each] ?? null));
    const { admissions } = await send(userId, { settlements: [], admissions: undone });
    const again = new Map(undone.map((request, each) => [request, admissions[each]]));
    return asked.map((request, each) => again.get(request) ?? told(request, each));
  }

  /** Begins new windows for budgets whose windows have ended, once per token. */
  async function beginWindows(
    userId: number,
    asked: readonly AdmitRequest[],
    replies: readonly Reply[],
  ): Promise<void> {
    const ended = new Map<number, EndedWindow>();
    asked.forEach(({ tokenId, nowMs }, each) => {
      const window = endedWindow(replies[each] ?? null, nowMs);
      if (window !== undefined) ended.set(tokenId, window);
    });
    for (const [tokenId, { askedMs, nowMs, user, token }] of ended) {
      const places = [
        ...[keys.user(userId), keys.userReservations(userId)],
        keys.userToken(userId, tokenId),
      ];
      await run(connection, SCRIPTS.beginWindows, places, [
        connection.told(askedMs),
        ...windowArguments(user, nowMs),
        ...windowArguments(token, nowMs),
      ]);
    }
  }
  const batches = new AdmissionBatches(send, connection.together);

  return {
    async findToken(keyHash, nowMs) {
      const place = await connection.answer(connection.client.get(keys.keyHash(keyHash)));
      if (place === null) return undefined;
      const [userId, tokenId] = pairOf(place);
      // A server that had lost the token of this key may have given out its id again.
      const [found] = await readTokens(connection, keys, userId, [tokenId], nowMs, keyHash);
      return found;
    },
    admit: (request) => batches.admit(request),
    settle: (settlement) => batches.settle(settlement),
    flush: () => batches.flush(),
  };
}

/** The budgets whose windows have ended, by the store's clock. */
interface EndedWindow {
  readonly askedMs: number;
  readonly nowMs: number;
  readonly user: BudgetTerms | undefined;
  readonly token: BudgetTerms | undefined;
}

function isUndone(reply: Reply): boolean {
  return Array.isArray(reply) && (reply[0] === 'window' || reply[0] === 'more keys');
}

function endedWindow(reply: Reply, askedMs: number): EndedWindow | undefined {
  if (!Array.isArray(reply) || reply[0] !== 'window') return undefined;
  const [, nowMs, userPeriod, userZone, period, zone] = listOf(reply);
  return {
    askedMs,
    nowMs: numberOf(nowMs),
    user: termsOf(userPeriod, userZone),
    token: termsOf(period, zone),
  };
}

function termsOf(period: Reply | undefined, zone: Reply | undefined): BudgetTerms | undefined {
  if (period === '') return undefined;
  // Written from a BudgetPeriod.
  return { budgetPeriod: textOf(period) as BudgetPeriod, budgetTimeZone: textOf(zone) };
}

function windowArguments(terms: BudgetTerms | undefined, nowMs: number): (string | number)[] {
  if (terms === undefined) return ['', '', ''];
  return [terms.budgetPeriod, terms.budgetTimeZone, windowOf(terms, nowMs).untilMs];
}

/** Reads the answer of `settle_and_admit.lua` to one admission. */
function admissionOf(request: AdmitRequest, reply: Reply): Admission {
  if (reply === 1) return ADMITTED;
  if (typeof reply === 'string' && REFUSALS.has(reply)) {
    return { kind: 'refused', reason: reply as RefusalReason };
  }
  const [kind, ...rest] = listOf(reply);
  if (kind === 'stale') return staleOr(request, rest);
  if (kind === 'token_budget' || kind === 'user_budget') return budgetRefusal(kind, request, rest);
  const [limit, remaining, resetMs, retryAfterMs] = rest.map(numberOf);
  const rate: RateState = { limit: limit ?? 0, remaining: remaining ?? 0, resetMs: resetMs ?? 0 };
  if (kind === 1) return { kind: 'admitted', rate };
  return { kind: 'refused', reason: 'rate', retryAfterMs: retryAfterMs ?? 1, rate };
}

/** The credential as it is now; unknown if the key no longer leads to it. */
function staleOr(request: AdmitRequest, [userEnabled, fields]: readonly Reply[]): Admission {
  const stored = storedTokenOf(request, fields);
  const credential = stored && credentialOf(stored, userEnabled === 1, request.keyHash);
  if (credential === undefined || request.nowMs >= (credential.endsAtMs ?? Infinity)) {
    return { kind: 'refused', reason: 'unknown' };
  }
  return { kind: 'stale', credential };
}

function budgetRefusal(
  reason: BudgetRefused['reason'],
  { nowMs }: AdmitRequest,
  [budget, spent, untilMs, period, zone]: readonly Reply[],
): BudgetRefused {
  const renewsAtMs = numberOf(untilMs);
  return {
    kind: 'refused',
    reason,
    standing: {
      budget: numberOf(budget),
      spent: numberOf(spent),
      // Written from a BudgetPeriod.
      period: textOf(period) as BudgetPeriod,
      timeZone: textOf(zone),
      renewsAtMs,
    },
    retryAfterMs: Math.max(1, renewsAtMs - nowMs),
  };
}
