/** A ranking as text that one node keeps for all. */
export interface KeptReply {
  readonly text: string;
  /** How much longer it is kept. */
  readonly leftMs: number;
}

/** Rankings that nodes keep for each other, under names that reveal nothing about the request. */
export interface ReplyStore {
  /** The reply kept under a name; `undefined` if there is none, or it has expired. */
  findReply(name: string, nowMs: number): Promise<KeptReply | undefined>;
  /** Keeps a text for `forMs`, replacing an earlier one. Beyond about `most` texts, the oldest or the first to expire go. */
  keepReply(name: string, text: string, nowMs: number, forMs: number, most: number): Promise<void>;
}
