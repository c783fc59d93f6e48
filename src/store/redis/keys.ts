/**
 * Every key of the store. What must change in one step lies in one slot of a Cluster, by the part in braces;
 * whatever a script touches is named to it, so that a Cluster knows where it has to run.
 */
export interface Keys {
  /** Hash of an account; `:t:<id>` a token, `:ts` its tokens, `:r` reservations, `:s` sessions, `:o` one-time code, `:e` address to confirm, `:a` places, `:c` credits. */
  user(userId: number): string;
  /** Zset of `<token id>:<limited>:<amount>:<id>` by when it expires, and a member `-` that never does. */
  userReservations(userId: number): string;
  userToken(userId: number, tokenId: number | string): string;
  /** Hash of how claims of codes were decided, by code id. */
  userCredits(userId: number): string;
  /** Everything else that goes with a user, beside its tokens, their list and its sessions. */
  userOthers(userId: number): string[];
  /** Zset of the ids of a user's tokens. */
  userTokens(userId: number): string;
  userSessions(userId: number): string;
  userOneTimeCode(userId: number): string;
  userAddressCode(userId: number): string;
  userPlaces(userId: number): string;
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
  readonly channelsVersion: string;
  /** Hash of records by channel id. */
  readonly channelRecords: string;
  /** Hash of switches by tag. */
  readonly channelSwitches: string;
  /** Hash of what each node has reported. */
  readonly channelNodes: string;
  /** Hash of what each node reports about itself for people, as `<expires ms> <record>`. */
  readonly nodesAbout: string;
  readonly channelSequence: string;
  /** There as long as the store is what a gateway has begun to work with. */
  readonly channelsMark: string;
  /** String: fingerprint of the key that credentials are sealed with. */
  readonly encryptionMark: string;
  /** Pub/sub channel that hears of every change of the channels. */
  readonly channelsChanged: string;
  /** Hash of a duty: `due` and `note`. */
  duty(name: string): string;
  /** Common part of a log: `:entries`, `:times`, `:seq`, `:ids`, `:of:<user>`. */
  log(name: 'usage' | 'refused' | 'audit'): string;
  /** Common part of the roll-ups: `:since`, `:writer:<id>`, `:<name>:<start>` the owners of a bucket, `:<name>:<start>:<owner>` its rows. */
  readonly stats: string;
  limit(name: string): string;
  /** Hash of what nodes have taken of something that is limited: `window`, `current`, `previous`. */
  share(name: string): string;
  idempotency(key: string): string;
  /** Sorted set of kept rankings, of the part that a name falls into; `:<name>` behind it is a ranking. */
  replies(name: string): string;
}

/** Kept rankings are spread over so many slots of a Cluster. */
export const REPLY_PARTS = 16;

export function createKeys(prefix: string): Keys {
  const user = (userId: number): string => `${prefix}{u${userId}}`;
  return {
    user,
    userReservations: (userId) => `${user(userId)}:r`,
    userToken: (userId, tokenId) => `${user(userId)}:t:${tokenId}`,
    userCredits: (userId) => `${user(userId)}:c`,
    userOthers: (userId) => [':r', ':o', ':e', ':a', ':c'].map((end) => `${user(userId)}${end}`),
    userTokens: (userId) => `${user(userId)}:ts`,
    userSessions: (userId) => `${user(userId)}:s`,
    userOneTimeCode: (userId) => `${user(userId)}:o`,
    userAddressCode: (userId) => `${user(userId)}:e`,
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
    channelNodes: `${prefix}{ch}:nodes`,
    nodesAbout: `${prefix}{ch}:about`,
    channelSequence: `${prefix}{ch}:seq`,
    channelsMark: `${prefix}{ch}:mark`,
    encryptionMark: `${prefix}{ch}:key`,
    channelsChanged: `${prefix}{ch}:changed`,
    duty: (name) => `${prefix}d:${name}`,
    log: (name) => `${prefix}{${name}}`,
    stats: `${prefix}{stats}`,
    share: (name) => `${prefix}h:${name}`,
    limit: (name) => `${prefix}l:${name}`,
    idempotency: (key) => `${prefix}i:${key}`,
    replies: (name) => `${prefix}{rc${name.charCodeAt(0) % REPLY_PARTS}}`,
  };
}
