/** A ranking as text that one node keeps for all. */
export interface KeptReply {
  readonly text: string;
  /** How much longer it is kept. */
  readonly leftMs: number;
}

/** Rankings that nodes keep for each other, under names that say nothing about what was asked. */
export interface ReplyStore {
  /** What is kept under a name; `undefined` if nothing is, or its time is over. */
  findReply(name: string, nowMs: number): Promise<KeptReply | undefined>;
  /** Keeps a text for `forMs`, in place of an earlier one. Of about `most` texts in all, the first to end or the oldest go. */
  keepReply(name: string, text: string, nowMs: number, forMs: number, most: number): Promise<void>;
}
