/** A duty as the store knows it. */
export interface Duty {
  /** When it is due again, by the clock of the store. */
  readonly dueAtMs: number;
  /** What the node that did it last left for all; empty where it was never done. */
  readonly note: string;
}

/** Work that one node does for all of them, whatever nodes come and go. */
export interface DutyStore {
  /**
   * Takes a duty that is due, so that it is due for nobody else before `forMs` have passed: until then a node that dies at
   * it keeps it. `isMine` for one caller alone.
   */
  takeDuty(
    name: string,
    nowMs: number,
    forMs: number,
  ): Promise<Duty & { readonly isMine: boolean }>;
  /** Ends a duty that was taken: due again after `waitMs`, with a note for all. */
  endDuty(name: string, note: string, nowMs: number, waitMs: number): Promise<void>;
  /** What is known of a duty; `undefined` where it was never taken, or is long over. */
  readDuty(name: string): Promise<Duty | undefined>;
  /** Makes a duty due now, its note forgotten. */
  dropDuty(name: string): Promise<void>;
}
