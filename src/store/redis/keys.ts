/** The number of parts that kept rankings are spread over, each in one slot of a Cluster. */
export const REPLY_PARTS = 16;

/**
 * Every key of the store. Keys that must change in one step lie in the same slot of a Cluster, by the part in braces. A
 * script is given the name of every key that it touches, so that a Cluster knows where to run it.
 */
export function createKeys(prefix: string) {
  const user = (userId: number): string => `${prefix}{u${userId}}`;
  return {
    /**
     * Hash of an account; `:t:<id>` is a token, `:ts` its tokens, `:r` reservations, `:s` sessions, `:o` one-time code,
     * `:e` address to confirm, `:a` places, `:c` credits, `:i` identities.
     */
    user,
    /** Zset of `<token id>:<limited>:<amount>:<id>` by expiry, and a member `-` that never expires. */
    userReservations: (userId: number) => `${user(userId)}:r`,
    userToken: (userId: number, tokenId: number | string) => `${user(userId)}:t:${tokenId}`,
    /** Hash of the decisions on claims of codes, by code id. */
    userCredits: (userId: number) => `${user(userId)}:c`,
    /** Everything else that is deleted with a user, besides its tokens, their list and its sessions. */
    userOthers: (userId: number) =>
      [':r', ':o', ':e', ':a', ':c', ':l', ':i'].map((end) => `${user(userId)}${end}`),
    /** Zset of the ids of a user's tokens. */
    userTokens: (userId: number) => `${user(userId)}:ts`,
    userSessions: (userId: number) => `${user(userId)}:s`,
    /** Hash of where each session was made from and, with `:used` appended, when it was last used. */
    userLogins: (userId: number) => `${user(userId)}:l`,
    userOneTimeCode: (userId: number) => `${user(userId)}:o`,
    userAddressCode: (userId: number) => `${user(userId)}:e`,
    /** Set of the hashes of the names that stand for a user. */
    userIdentities: (userId: number) => `${user(userId)}:i`,
    /** String `<userId>` under the hash of a name; may point to a user that does not exist (any more). */
    identity: (nameHash: string) => `${prefix}n:${nameHash}`,
    userPlaces: (userId: number) => `${user(userId)}:a`,
    /** String `<userId>:<tokenId>` under the hash of an API key. May point to a token that does not exist (yet, or any more). */
    keyHash: (keyHash: string) => `${prefix}k:${keyHash}`,
    /** String `<userId>` under the hash of a session; may point to a session that does not exist. */
    session: (idHash: string) => `${prefix}s:${idHash}`,
    /** Zset of `<tokenId>:<userId>` by token id: where a token is stored. May list tokens that do not exist. */
    tokens: `${prefix}tokens`,
    /** Next token id. */
    tokenSequence: `${prefix}tokens:seq`,
    /** Common part of the account registry: `:names`, `:emails`, `:ids`, `:seq`. */
    users: `${prefix}{users}`,
    /** Common part of the codes: `:<id>`, `:hashes`, `:ids`, `:claims`, `:seq`. */
    codes: `${prefix}{codes}`,
    channelsVersion: `${prefix}{ch}:version`,
    /** Hash of records by channel id. */
    channelRecords: `${prefix}{ch}:all`,
    /** Hash of switches by tag. */
    channelSwitches: `${prefix}{ch}:switches`,
    /** List of the last changes of both, as `<version before> <version after> <names>`. */
    channelsLog: `${prefix}{ch}:log`,
    /** Hash of what each node has reported. */
    channelNodes: `${prefix}{ch}:nodes`,
    /** Hash of what each node reports about itself for people, as `<expires ms> <record>`. */
    nodesAbout: `${prefix}{ch}:about`,
    channelSequence: `${prefix}{ch}:seq`,
    /** Set by the first gateway that begins to use the store; missing once the store has been emptied. */
    channelsMark: `${prefix}{ch}:mark`,
    /** String: fingerprint of the key that credentials are sealed with. */
    encryptionMark: `${prefix}{ch}:key`,
    /** Hash of the keys of gateways that start, by node. */
    keyNotes: `${prefix}{ch}:starting`,
    /** Pub/sub channel that announces every change of the channels. */
    channelsChanged: `${prefix}{ch}:changed`,
    /** Hash of a duty: `due` and `note`. */
    duty: (name: string) => `${prefix}d:${name}`,
    /** Common part of deliveries: `:<id>`, `:all`, `:due`, `:waiting`, `:sent`, `:dead`, `:conditions`. */
    deliveries: `${prefix}{alerts}`,
    /** Common part of a log: `:entries`, `:times`, `:seq`, `:ids`, `:of:<user>`, `:writer:<id>`. */
    log: (name: 'usage' | 'refused' | 'audit') => `${prefix}{${name}}`,
    /**
     * Common part of the roll-ups: `:since`, `:writer:<id>`, `:<name>:<start>` for the owners of a bucket,
     * `:<name>:<start>:<owner>` for its rows.
     */
    stats: `${prefix}{stats}`,
    /** List of the prices that were in force, as `<time> <prices>`. */
    prices: `${prefix}prices`,
    /** Hash of the secrets that gateways share, by name. */
    secrets: `${prefix}secrets`,
    /** Common part of one kind of record that belongs to accounts: `:<id>`, `:of:<user>`, `:shared`, `:seq`. */
    owned: (table: string) => `${prefix}{${table}}`,
    /** Hash of what nodes have taken of a limited resource: `window`, `current`, `previous`. */
    share: (name: string) => `${prefix}h:${name}`,
    /** Hash of the places that nodes hold of a limited resource, by node. */
    places: (name: string) => `${prefix}p:${name}`,
    limit: (name: string) => `${prefix}l:${name}`,
    idempotency: (key: string) => `${prefix}i:${key}`,
    /** Zset of the kept rankings in the part that a name belongs to; with `:<name>` appended it is a ranking. */
    replies: (name: string) => `${prefix}{rc${name.charCodeAt(0) % REPLY_PARTS}}`,
  };
}

export type Keys = ReturnType<typeof createKeys>;
