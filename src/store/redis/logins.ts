import { randomBytes } from 'node:crypto';
import type { User, UserUpdate } from '../store.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { pairOf } from './token-records.js';

/** A claim of a name that is this old and whose account does not bear the name is left over from a crash. */
const CLAIM_MS = 30_000;

const MARK_BYTES = 8;

/** A name and an address, in lower case, or ''. */
export interface Logins {
  readonly username: string;
  readonly email: string;
}

type Kind = 'names' | 'emails';
type Taken = Extract<UserUpdate, { kind: 'taken' }>;

/** In place of the claims that logins were taken with: '' matches any claim that the account holds. */
export const ANY_CLAIM: Logins = { username: '', email: '' };

/** `<id>:<ms>:<mark>`: each is unique, so that releasing one cannot hit a later one. */
export function newClaim(id: number, nowMs: number): string {
  return `${id}:${nowMs}:${randomBytes(MARK_BYTES).toString('hex')}`;
}

/** Which account has which name and address, in one slot for all. */
export function openRegistry(
  connection: Connection,
  { users }: Keys,
  read: (id: number, nowMs: number) => Promise<User | undefined>,
) {
  const [names, emails, ids] = [`${users}:names`, `${users}:emails`, `${users}:ids`];
  const looksAt = ({ username, email }: Logins): [Step, Step] => [
    ['HGET', names, username],
    ['HGET', emails, email],
  ];

  /** Resolves to the claim that is in the way, if there is one. */
  function take(id: number, logins: Logins, mark: string, stale: ReadonlySet<string>) {
    const { username, email } = logins;
    const isFree = (held: unknown): boolean =>
      typeof held !== 'string' || stale.has(held) || pairOf(held)[0] === id;
    return change<{ readonly kind: Kind; readonly held: string } | undefined>(
      connection,
      looksAt(logins),
      0,
      ([name, address]) => {
        if (username !== '' && !isFree(name)) {
          return { result: { kind: 'names', held: String(name) } };
        }
        if (email !== '' && !isFree(address)) {
          return { result: { kind: 'emails', held: String(address) } };
        }
        const writes: Step[] = [
          ...(username === '' ? [] : [['HSET', names, username, mark] as const]),
          ...(email === '' ? [] : [['HSET', emails, email, mark] as const]),
          ['ZADD', ids, id, id],
        ];
        return { result: undefined, writes };
      },
    );
  }

  return {
    /** Claims names for an account, all or none; takes over claims that are old and whose names no account bears. */
    claim: async (
      id: number,
      logins: Logins,
      mark: string,
      nowMs: number,
    ): Promise<Taken | undefined> => {
      const stale = new Set<string>();
      for (;;) {
        const inTheWay = await take(id, logins, mark, stale);
        if (inTheWay === undefined) return undefined;
        const { kind, held } = inTheWay;
        const [holderId, claimedAtMs] = pairOf(held);
        const holder = await read(holderId, nowMs);
        const [field, borne] =
          kind === 'names'
            ? (['username', holder?.username] as const)
            : (['email', holder?.email] as const);
        const inUse = borne?.toLowerCase() === logins[field];
        if (inUse || nowMs - claimedAtMs < CLAIM_MS) return { kind: 'taken', field };
        stale.add(held);
      }
    },

    /** Releases what the account holds by these claims; `isGone` if the account no longer exists. */
    release: async (id: number, logins: Logins, claims: Logins, isGone: boolean): Promise<void> => {
      await change(connection, looksAt(logins), 0, ([name, address]) => {
        const isHeld = (held: unknown, claim: string): boolean =>
          typeof held === 'string' && pairOf(held)[0] === id && (claim === '' || claim === held);
        const writes: Step[] = [
          ...(isHeld(name, claims.username) ? [['HDEL', names, logins.username] as const] : []),
          ...(isHeld(address, claims.email) ? [['HDEL', emails, logins.email] as const] : []),
          ...(isGone ? [['ZREM', ids, id] as const] : []),
        ];
        return { result: undefined, writes };
      });
    },

    /** The claim on a name or an address. */
    holder: (kind: Kind, login: string): Promise<string | null> =>
      connection.answer(connection.client.hget(`${users}:${kind}`, login)),
  };
}
