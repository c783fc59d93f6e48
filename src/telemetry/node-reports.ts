import type { Observe, ReadEvents } from '../gateway/events.js';
import type { BusyChannel, NodeAbout, NodeChannel, NodeStore } from '../store/store.js';

/** The values that change from report to report, read when a report is due. */
export interface NodeGauges {
  readonly inFlight: () => number;
  readonly pendingSettlements: () => number;
  /** Channels that are paused. */
  readonly resting: (nowMs: number) => readonly NodeChannel[];
  /** Channels that attempts are under way with, the busiest first. */
  readonly busy: () => readonly BusyChannel[];
}

export interface NodeReportsDeps extends NodeGauges {
  readonly store: Pick<NodeStore, 'describeNode'>;
  readonly observe: Observe;
  readonly now: () => number;
  readonly node: Pick<
    NodeAbout,
    'nodeId' | 'name' | 'release' | 'build' | 'pid' | 'maxInFlight' | 'keyMarks' | 'reloading'
  >;
}

const EVERY_MS = 2_000;
/** How long a node that was killed is remembered. */
const KEEP_MS = 10 * 60_000;
const MAX_CHANNELS = 100;

/** Tells the store every few seconds how this gateway is doing, for the people who watch all of them. */
export class NodeReports {
  readonly #deps: NodeReportsDeps;
  readonly #startedMs: number;
  #faults = 0;
  #unusable: readonly NodeChannel[] = [];
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;
  #failing = false;

  constructor(deps: NodeReportsDeps) {
    this.#deps = deps;
    this.#startedMs = deps.now();
  }

  readonly read: ReadEvents = (events) => {
    for (const event of events) {
      if (event.kind === 'fault') this.#faults += 1;
      else if (event.kind === 'channels') {
        this.#unusable = event.unusable.map(({ name, why }) => ({ name, untilMs: 0, why }));
      }
    }
  };

  /** Resolves when the store has the first report, or has failed to take it. */
  async start(): Promise<void> {
    this.#timer = setInterval(() => {
      // If the store is slower than this, the next report waits for its answer.
      if (this.#telling === undefined) void this.#tell();
    }, EVERY_MS).unref();
    await this.#tell();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#telling;
  }

  #tell(): Promise<void> {
    this.#telling = this.#report().finally(() => {
      this.#telling = undefined;
    });
    return this.#telling;
  }

  async #report(): Promise<void> {
    const { store, observe } = this.#deps;
    try {
      await store.describeNode(this.#about(), KEEP_MS);
      this.#failing = false;
    } catch (error) {
      // One fault for all failures in a row: the store is away.
      if (!this.#failing)
        observe({
          kind: 'fault',
          what: 'the description of this node could not be written',
          error,
        });
      this.#failing = true;
    }
  }

  #about(): NodeAbout {
    const { node, now, inFlight, pendingSettlements, resting, busy } = this.#deps;
    const nowMs = now();
    return {
      ...node,
      startedMs: this.#startedMs,
      atMs: nowMs,
      inFlight: inFlight(),
      pendingSettlements: pendingSettlements(),
      faults: this.#faults,
      busy: busy().slice(0, MAX_CHANNELS),
      channels: [...this.#unusable, ...resting(nowMs)].slice(0, MAX_CHANNELS),
    };
  }
}
