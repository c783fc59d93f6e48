import type { RateState } from '../../core/rate-limit.js';
import type { Admission, AdmissionStore, AdmitRequest, Settlement } from '../store.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS, type Reply } from './scripts.js';
import { TickBatches } from './tick-batches.js';
import { credentialOf, pairOf, readTokens } from './token-records.js';

/** Bounds how long one script keeps the server from others. */
const MAX_BATCH = 256;

/** How long a settlement may wait for an admission to travel with: a write to the socket costs more than a script. */
const SETTLE_WITHIN_MS = 4;

type RefusalReason = Exclude<Extract<Admission, { kind: 'refused' }>['reason'], 'rate'>;
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

/** `flush` sends what still waits for company. */
export function openAdmission(
  connection: Connection,
  keys: Keys,
): AdmissionStore & { readonly flush: () => void } {
  const reserve = async (
    userId: number,
    requests: readonly AdmitRequest[],
  ): Promise<Admission[]> => {
    // One argument for each request: six would cost the client more than the script's taking one apart.
    const args = requests.map(
      ({ tokenId, version, reservationId, amount, nowMs, expiresAtMs }) =>
        `${tokenId} ${version} ${reservationId} ${amount} ${nowMs} ${expiresAtMs}`,
    );
    const replies = listOf(await run(connection, SCRIPTS.admit, keys.user(userId), args));
    return requests.map((request, index) => admissionOf(request, replies[index] ?? null));
  };
  const flush = () =>
    connection.together(() => {
      // Settlements first: a place that one request gives back may be the one that the next asks for.
      settlements.flush();
      admissions.flush();
    });
  const admissions = new TickBatches(reserve, MAX_BATCH, () => setImmediate(flush));

  const settle = async (
    userId: number,
    ended: readonly Settlement[],
  ): Promise<(number | undefined)[]> => {
    const args = ended.map(
      ({ tokenId, reservationId, amount, cost, served }) =>
        `${tokenId} ${reservationId} ${amount} ${cost} ${served ? 1 : 0}`,
    );
    const replies = listOf(await run(connection, SCRIPTS.settle, keys.user(userId), args));
    return replies.map((charged) => (charged === null ? undefined : numberOf(charged)));
  };
  const settlements = new TickBatches(settle, MAX_BATCH, () => setTimeout(flush, SETTLE_WITHIN_MS));

  return {
    async findToken(keyHash) {
      const place = await connection.answer(connection.client.get(keys.keyHash(keyHash)));
      if (place === null) return undefined;
      const [userId, tokenId] = pairOf(place);
      const [credential] = await readTokens(connection, keys, userId, [tokenId]);
      return credential;
    },
    admit: (request) => admissions.add(request.userId, request),
    settle: (settlement) => settlements.add(settlement.userId, settlement),
    flush,
  };
}

/** Reads a reply of `admit.lua`. */
function admissionOf(request: AdmitRequest, reply: Reply): Admission {
  if (reply === 1) return ADMITTED;
  if (typeof reply === 'string' && REFUSALS.has(reply)) {
    return { kind: 'refused', reason: reply as RefusalReason };
  }
  const [kind, ...rest] = listOf(reply);
  if (kind === 'stale') {
    const [userEnabled, ...fields] = rest;
    return { kind: 'stale', credential: credentialOf(request, userEnabled === 1, fields) };
  }
  const [limit, remaining, resetMs, retryAfterMs] = rest.map(numberOf);
  const rate: RateState = { limit: limit ?? 0, remaining: remaining ?? 0, resetMs: resetMs ?? 0 };
  if (kind === 1) return { kind: 'admitted', rate };
  return { kind: 'refused', reason: 'rate', retryAfterMs: retryAfterMs ?? 1, rate };
}
