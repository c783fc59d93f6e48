import { inParts } from '../../moved-rows.js';
import type { MovedRow } from '../../moving.js';
import { CODES } from '../../redemption.js';
import type { LoginOrigin } from '../../sessions.js';
import { storedPolicy, TOKENS } from '../../tokens.js';
import { USERS } from '../../users.js';
import { pairOf } from '../token-records.js';
import { limitFields } from '../token-records.js';
import { fieldsFrom, type Moved, type Mover } from './rows.js';

type AccountTable = 'users' | 'tokens' | 'sessions' | 'identities' | 'codes';

export function movedAccounts({
  connection: { client, answer },
  keys,
  membersOf,
  rowsAt,
  hashAt,
  each,
}: Mover): Readonly<Record<AccountTable, Moved>> {
  /** What a user's reservations hold: of the balance, and of the budget. */
  async function heldBy(
    userId: number,
    tokenId?: number,
  ): Promise<{ quota: number; spent: number }> {
    const held = { quota: 0, spent: 0 };
    for (const member of await answer(client.zrange(keys.userReservations(userId), '0', '-1'))) {
      const [token, limited, amount] = member.split(':').map(Number);
      if (amount === undefined || (tokenId !== undefined && token !== tokenId)) continue;
      held.spent += amount;
      held.quota += tokenId === undefined || limited === 1 ? amount : 0;
    }
    return held;
  }

  function settled(
    row: MovedRow,
    balance: string,
    held: { quota: number; spent: number },
  ): MovedRow {
    const { budget_spent: spent, budget_until_ms: until } = row;
    return {
      ...row,
      [balance]: Number(row[balance]) + held.quota,
      budget_spent: Number(spent) - (Number(until) > 0 ? held.spent : 0),
    };
  }

  const users: Moved = {
    rows: () =>
      rowsAt(`${keys.users}:ids`, async (id) => {
        const row = await hashAt(keys.user(Number(id)), USERS);
        if (row === undefined) return undefined;
        return settled(row, 'quota', await heldBy(Number(id)));
      }),
    put: (rows) =>
      each(rows, (row) => {
        const { id = 0, username = '', email = null } = row;
        const [userId, claim] = [Number(id), `${id}:0:moved`];
        const fields = fieldsFrom(USERS, row);
        const address = String(email ?? '').toLowerCase();
        return [
          client.hset(keys.user(userId), ...fields, 'username_claim', claim, 'email_claim', claim),
          client.zadd(keys.userReservations(userId), '+inf', '-'),
          client.hset(`${keys.users}:names`, String(username).toLowerCase(), claim),
          ...(address === '' ? [] : [client.hset(`${keys.users}:emails`, address, claim)]),
          client.zadd(`${keys.users}:ids`, userId, `${userId}`),
        ];
      }),
  };

  const tokens: Moved = {
    rows: () =>
      rowsAt(keys.tokens, async (member) => {
        const [id, userId] = pairOf(member);
        const row = await hashAt(keys.userToken(userId, id), TOKENS);
        if (row === undefined) return undefined;
        const held = await heldBy(userId, id);
        return settled({ id, user_id: userId, ...row }, 'remain_quota', held);
      }),
    put: (rows) =>
      each(rows, (row) => {
        const [tokenId, userId] = [Number(row.id), Number(row.user_id)];
        const { key_hash: hash, old_key_hash: old, old_key_until_ms: until } = row;
        const pointer = `${userId}:${tokenId}`;
        return [
          client.hset(
            keys.userToken(userId, tokenId),
            ...fieldsFrom(TOKENS, row),
            ...['busy', 0, 'window', 0, 'current', 0, 'previous', 0],
            ...limitFields(storedPolicy(String(row.policy))),
          ),
          client.zadd(keys.userTokens(userId), tokenId, `${tokenId}`),
          client.zadd(keys.tokens, tokenId, `${tokenId}:${userId}`),
          client.set(keys.keyHash(String(hash)), pointer),
          ...(typeof old === 'string' && Number(until) > 0
            ? [client.set(keys.keyHash(old), pointer, 'PXAT', Number(until))]
            : []),
        ];
      }),
  };

  const sessions: Moved = {
    async *rows() {
      for await (const ids of membersOf(`${keys.users}:ids`)) {
        for (const id of ids.map(Number)) yield* inParts(await sessionsOf(id));
      }
    },
    put: (rows) =>
      each(rows, ({ id_hash: hash, user_id: user, kind, address, agent, source, ...row }) => {
        const [idHash, userId, endsAtMs] = [String(hash), Number(user), Number(row.ends_at_ms)];
        const record = `${kind}:${row.created_at_ms}:${row.expires_at_ms}:${endsAtMs}`;
        const origin = JSON.stringify({ address, agent, source });
        return [
          client.hset(keys.userSessions(userId), idHash, record),
          client.hset(
            keys.userLogins(userId),
            idHash,
            origin,
            `${idHash}:used`,
            Number(row.used_at_ms),
          ),
          client.set(keys.session(idHash), `${userId}`, 'PXAT', endsAtMs),
        ];
      }),
  };

  async function sessionsOf(userId: number): Promise<MovedRow[]> {
    const [records, known] = await Promise.all([
      answer(client.hgetall(keys.userSessions(userId))),
      answer(client.hgetall(keys.userLogins(userId))),
    ]);
    return Object.entries(records).map(([idHash, record]) => {
      const [kind = '', created, expires, ends] = record.split(':');
      const origin = JSON.parse(known[idHash] ?? '{}') as Partial<LoginOrigin>;
      return {
        ...{ id_hash: idHash, user_id: userId, kind, created_at_ms: Number(created) },
        ...{ expires_at_ms: Number(expires), ends_at_ms: Number(ends) },
        ...{
          address: origin.address ?? '',
          agent: origin.agent ?? '',
          source: origin.source ?? '',
        },
        used_at_ms: Number(known[`${idHash}:used`] ?? created),
      };
    });
  }

  const identities: Moved = {
    async *rows() {
      for await (const ids of membersOf(`${keys.users}:ids`)) {
        const found = ids.map(async (id) => {
          const hashes = await answer(client.smembers(keys.userIdentities(Number(id))));
          return hashes.map((hash) => ({ name_hash: hash, user_id: Number(id), until_ms: null }));
        });
        yield* inParts((await Promise.all(found)).flat());
      }
    },
    put: (rows) =>
      each(rows, ({ name_hash: name, user_id: id, until_ms: until }) => {
        const [hash, userId] = [String(name), Number(id)];
        return until === null
          ? [
              client.set(keys.identity(hash), `${userId}`),
              client.sadd(keys.userIdentities(userId), hash),
            ]
          : [client.set(keys.identity(hash), `${userId}`, 'PXAT', Number(until))];
      }),
  };

  const codes: Moved = {
    rows: () =>
      rowsAt(`${keys.codes}:ids`, async (id) => {
        const row = await hashAt(`${keys.codes}:${id}`, CODES);
        return row && { id: Number(id), ...row };
      }),
    put: (rows) =>
      each(rows, (row) => [
        client.hset(`${keys.codes}:${row.id}`, ...fieldsFrom(CODES, row), 'claim', 0),
        client.hset(`${keys.codes}:hashes`, String(row.code_hash), `${row.id}`),
        client.zadd(`${keys.codes}:ids`, Number(row.id), `${row.id}`),
      ]),
  };

  return { users, tokens, sessions, identities, codes };
}
