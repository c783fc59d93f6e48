import type { RateState } from '../../core/rate-limit.js';
import type { Admission, AdmissionStore, AdmitRequest } from '../store.js';
import { AdmissionBatches, type Answered, type Asked } from './admission-batches.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { listOf, missingTokens, numberOf, run, SCRIPTS, type Reply } from './scripts.js';
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

  /** What the script says of each; some have to be asked again, after others' reservations that have expired. */
  async function admissionsOf(
    userId: number,
    asked: readonly AdmitRequest[],
    replies: readonly Reply[],
  ): Promise<Admission[]> {
    const index = replies.findIndex((reply) => missingTokens(reply) !== undefined);
    if (index === -1)
      return asked.map((request, each) => admissionOf(request, replies[each] ?? null));
    const known = asked.slice(0, index);
    const rest = asked.slice(index);
    // Reading gives back what has expired, with all the keys that this needs.
    await readTokens(connection, keys, userId, [], rest[0]?.nowMs);
    const again = await send(userId, { settlements: [], admissions: rest });
    return [
      ...known.map((request, each) => admissionOf(request, replies[each] ?? null)),
      ...again.admissions,
    ];
  }
  const batches = new AdmissionBatches(send, connection.together);

  return {
    async findToken(keyHash) {
      const place = await connection.answer(connection.client.get(keys.keyHash(keyHash)));
      if (place === null) return undefined;
      const [userId, tokenId] = pairOf(place);
      const [credential] = await readTokens(connection, keys, userId, [tokenId]);
      // The id may have been given out again by a server that had lost the token of this key.
      return credential?.keyHash === keyHash ? credential : undefined;
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
    const credential = credentialOf(request, userEnabled === 1, fields);
    if (credential.keyHash !== request.keyHash) return { kind: 'refused', reason: 'unknown' };
    return { kind: 'stale', credential };
  }
  const [limit, remaining, resetMs, retryAfterMs] = rest.map(numberOf);
  const rate: RateState = { limit: limit ?? 0, remaining: remaining ?? 0, resetMs: resetMs ?? 0 };
  if (kind === 1) return { kind: 'admitted', rate };
  return { kind: 'refused', reason: 'rate', retryAfterMs: retryAfterMs ?? 1, rate };
}
