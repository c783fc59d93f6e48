/**
 * Every key of the store. Keys that must change in one step lie in the same slot of a Cluster, by the part in braces. A
 * script is given the name of every key that it touches, so that a Cluster knows where to run it.
 */
export interface Keys {
  /**
   * Hash of an account; `:t:<id>` is a token, `:ts` its tokens, `:r` reservations, `:s` sessions, `:o` one-time code,
   * `:e` address to confirm, `:a` places, `:c` credits, `:i` identities.
   */
  user(userId: number): string;
  /** Zset of `<token id>:<limited>:<amount>:<id>` by expiry, and a member `-` that never expires. */
  userReservations(userId: number): string;
  userToken(userId: number, tokenId: number | string): string;
  /** Hash of the decisions on claims of codes, by code id. */
  userCredits(userId: number): string;
  /** Everything else that is deleted with a user, besides its tokens, their list and its sessions. */
  userOthers(userId: number): string[];
  /** Zset of the ids of a user's tokens. */
  userTokens(userId: number): string;
  userSessions(userId: number): string;
  /** Hash of where each session was made from and, with `:used` appended, when it was last used. */
  userLogins(userId: number): string;
  userOneTimeCode(userId: number): string;
  userAddressCode(userId: number): string;
  /** Set of the hashes of the names that stand for a user. */
  userIdentities(userId: number): string;
  /** String `<userId>` under the hash of a name; may point to a user that does not exist (any more). */
  identity(nameHash: string): string;
  userPlaces(userId: number): string;
  /** String `<userId>:<tokenId>` under the hash of an API key. May point to a token that does not exist (yet, or any more). */
  keyHash(keyHash: string): string;
  /** String `<userId>` under the hash of a session; may point to a session that does not exist. */
  session(idHash: string): string;
  /** Zset of `<tokenId>:<userId>` by token id: where a token is stored. May list tokens that do not exist. */
  readonly tokens: string;
  /** Next token id. */
  readonly tokenSequence: string;
  /** Common part of the account registry: `:names`, `:emails`, `:ids`, `:seq`. */
  readonly users: string;
  /** Common part of the codes: `:<id>`, `:hashes`, `:ids`, `:claims`, `:seq`. */
  readonly codes: string;
  readonly channelsVersion: string;
  /** Hash of records by channel id. */
  readonly channelRecords: string;
  /** Hash of switches by tag. */
  readonly channelSwitches: string;
  /** List of the last changes of both, as `<version before> <version after> <names>`. */
  readonly channelsLog: string;
  /** Hash of what each node has reported. */
  readonly channelNodes: string;
  /** Hash of what each node reports about itself for people, as `<expires ms> <record>`. */
  readonly nodesAbout: string;
  readonly channelSequence: string;
  /** Set by the first gateway that begins to use the store; missing once the store has been emptied. */
  readonly channelsMark: string;
  /** String: fingerprint of the key that credentials are sealed with. */
  readonly encryptionMark: string;
  /** Hash of the keys of gateways that start, by node. */
  readonly keyNotes: string;
  /** Pub/sub channel that announces every change of the channels. */
  readonly channelsChanged: string;
  /** Hash of a duty: `due` and `note`. */
  duty(name: string): string;
  /** Common part of deliveries: `:<id>`, `:all`, `:due`, `:waiting`, `:sent`, `:dead`, `:conditions`. */
  readonly deliveries: string;
  /** Common part of a log: `:entries`, `:times`, `:seq`, `:ids`, `:of:<user>`, `:writer:<id>`. */
  log(name: 'usage' | 'refused' | 'audit'): string;
  /**
   * Common part of the roll-ups: `:since`, `:writer:<id>`, `:<name>:<start>` for the owners of a bucket,
   * `:<name>:<start>:<owner>` for its rows.
   */
  readonly stats: string;
  /** List of the prices that were in force, as `<time> <prices>`. */
  readonly prices: string;
  /** Hash of the secrets that gateways share, by name. */
  readonly secrets: string;
  /** Common part of one kind of record that belongs to accounts: `:<id>`, `:of:<user>`, `:shared`, `:seq`. */
  owned(table: string): string;
  limit(name: string): string;
  /** Hash of what nodes have taken of a limited resource: `window`, `current`, `previous`. */
  share(name: string): string;
  /** Hash of the places that nodes hold of a limited resource, by node. */
  places(name: string): string;
  idempotency(key: string): string;
  /** Zset of the kept rankings in the part that a name belongs to; with `:<name>` appended it is a ranking. */
  replies(name: string): string;
}

/** The number of parts that kept rankings are spread over, each in one slot of a Cluster. */
export const REPLY_PARTS = 16;

export function createKeys(prefix: string): Keys {
  const user = (userId: number): string => `${prefix}{u${userId}}`;
  return {
    user,
    userReservations: (userId) => `${user(userId)}:r`,
    userToken: (userId, tokenId) => `${user(userId)}:t:${tokenId}`,
    userCredits: (userId) => `${user(userId)}:c`,
    userOthers: (userId) =>
      [':r', ':o', ':e', ':a', ':c', ':l', ':i'].map((end) => `${user(userId)}${end}`),
    userTokens: (userId) => `${user(userId)}:ts`,
    userSessions: (userId) => `${user(userId)}:s`,
    userLogins: (userId) => `${user(userId)}:l`,
    userOneTimeCode: (userId) => `${user(userId)}:o`,
    userAddressCode: (userId) => `${user(userId)}:e`,
    userIdentities: (userId) => `${user(userId)}:i`,
    identity: (nameHash) => `${prefix}n:${nameHash}`,
    userPlaces: (userId) => `${user(userId)}:a`,
    keyHash: (keyHash) => `${prefix}k:${keyHash}`,
    session: (idHash) => `${prefix}s:${idHash}`,
    tokens: `${prefix}tokens`,
    tokenSequence: `${prefix}tokens:seq`,
    users: `${prefix}{users}`,
    codes: `${prefix}{codes}`,
    channelsVersion: `${prefix}{ch}:version`,
    channelRecords: `${prefix}{ch}:all`,
    channelSwitches: `${prefix}{ch}:switches`,
    channelsLog: `${prefix}{ch}:log`,
    channelNodes: `${prefix}{ch}:nodes`,
    nodesAbout: `${prefix}{ch}:about`,
    channelSequence: `${prefix}{ch}:seq`,
    channelsMark: `${prefix}{ch}:mark`,
    encryptionMark: `${prefix}{ch}:key`,
    keyNotes: `${prefix}{ch}:starting`,
    channelsChanged: `${prefix}{ch}:changed`,
    duty: (name) => `${prefix}d:${name}`,
    deliveries: `${prefix}{alerts}`,
    log: (name) => `${prefix}{${name}}`,
    stats: `${prefix}{stats}`,
    prices: `${prefix}prices`,
    secrets: `${prefix}secrets`,
    owned: (table) => `${prefix}{${table}}`,
    share: (name) => `${prefix}h:${name}`,
    places: (name) => `${prefix}p:${name}`,
    limit: (name) => `${prefix}l:${name}`,
    idempotency: (key) => `${prefix}i:${key}`,
    replies: (name) => `${prefix}{rc${name.charCodeAt(0) % REPLY_PARTS}}`,
  };
}
