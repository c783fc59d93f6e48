import { GatewayError } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import type { ChannelSnapshot, ChannelStore } from '../store/store.js';
import type { Observe } from './events.js';
import { makeRoute, type Route } from './route.js';

/** What a node keeps of a channel between requests, whatever version of the channel is in force. */
export interface ChannelState {
  inFlight: number;
  /** Until when it is left alone after an overload, by this node's clock. */
  coolUntilMs: number;
}

/** The channels in force, as of one version. */
export interface RoutingTable {
  readonly version: number;
  readonly byId: ReadonlyMap<number, Route>;
  /** Every usable channel of a model by the caller's name for it, live or not. */
  readonly byModel: ReadonlyMap<string, readonly Route[]>;
}

export interface ChannelTableDeps {
  readonly store: ChannelStore;
  /** Credentials of the channels that the configuration declares, by channel name. */
  readonly declared: ReadonlyMap<string, Readonly<Record<string, Secret>>>;
  readonly observe: Observe;
  readonly now: () => number;
  /** How old the knowledge of this node may be when an attempt begins. */
  readonly stalenessMs: number;
  readonly nodeId: string;
  /** Called with the id of a channel that is there no more. */
  readonly onGone: (channelId: number) => void;
  /** Called with every origin that the channels in force name, whenever they have changed. */
  readonly onOrigins: (origins: ReadonlySet<string>) => void;
}

const EMPTY: RoutingTable = { version: -1, byId: new Map(), byModel: new Map() };
/** Checks of the version in one staleness bound: the safety net below the change messages. */
const CHECKS_PER_BOUND = 3;
const LOCKED =
  'its credentials cannot be read: set ENCRYPTION_KEY to the key that they were stored under, or enter them again';
/** A node that has not reported for so many bounds is gone. */
const NODE_TTL_BOUNDS = 5;

/**
 * The channels of this node, in memory. Refreshed at once on a message of the store and by a version check that does not
 * depend on messages; an attempt that begins while the check is overdue waits for it, so nothing is ever sent on
 * knowledge older than the bound.
 */
export class ChannelTable {
  readonly #deps: ChannelTableDeps;
  readonly #states = new Map<number, ChannelState>();
  #table: RoutingTable = EMPTY;
  #verifiedAtMs = -Infinity;
  #checking: Promise<void> | undefined;
  #checkAgain = false;
  #timer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #failing = false;

  constructor(deps: ChannelTableDeps) {
    this.#deps = deps;
  }

  get current(): RoutingTable {
    return this.#table;
  }

  /** Loads the channels and keeps them fresh until `stop`. */
  async start(): Promise<void> {
    this.#unwatch = this.#deps.store.watchChannels(() => {
      this.#refreshInBackground();
    });
    await this.refresh();
    // Once more, now that this node is on the list: a switch set between loading and reporting did not wait for it.
    await this.refresh();
    this.#timer = setInterval(() => {
      this.#refreshInBackground();
    }, this.#deps.stalenessMs / CHECKS_PER_BOUND);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#checking?.catch(() => undefined);
    await this.#deps.store.forgetNode(this.#deps.nodeId).catch((error: unknown) => {
      this.#deps.observe({ kind: 'fault', what: 'node report not withdrawn', error });
    });
  }

  /** Whether what is known is younger than the bound. */
  isFresh(): boolean {
    return this.#deps.now() - this.#verifiedAtMs <= this.#deps.stalenessMs;
  }

  /** Resolves when the table is within the bound; asks the store where it is not. */
  async ensureFresh(): Promise<void> {
    if (this.isFresh()) return;
    try {
      await this.refresh();
    } catch (error) {
      throw new GatewayError(
        'store_unavailable',
        'The gateway cannot tell which channels are switched on. Try again shortly.',
        { retryAfterMs: 1_000, cause: error },
      );
    }
  }

  /** Brings the table up to the version that the store has when this is called. */
  refresh(): Promise<void> {
    if (this.#checking !== undefined) {
      // The running check may have read before the change that this call is about.
      this.#checkAgain = true;
      return this.#checking;
    }
    const checking = this.#check();
    this.#checking = checking;
    return checking;
  }

  /** The route of a channel if it takes traffic at this very moment. */
  live(channelId: number): Route | undefined {
    const route = this.#table.byId.get(channelId);
    return route?.live === true ? route : undefined;
  }

  state(channelId: number): ChannelState {
    let state = this.#states.get(channelId);
    if (state === undefined) {
      state = { inFlight: 0, coolUntilMs: 0 };
      this.#states.set(channelId, state);
    }
    return state;
  }

  /** A failed check has been observed by the check itself; the next attempt that needs it tells its caller. */
  #refreshInBackground(): void {
    this.refresh().catch(() => undefined);
  }

  async #check(): Promise<void> {
    try {
      do {
        this.#checkAgain = false;
        const askedAtMs = this.#deps.now();
        const version = await this.#deps.store.channelsVersion();
        if (version !== this.#table.version) this.#apply(await this.#deps.store.loadChannels());
        this.#verifiedAtMs = askedAtMs;
        await this.#deps.store.reportNode(
          this.#deps.nodeId,
          this.#table.version,
          askedAtMs,
          this.#deps.stalenessMs * NODE_TTL_BOUNDS,
        );
      } while (this.#checkAgain as boolean);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing)
        this.#deps.observe({ kind: 'fault', what: 'channels not refreshed', error });
      this.#failing = true;
      throw error;
    } finally {
      // In the same step as the loop's last look at the flag: a later call starts a check of its own.
      this.#checking = undefined;
    }
  }

  #apply(snapshot: ChannelSnapshot): void {
    const switches = new Map(snapshot.switches.map((entry) => [entry.tag, entry]));
    const byId = new Map<number, Route>();
    const byModel = new Map<string, Route[]>();
    const unusable: { name: string; why: string }[] = [];
    for (const channel of snapshot.channels) {
      if (snapshot.locked.has(channel.id)) {
        unusable.push({ name: channel.name, why: LOCKED });
        continue;
      }
      const made = makeRoute(channel, switches, this.#deps.declared);
      if (made.kind === 'unusable') {
        unusable.push({ name: channel.name, why: made.why });
        continue;
      }
      byId.set(channel.id, made.route);
      for (const model of Object.keys(channel.models)) {
        const routes = byModel.get(model);
        if (routes === undefined) byModel.set(model, [made.route]);
        else routes.push(made.route);
      }
    }
    this.#table = { version: snapshot.version, byId, byModel };
    for (const id of this.#states.keys()) {
      if (byId.has(id)) continue;
      this.#states.delete(id);
      this.#deps.onGone(id);
    }
    this.#deps.onOrigins(new Set(Array.from(byId.values(), ({ origin }) => origin)));
    this.#deps.observe({
      kind: 'channels',
      version: snapshot.version,
      channels: [...byId.values()].map(({ channel, live }) => ({
        id: channel.id,
        name: channel.name,
        provider: channel.provider,
        tag: channel.tag,
        live,
      })),
      unusable,
    });
  }
}
