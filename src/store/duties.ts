/** A duty as the store knows it. */
export interface Duty {
  /** When it is due again, by the store's clock. */
  readonly dueAtMs: number;
  /** What the last node that did it has left for all; empty if it was never done. */
  readonly note: string;
}

/** Work that one node does for all of them, whichever nodes come and go. */
export interface DutyStore {
  /**
   * Takes a duty that is due: it is due for no other caller until `forMs` have passed, even if the node dies while doing
   * it. `isMine` is true for one caller only.
   */
  takeDuty(
    name: string,
    nowMs: number,
    forMs: number,
  ): Promise<Duty & { readonly isMine: boolean }>;
  /** Ends a duty that was taken: it is due again after `waitMs`, with a note for all. */
  endDuty(name: string, note: string, nowMs: number, waitMs: number): Promise<void>;
  /** The state of a duty; `undefined` if it was never taken, or ended long ago. */
  readDuty(name: string): Promise<Duty | undefined>;
  /** Makes a duty due now and forgets its note. */
  dropDuty(name: string): Promise<void>;
}
