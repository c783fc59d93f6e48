import { GatewayError } from '../../core/errors.js';
import type { Secret } from '../../core/secret.js';
import type { ChannelNews, ChannelSnapshot, ChannelStore, NodeStore } from '../../store/store.js';
import type { Observe } from '../events.js';
import type { Freshness } from '../rank.js';
import type { Route } from './route.js';
import { NO_CHANNELS, routingTableOf, type PlanOf, type RoutingTable } from './routing-table.js';

export interface ChannelTableDeps {
  readonly store: ChannelStore & Pick<NodeStore, 'forgetNode'>;
  /** Credentials of the channels that the configuration declares, by channel name. */
  readonly declared: ReadonlyMap<string, Readonly<Record<string, Secret>>>;
  readonly observe: Observe;
  readonly now: () => number;
  /** Milliseconds from an arbitrary origin, by a clock that nobody sets: an age must not change with the time of day. */
  readonly elapsed: () => number;
  /** How old this node's knowledge may be when an attempt begins. */
  readonly stalenessMs: number;
  readonly nodeId: string;
  /** Called with the id of a channel that is gone. */
  readonly onGone: (channelId: number) => void;
  /** Called with every answer of the store: when it was asked for, and when it came. */
  readonly onNews?: (news: ChannelNews, askedAtMs: number, answeredAtMs: number) => void;
  /** Called when the store has lost what this node had noted there: anything remembered of it may be gone. */
  readonly onStoreLost?: () => void;
  /** Called when the store answers again after it had stopped. */
  readonly onStoreBack?: () => void;
  /** Called with every origin that the channels in force name, whenever they have changed. */
  readonly onOrigins: (origins: ReadonlySet<string>) => void;
}

/** Built from the channels whenever they have changed. */
export interface TableUse {
  /** Makes the plan of a model from its usable channels. */
  readonly planOf: PlanOf;
  /** Called with every usable channel. */
  readonly onRoutes?: (routes: Iterable<Route>) => void;
}

const NO_USE: TableUse = {
  planOf: () => {
    throw new Error('use() must be called before the channels are loaded');
  },
};

/** Version checks per staleness bound: the safety net below the change messages. */
const CHECKS_PER_BOUND = 3;
/**
 * How often one caller asks again where an answer came too late: a node that begins to serve hundreds of callers at once may hear
 * it late although the store was quick.
 */
const MOST_CHECKS = 3;
/** A node that has not reported for this many bounds is gone. */
const NODE_TTL_BOUNDS = 5;

const TOO_SLOW = new Error('the store answers more slowly than gateway.staleness_ms allows');

/**
 * The channels of this node, in memory. They are refreshed at once on a message from the store, and by a check that does not
 * depend on messages. An attempt that begins while the check is overdue waits for it, so nothing is ever sent on knowledge
 * older than the bound. A check is one question to the store, which notes what this node has in force and answers with what
 * is new. Checks follow one another, and a caller waits for the current one and the next, or a few more if their answers come too late.
 */
export class ChannelTable implements Freshness {
  readonly #deps: ChannelTableDeps;
  #table: RoutingTable = NO_CHANNELS;
  #snapshot: ChannelSnapshot | undefined;
  #use = NO_USE;
  /** By `elapsed`, like all ages. */
  #verifiedAtMs = -Infinity;
  #checking: Promise<void> | undefined;
  /** The check that begins when the current one has ended. */
  #next: Promise<void> | undefined;
  #serial = 0;
  #heardSerial = 0;
  #stopped = false;
  #isEmptied = false;
  #timer: NodeJS.Timeout | undefined;
  #unwatch: (() => void) | undefined;
  #failing = false;

  constructor(deps: ChannelTableDeps) {
    this.#deps = deps;
  }

  get current(): RoutingTable {
    return this.#table;
  }

  /** Says what the channels are for. Plans ask the table themselves, so it is there before them: this comes before `start`. */
  use(use: TableUse): void {
    this.#use = use;
  }

