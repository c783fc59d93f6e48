/**
 * Every key of the store. What must change in one step lies in one slot of a Cluster, by the part in braces; scripts append
 * the endings below a user's key themselves, and headers of the scripts say which.
 */
export interface Keys {
  /** Hash of an account; `:t:<id>` a token, `:ts` its tokens, `:r` reservations, `:s` sessions, `:o` one-time code, `:c` credits. */
  user(userId: number): string;
  /** Zset of the ids of a user's tokens. */
  userTokens(userId: number): string;
  userSessions(userId: number): string;
  userOneTimeCode(userId: number): string;
  /** String `<userId>:<tokenId>` under the hash of an API key. May point at a token that is not there (yet, or any more). */
  keyHash(keyHash: string): string;
  /** String `<userId>` under the hash of a session; may point at a session that is not there. */
  session(idHash: string): string;
  /** Zset of `<tokenId>:<userId>` by token id: where a token lives. May be ahead of the tokens. */
  readonly tokens: string;
  /** Next token id. */
  readonly tokenSequence: string;
  /** Common part of the account registry: `:names`, `:emails`, `:ids`, `:seq`. */
  readonly users: string;
  /** Common part of the codes: `:<id>`, `:hashes`, `:ids`, `:claims`, `:seq`. */
  readonly codes: string;
  /** Common part of the channels: `:all`, `:switches`, `:version`, `:nodes`, `:seq`. */
  readonly channels: string;
  /** Pub/sub channel that hears of every change of the channels. */
  readonly channelsChanged: string;
  /** Common part of a log: `:entries`, `:times`, `:seq`, `:of:<user>`. */
  log(name: 'usage' | 'audit'): string;
  limit(name: string): string;
  idempotency(key: string): string;
}

export function createKeys(prefix: string): Keys {
  const user = (userId: number): string => `${prefix}{u${userId}}`;
  return {
    user,
    userTokens: (userId) => `${user(userId)}:ts`,
    userSessions: (userId) => `${user(userId)}:s`,
    userOneTimeCode: (userId) => `${user(userId)}:o`,
    keyHash: (keyHash) => `${prefix}k:${keyHash}`,
    session: (idHash) => `${prefix}s:${idHash}`,
    tokens: `${prefix}tokens`,
    tokenSequence: `${prefix}tokens:seq`,
    users: `${prefix}{users}`,
    codes: `${prefix}{codes}`,
    channels: `${prefix}{ch}`,
    channelsChanged: `${prefix}{ch}:changed`,
    log: (name) => `${prefix}{${name}}`,
    limit: (name) => `${prefix}l:${name}`,
    idempotency: (key) => `${prefix}i:${key}`,
  };
}
