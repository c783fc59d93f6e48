import type { RateState } from '../../core/rate-limit.js';
import type { Admission, AdmissionStore, AdmitRequest } from '../store.js';
import { AdmissionBatches, type Answered, type Asked } from './admission-batches.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, numberOf, run, SCRIPTS, type Reply } from './scripts.js';
import { credentialOf, pairOf, readTokens } from './token-records.js';

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
  const send = async (userId: number, { settlements, admissions }: Asked): Promise<Answered> => {
    // One argument for each: five or six would cost the client more than the script's taking one apart.
    const args = [String(settlements.length)];
    for (const { tokenId, reservationId, amount, cost, served } of settlements) {
      args.push(`${tokenId} ${reservationId} ${amount} ${cost} ${served ? 1 : 0}`);
    }
    for (const { tokenId, version, reservationId, amount, nowMs, expiresAtMs } of admissions) {
      args.push(`${tokenId} ${version} ${reservationId} ${amount} ${nowMs} ${expiresAtMs}`);
    }
    const reply = listOf(await run(connection, SCRIPTS.admission, keys.user(userId), args));
    const [charged, admitted] = [listOf(reply[0]), listOf(reply[1])];
    return {
      charged: charged.map((units) => (units === null ? undefined : numberOf(units))),
      admissions: admissions.map((request, index) => admissionOf(request, admitted[index] ?? null)),
    };
  };
  const batches = new AdmissionBatches(send, connection.together);

  return {
    async findToken(keyHash) {
      const place = await connection.answer(connection.client.get(keys.keyHash(keyHash)));
      if (place === null) return undefined;
      const [userId, tokenId] = pairOf(place);
      const [credential] = await readTokens(connection, keys, userId, [tokenId]);
      return credential;
    },
    admit: (request) => batches.admit(request),
    settle: (settlement) => batches.settle(settlement),
    flush: () => batches.flush(),
  };
}

/** Reads what `admission.lua` says of one admission. */
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