  /** Loads the channels and keeps them fresh until `stop`. */
  async start(): Promise<void> {
    this.#unwatch = this.#deps.store.watchChannels(() => {
      this.#refreshInBackground();
    });
    await this.refresh();
    // Once more: others now wait for the version that this node has applied, and no longer for its start.
    await this.refresh();
    this.#timer = setInterval(() => {
      // If the store is slower than this, the next check begins when the current one has ended.
      if (this.#checking === undefined) this.#refreshInBackground();
    }, this.#deps.stalenessMs / CHECKS_PER_BOUND);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#checking?.catch(() => undefined);
    await this.#deps.store.forgetNode(this.#deps.nodeId).catch((error: unknown) => {
      this.#deps.observe({
        kind: 'fault',
        what: 'the report of this node could not be withdrawn',
        error,
      });
    });
  }

  /** Whether the knowledge is younger than the bound. */
  isFresh(): boolean {
    return this.#deps.elapsed() - this.#verifiedAtMs <= this.#deps.stalenessMs;
  }

  /** Resolves when the table is within the bound, asking the store if it is not. */
  async ensureFresh(): Promise<void> {
    if (this.isFresh()) return;
    try {
      // The current check may do: its age counts from its question, whoever asked.
      await this.#checking;
      for (let checks = 0; !this.isFresh(); checks += 1) {
        if (checks === MOST_CHECKS) throw TOO_SLOW;
        await this.refresh();
      }
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
    if (this.#checking === undefined) return this.#begin();
    // The current check may have read before the change that this call is about.
    this.#next ??= this.#checking
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        if (this.#stopped) return;
        return this.#checking ?? this.#begin();
      });
    return this.#next;
  }

  /** Makes all routes and plans again: credentials that are declared, rules or prices have changed. */
  remake(): void {
    if (this.#snapshot !== undefined) this.#apply(this.#snapshot, NO_CHANNELS);
  }

  /** The route of a channel, if it takes traffic right now. */
  live(channelId: number): Route | undefined {
    const route = this.#table.byId.get(channelId);
    return route?.live === true ? route : undefined;
  }

  /** The check itself has observed its failure; the next attempt that needs it tells its caller. */
  #refreshInBackground(): void {
    this.refresh().catch(() => undefined);
  }

  #begin(): Promise<void> {
    const checking = this.#check();
    this.#checking = checking;
    return checking;
  }

  async #check(): Promise<void> {
    try {
      const changed = await this.#ask();
      if (this.#failing) this.#deps.onStoreBack?.();
      this.#failing = false;
      // Whoever waits until a change is in force waits for this report.
      if (changed && !this.#stopped) setImmediate(() => this.#refreshInBackground());
    } catch (error) {
      if (!this.#failing)
        this.#deps.observe({ kind: 'fault', what: 'the channels could not be refreshed', error });
      this.#failing = true;
      throw error;
    } finally {
      this.#checking = undefined;
    }
  }

  /** One question to the store. Resolves to whether another version is in force after it. */
  async #ask(): Promise<boolean> {
    const { store, now, elapsed, nodeId, stalenessMs } = this.#deps;
    const askedAtMs = now();
    const askedAt = elapsed();
    this.#serial += 1;
    const serial = this.#serial;
    const news = await store.syncNode({
      nodeId,
      version: this.#table.version,
      serial,
      heardSerial: this.#heardSerial,
      nowMs: askedAtMs,
      ttlMs: stalenessMs * NODE_TTL_BOUNDS,
    });
    const { snapshot, memory } = news;
    this.#deps.onNews?.(news, askedAtMs, now());
    const wasEmptied = this.#isEmptied;
    this.#isEmptied = memory === 'emptied';
    if (memory === 'lost' || (wasEmptied && memory === 'kept')) this.#tellLost();
    this.#heardSerial = serial;
    if (this.#isEmptied) {
      // Such a store admits no caller: the channels stay as they were until it has some again.
      this.#verifiedAtMs = askedAt;
      return false;
    }
    const changed = snapshot !== undefined && snapshot.version !== this.#table.version;
    if (snapshot !== undefined) this.#apply(snapshot);
    this.#verifiedAtMs = askedAt;
    return changed;
  }

  #tellLost(): void {
    this.#deps.observe({
      kind: 'fault',
      what: 'everything is reloaded',
      error: new Error(
        'the store does not know the last report of this node: it has lost its latest writes, was restored from a backup, or has not heard from this node for a long time',
      ),
    });
    this.#deps.onStoreLost?.();
  }

  #apply(snapshot: ChannelSnapshot, kept = this.#table): void {
    this.#snapshot = snapshot;
    const { declared } = this.#deps;
    const { planOf, onRoutes } = this.#use;
    const before = this.#table.byId;
    const { table, leftOut } = routingTableOf(snapshot, declared, planOf, kept);
    this.#table = table;
    const { byId } = table;
    for (const id of before.keys()) if (!byId.has(id)) this.#deps.onGone(id);
    this.#deps.onOrigins(new Set(Array.from(byId.values(), ({ origin }) => origin)));
    onRoutes?.(byId.values());
    this.#deps.observe({
      kind: 'channels',
      version: snapshot.version,
      channels: [...byId.values()].map(({ channel, live }) => ({
        id: channel.id,
        name: channel.name,
        provider: channel.provider,
        tag: channel.tag,
        live,
        status: channel.status,
      })),
      unusable: leftOut.map(({ channel: { name, provider, tag }, why }) => ({
        ...{ name, provider, tag, why },
      })),
    });
  }
}
