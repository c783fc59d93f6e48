/** What a gateway reports about itself for people to read, besides what it has in force. */
export interface NodeAbout {
  readonly nodeId: string;
  /** The name that people know it by: the machine, and the process if the machine runs several. */
  readonly name: string;
  readonly release: string;
  /** Of the console that it serves; absent if it serves none, and from older releases. */
  readonly build?: string;
  readonly pid: number;
  readonly startedMs: number;
  /** When it reported this. */
  readonly atMs: number;
  /** Rank requests in progress, and how many there may be. */
  readonly inFlight: number;
  readonly maxInFlight: number;
  /** How it reloads its settings; absent where it cannot, and from older releases. */
  readonly reloading?: NodeReloading | undefined;
  /** Fingerprints of the keys that it can open credentials with; absent from older releases. */
  readonly keyMarks?: readonly string[];
  /** Settlements that have not reached the store yet. */
  readonly pendingSettlements: number;
  /** Errors since it started that could not be reported to any request. */
  readonly faults: number;
  /** The channels that it has attempts under way with, the busiest first; absent from older releases. */
  readonly busy?: readonly BusyChannel[];
  /** Channels that it leaves alone for a while, and those that it cannot use at all; healthy ones are not listed. */
  readonly channels: readonly NodeChannel[];
}

export interface NodeReloading {
  /** The process that reloads on SIGHUP, and the machine that it runs on. */
  readonly pid: number;
  readonly machine: string;
  readonly last?: NodeReload | undefined;
}

/** What came of a reload: what changed and what takes effect with the next start, or why nothing changed. */
export interface NodeReload {
  /** When reading the settings began: a change of the files after that may not be part of it. */
  readonly atMs: number;
  readonly applied: readonly string[];
  readonly needRestart: readonly string[];
  readonly why?: string;
}

export interface BusyChannel {
  readonly id: number;
  readonly name: string;
  readonly inFlight: number;
}

export interface NodeChannel {
  readonly name: string;
  /** Absent, like `key`, `state` and `sinceMs`, for a channel that it cannot use at all. */
  readonly id?: number;
  /** The end of a key, if one of several keys is paused rather than the channel. */
  readonly key?: string | undefined;
  /** `cooling`: it asked for a pause after an overload. */
  readonly state?: 'open' | 'half_open' | 'cooling';
  /** Since when it has been paused, by the node's clock. */
  readonly sinceMs?: number;
  /** Until when nothing is sent, by the node's clock; 0 if there is no end. */
  readonly untilMs: number;
  readonly why: string;
}

/** A gateway as the store knows it. */
export interface NodeState {
  readonly nodeId: string;
  /** The version that it has in force; `undefined` if it has not reported in time, and no longer acts on what it knew. */
  readonly version: number | undefined;
  /** Absent for a gateway that has not reported yet, or whose release does not report this. */
  readonly about: NodeAbout | undefined;
}

export interface NodeStore {
  /** Keeps what a gateway reports about itself until it reports again or `keepMs` have passed. */
  describeNode(about: NodeAbout, keepMs: number): Promise<void>;
  /** Gateways that report, and those that have stopped reporting without signing off, ordered by id. */
  listNodes(nowMs: number): Promise<readonly NodeState[]>;
  /** The oldest version reported by any live node, or `undefined` if there is no live node. */
  oldestNodeVersion(nowMs: number): Promise<number | undefined>;
  /** Removes a node that is stopping from the list. */
  forgetNode(nodeId: string): Promise<void>;
}
