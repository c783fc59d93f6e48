/** What a gateway reports about itself for people, beside what it has in force. */
export interface NodeAbout {
  readonly nodeId: string;
  /** What people call it: the machine, and the process where it has several. */
  readonly name: string;
  readonly release: string;
  readonly pid: number;
  readonly startedMs: number;
  /** When it told this. */
  readonly atMs: number;
  /** Requests to rank that are under way, and how many there may be. */
  readonly inFlight: number;
  readonly maxInFlight: number;
  /** Settlements that the store has not heard of yet. */
  readonly pendingSettlements: number;
  /** What went wrong that no request could be told of, since it started. */
  readonly faults: number;
  /** Channels that it leaves alone for a while, and those that it cannot use at all; not the ones that are well. */
  readonly channels: readonly NodeChannel[];
}

export interface NodeChannel {
  readonly name: string;
  /** Absent, as what follows, for a channel that it cannot use at all. */
  readonly id?: number;
  /** The end of a key, where one of several is left alone and not the channel. */
  readonly key?: string | undefined;
  /** `cooling`: it asked for a pause after an overload. */
  readonly state?: 'open' | 'half_open' | 'cooling';
  /** Since when it is left alone, by the clock of the node. */
  readonly sinceMs?: number;
  /** Until when nothing is sent, by the clock of the node; 0 where that has no end. */
  readonly untilMs: number;
  readonly why: string;
}

/** A gateway as the store knows it. */
export interface NodeState {
  readonly nodeId: string;
  /** What it has in force; `undefined` when it has not reported in time, and acts on nothing that it knew. */
  readonly version: number | undefined;
  /** Absent for a gateway that has not told yet, or is of a release that does not. */
  readonly about: NodeAbout | undefined;
}

export interface NodeStore {
  /** Keeps what a gateway reports about itself, until it tells again or `keepMs` have passed. */
  describeNode(about: NodeAbout, keepMs: number): Promise<void>;
  /** Gateways that report, and those that have stopped to without taking leave, by their ids. */
  listNodes(nowMs: number): Promise<readonly NodeState[]>;
}
