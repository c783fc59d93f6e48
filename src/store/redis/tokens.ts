import { hasLabel } from '../../core/labels.js';
import { MAX_QUOTA } from '../../core/quota.js';
import { present } from '../../core/records.js';
import { allowsModel, NEVER_EXPIRES, tokenStatus, type Token } from '../../core/token.js';
import {
  StoreUnavailableError,
  type NewToken,
  type Page,
  type RolledKey,
  type TokenChange,
  type TokenQuery,
  type TokenStore,
  type TokenUpdate,
} from '../store.js';
import { change, type Step } from './change.js';
import type { Connection } from './connection.js';
import type { Keys } from './keys.js';
import { comparing } from '../page.js';
import { newStoredToken, TOKEN_ORDERS, tokenOf, TOKENS } from '../tokens.js';
import { pageOf } from './listing.js';
import { tokenVersion } from '../version.js';
import { listOf, numberOf, runWithTokens, SCRIPTS, textOf, type Reply } from './scripts.js';
import { limitFields, pairOf, quotaArguments, readTokens, storedTokenOf } from './token-records.js';

/** A round is lost only to another change of the same token. */
const MAX_ROUNDS = 100;

export function openTokens(connection: Connection, keys: Keys): TokenStore {
  const { client, answer } = connection;

  async function ownerOf(tokenId: number): Promise<number | undefined> {
    const [place] = await answer(client.zrange(keys.tokens, `${tokenId}`, `${tokenId}`, 'BYSCORE'));
    return place === undefined ? undefined : pairOf(place)[1];
  }

  async function read(tokenId: number, nowMs: number): Promise<Token | undefined> {
    const userId = await ownerOf(tokenId);
    if (userId === undefined) return undefined;
    const [credential] = await readTokens(connection, keys, userId, [tokenId], nowMs);
    return credential?.token;
  }

  async function create(
    token: NewToken,
    most: number,
    nowMs: number,
  ): Promise<Token | 'too_many' | undefined> {
    const { userId, keyHash } = token;
    const id = await answer(client.incr(keys.tokenSequence));
    // The pointers to the record are written first: after a crash in between they lead nowhere, which counts as no token.
    await claimKey(keyHash, userId, id);
    await answer(client.zadd(keys.tokens, id, `${id}:${userId}`));
    const stored = { ...newStoredToken(token, nowMs), id };
    const looks: Step[] = [
      ['EXISTS', keys.user(userId)],
      ['ZCARD', keys.userTokens(userId)],
    ];
    const fields = [
      ...TOKENS.toFields(stored),
      ...limitFields(token.policy),
      ...['busy', 0, 'window', 0, 'current', 0, 'previous', 0],
    ];
    const created = await change<'created' | 'too_many' | undefined>(
      connection,
      looks,
      nowMs,
      ([isThere, count]) => {
        if (isThere === 0) return { result: undefined };
        if (numberOf(count) >= most) return { result: 'too_many' };
        const writes: Step[] = [
          ['HSET', keys.userToken(userId, id), ...fields],
          ['ZADD', keys.userTokens(userId), id, id],
        ];
        return { result: 'created', writes };
      },
    );
    if (created !== 'created') {
      await forgetKey(keyHash);
      await answer(client.zrem(keys.tokens, `${id}:${userId}`));
      return created;
    }
    return tokenOf(stored);
  }

  async function forgetKey(keyHash: Reply): Promise<void> {
    if (typeof keyHash === 'string') await answer(client.del(keys.keyHash(keyHash)));
  }

  async function claimKey(keyHash: string, userId: number, id: number): Promise<void> {
    const claimed = await answer(client.set(keys.keyHash(keyHash), `${userId}:${id}`, 'NX'));
    if (claimed === null) throw new Error('A token with this key exists already.');
  }

  async function roll(
    id: number,
    { keyHash, keyHint, keepOldMs }: RolledKey,
    nowMs: number,
    ownerId: number | undefined,
  ): Promise<Token | undefined> {
    const userId = await ownerOf(id);
    if (userId === undefined || (ownerId !== undefined && ownerId !== userId)) return undefined;
    await claimKey(keyHash, userId, id);
    const key = keys.userToken(userId, id);
    const before = await change<readonly Reply[] | undefined>(
      connection,
      [['HMGET', key, 'hash', 'oldhash']],
      nowMs,
      ([found]) => {
        const hashes = listOf(found);
        if (typeof hashes[0] !== 'string') return { result: undefined };
        const old: Step =
          keepOldMs > 0
            ? ['HSET', key, 'oldhash', hashes[0], 'olduntil', nowMs + keepOldMs]
            : ['HDEL', key, 'oldhash', 'olduntil'];
        const fields = ['hash', keyHash, 'hint', keyHint, 'version', tokenVersion()];
        return { result: hashes, writes: [['HSET', key, ...fields], old] };
      },
    );
    if (before === undefined) {
      await forgetKey(keyHash);
      return undefined;
    }
    const [last, older] = before;
    await forgetKey(older ?? null);
    // A time of 0 ends it at once.
    await answer(client.pexpire(keys.keyHash(textOf(last)), keepOldMs));
    return read(id, nowMs);
  }

  async function update(
    tokenId: number,
    change: TokenChange,
    nowMs: number,
    ownerId: number | undefined,
    when?: (token: Token) => boolean,
  ): Promise<TokenUpdate> {
    const userId = await ownerOf(tokenId);
    if (userId === undefined || (ownerId !== undefined && ownerId !== userId)) {
      return { kind: 'not_found' };
    }
    const { name, enabled, expiredTime, unlimitedQuota } = change;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const policy = await changedPolicy(tokenId, userId, change.policy, when);
      if (policy === undefined) return { kind: 'not_found' };
      if (policy === 'changed') return { kind: 'conflict', reason: policy };
      const tokenKey = (id: number | string): string => keys.userToken(userId, id);
      const reply = await runWithTokens(
        connection,
        SCRIPTS.changeToken,
        [keys.user(userId), keys.userReservations(userId), tokenKey(tokenId)],
        tokenKey,
        [
          ...[connection.told(nowMs), MAX_QUOTA, tokenVersion(), policy.version],
          ...quotaArguments(change.quota),
          ...TOKENS.toFields(present({ name, enabled, expiredTime, unlimitedQuota })),
          ...policy.fields,
        ],
      );
      switch (reply) {
        case null:
          return { kind: 'not_found' };
        case 'retry':
          break;
        case 'quota_range':
        case 'expired':
        case 'exhausted':
          return { kind: 'conflict', reason: reply };
        default: {
          const stored = storedTokenOf({ tokenId, userId }, reply);
          return stored === undefined
            ? { kind: 'not_found' }
            : { kind: 'updated', token: tokenOf(stored) };
        }
      }
    }
    throw new StoreUnavailableError('The token keeps changing.');
  }

  /**
   * Judges and merges here, for one version of the token only: Lua's JSON cannot tell an empty list from an empty object.
   */
  async function changedPolicy(
    tokenId: number,
    userId: number,
    change: TokenChange['policy'],
    when: ((token: Token) => boolean) | undefined,
  ): Promise<{ version: number | ''; fields: (string | number)[] } | 'changed' | undefined> {
    if (change === undefined && when === undefined) return { version: '', fields: [] };
    const [credential] = await readTokens(connection, keys, userId, [tokenId]);
    if (credential === undefined) return undefined;
    const { token, version } = credential;
    if (when?.(token) === false) return 'changed';
    if (change === undefined) return { version, fields: [] };
    const policy = { ...token.policy, ...change };
    return { version, fields: [...TOKENS.toFields({ policy }), ...limitFields(policy)] };
  }

  async function list(query: TokenQuery, nowMs: number): Promise<Page<Token>> {
    const { userId, keyHash, offset, limit } = query;
    const name = query.name?.toLowerCase();
    const { status, model, tag, label, expiresBefore, unusedSince } = query;
    const isPlain = [name, status, model, tag, label, expiresBefore, unusedSince].every(
      (wanted) => wanted === undefined,
    );
    const matches = (token: Token): boolean =>
      (userId === undefined || token.userId === userId) &&
      (name === undefined || token.name.toLowerCase().includes(name)) &&
      (status === undefined || tokenStatus(token, nowMs) === status) &&
      (model === undefined || allowsModel(token.policy, model)) &&
      (tag === undefined || token.policy.tags.includes(tag)) &&
      (label === undefined || hasLabel(token.policy.labels, label)) &&
      (expiresBefore === undefined ||
        (token.expiredTime !== NEVER_EXPIRES && token.expiredTime < expiresBefore)) &&
      (unusedSince === undefined || Math.max(token.createdTime, token.accessedTime) < unusedSince);
    if (keyHash !== undefined) {
      const place = await answer(client.get(keys.keyHash(keyHash)));
      const token = place === null ? undefined : await read(pairOf(place)[1], nowMs);
      const found = token !== undefined && matches(token) ? [token] : [];
      return { items: found.slice(offset, offset + limit), total: found.length };
    }
    const placeOf = (member: string): readonly [number, number] =>
      userId === undefined ? pairOf(member) : [Number(member), userId];
    const listing = {
      key: userId === undefined ? keys.tokens : keys.userTokens(userId),
      read: (members: readonly string[]) => readMany(members.map(placeOf), nowMs),
    };
    const compare = query.order && comparing(TOKEN_ORDERS, query.order);
    return pageOf(connection, listing, { offset, limit }, isPlain ? undefined : matches, compare);
  }

  /** Reads tokens user by user, and returns them in the order of `places`. */
  async function readMany(
    places: readonly (readonly [number, number])[],
    nowMs: number,
  ): Promise<Token[]> {
    const idsByUser = new Map<number, number[]>();
    for (const [tokenId, userId] of places) {
      idsByUser.set(userId, [...(idsByUser.get(userId) ?? []), tokenId]);
    }
    const read = await Promise.all(
      [...idsByUser].map(([userId, ids]) => readTokens(connection, keys, userId, ids, nowMs)),
    );
    const tokens = new Map(read.flat().map(({ token }) => [token.id, token]));
    return places.flatMap(([tokenId]) => tokens.get(tokenId) ?? []);
  }

  return {
    async createToken(token, nowMs) {
      const created = await create(token, Number.MAX_SAFE_INTEGER, nowMs);
      return created === 'too_many' ? undefined : created;
    },
    createTokenWithin: create,
    getToken: read,
    listTokens: list,
    updateToken: update,
    rollToken: roll,
    async deleteToken(tokenId, ownerId) {
      const userId = await ownerOf(tokenId);
      if (userId === undefined || (ownerId !== undefined && ownerId !== userId)) return false;
      const key = keys.userToken(userId, tokenId);
      const looks = [['HMGET', key, 'hash', 'oldhash']] as const;
      // Its reservations stay and are settled with the user.
      const hashes = await change(connection, looks, 0, ([found]) => ({
        result: listOf(found),
        writes: [
          ['DEL', key],
          ['ZREM', keys.userTokens(userId), tokenId],
        ],
      }));
      if (hashes[0] === null) return false;
      for (const keyHash of hashes) await forgetKey(keyHash);
      await answer(client.zrem(keys.tokens, `${tokenId}:${userId}`));
      return true;
    },
  };
}
