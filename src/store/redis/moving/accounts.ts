import { inParts } from '../../moved-rows.js';
import type { MovedRow } from '../../moving.js';
import type { LoginOrigin } from '../../sessions.js';
import { storedPolicy } from '../../tokens.js';
import { pairOf } from '../token-records.js';
import { policyFields } from '../tokens.js';
import { fieldsFrom, type FieldSpec, type Moved, type Mover } from './rows.js';

const USER: readonly FieldSpec[] = [
  ['id', 'id', 0],
  ['username', 'username', ''],
  ['email', 'email', null],
  ['display_name', 'display', ''],
  ['password_hash', 'password', ''],
  ['role', 'role', 0],
  ['enabled', 'enabled', 0],
  ['quota', 'quota', 0],
  ['used_quota', 'used', 0],
  ['request_count', 'requests', 0],
  ['created_time', 'created', 0],
  ['last_login_time', 'login', 0],
  ['budget', 'budget', 0],
  ['budget_period', 'period', 'month'],
  ['budget_time_zone', 'zone', 'UTC'],
  ['budget_spent', 'spent', 0],
  ['budget_until_ms', 'until', 0],
  ['labels', 'labels', ''],
];

const TOKEN: readonly FieldSpec[] = [
  ['name', 'name', ''],
  ['key_hash', 'hash', ''],
  ['key_hint', 'hint', ''],
  ['enabled', 'enabled', 0],
  ['created_time', 'created', 0],
  ['accessed_time', 'accessed', 0],
  ['expired_time', 'expires', 0],
  ['remain_quota', 'remain', 0],
  ['unlimited_quota', 'unlimited', 0],
  ['used_quota', 'used', 0],
  ['version', 'version', 0],
  ['policy', 'policy', '{}'],
  ['budget_spent', 'spent', 0],
  ['budget_until_ms', 'until', 0],
  ['old_key_hash', 'oldhash', null],
  ['old_key_until_ms', 'olduntil', 0],
];

const CODE: readonly FieldSpec[] = [
  ['name', 'name', ''],
  ['quota', 'quota', 0],
  ['status', 'status', ''],
  ['code_hash', 'hash', ''],
  ['code_hint', 'hint', ''],
  ['created_by', 'creator', 0],
  ['created_time', 'created', 0],
  ['redeemed_time', 'redeemed', 0],
  ['used_user_id', 'user', 0],
  ['expired_time', 'expires', 0],
  ['batch_id', 'batch', ''],
];

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
        const row = await hashAt(keys.user(Number(id)), USER);
        if (row === undefined) return undefined;
        const email = row.email === '' ? null : (row.email ?? null);
        return settled({ ...row, email }, 'quota', await heldBy(Number(id)));
      }),
    put: (rows) =>
      each(rows, ({ id = 0, username = '', email = null, ...row }) => {
        const [userId, claim] = [Number(id), `${id}:0:moved`];
        const fields = fieldsFrom('users', { id, username, email: email ?? '', ...row }, USER);
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
        const row = await hashAt(keys.userToken(userId, id), TOKEN);
        if (row === undefined) return undefined;
        const held = await heldBy(userId, id);
        return settled({ id, user_id: userId, ...row }, 'remain_quota', held);
      }),
    put: (rows) =>
      each(rows, ({ id, user_id: user, ...row }) => {
        const [tokenId, userId] = [Number(id), Number(user)];
        const { key_hash: hash, old_key_hash: old, old_key_until_ms: until } = row;
        const pointer = `${userId}:${tokenId}`;
        return [
          client.hset(
            keys.userToken(userId, tokenId),
            ...fieldsFrom('tokens', row, TOKEN),
            ...['busy', 0, 'window', 0, 'current', 0, 'previous', 0],
            ...policyFields(storedPolicy(String(row.policy))),
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
        const row = await hashAt(`${keys.codes}:${id}`, CODE);
        return row && { id: Number(id), ...row };
      }),
    put: (rows) =>
      each(rows, ({ id, ...row }) => [
        client.hset(`${keys.codes}:${id}`, ...fieldsFrom('codes', row, CODE), 'claim', 0),
        client.hset(`${keys.codes}:hashes`, String(row.code_hash), `${id}`),
        client.zadd(`${keys.codes}:ids`, Number(id), `${id}`),
      ]),
  };

  return { users, tokens, sessions, identities, codes };
}
