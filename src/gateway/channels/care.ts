import {
  FAILED_CHECKS_BELIEVED,
  faultOfProbe,
  healthCheckMs,
  noteAfter,
  type CheckNote,
} from '../../core/health-check.js';
import { CHANNEL_AUTO_DISABLED, isSameAccount, type Channel } from '../../core/channel.js';
import { nextTryMs, returnDuty } from '../../core/outage.js';
import type { Probe, ProbeReport } from '../../core/probe.js';
import type { FaultKind } from '../../core/retry.js';
import type { DutyStore } from '../../store/store.js';
import type { Background } from '../background.js';
import type { ChannelHealth } from './health.js';
import type { Freshness } from '../rank.js';
import type { Route } from './route.js';

export interface ChannelCareDeps {
  readonly store: DutyStore;
  readonly health: Pick<ChannelHealth, 'checked' | 'forget'>;
  readonly probe: Probe;
  readonly freshness: Freshness;
  readonly run: Background['run'];
  readonly now: () => number;
  readonly random: () => number;
  /** When a channel that the gateway disabled is tried again: at first after this long, then less and less often. */
  readonly returns: { readonly firstMs: number; readonly longestMs: number };
  /** How long at least before a failed check is repeated. */
  readonly recheckMs: number;
  /** Enables a channel again once it works. */
  readonly onWell: (channel: Channel) => Promise<void>;
}

/** A recurring task for one channel, which one node does for all. */
interface Task {
  readonly name: string;
  readonly route: Route;
  readonly attend: (task: Task) => Promise<void>;
  /** When this node looks at it next, by its own clock. */
  dueMs: number;
  /** The last check that this node knows of. */
  seenAtMs: number;
}

/** A probe takes less than this; a node that dies during one keeps it for this long. */
const LEASE_MS = 75_000;
/** The store is looked at no more often than this. */
const LEAST_WAIT_MS = 20;
/** A change of a channel's credentials makes its next probe due soon after. */
const MENDED_AFTER_MS = 200;
/** Share of the time between two checks: nodes look one after the other and find the first one's result. */
const SPREAD = 0.1;

/**
 * Looks after sick channels: checks those that are configured for it, and tries whether those that the gateway disabled work
 * again, each once for all nodes. If there are neither, it does nothing, and no timer runs.
 */
export class ChannelCare {
  readonly #deps: ChannelCareDeps;
  #tasks = new Map<string, Task>();
  #disabled = new Set<number>();
  /** The channels in force, by id. */
  #channels: ReadonlyMap<number, Channel> = new Map();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(deps: ChannelCareDeps) {
    this.#deps = deps;
  }

  /** The channels in force have changed. */
  readonly update = (given: Iterable<Route>): void => {
    const routes = [...given];
    const before = this.#tasks;
    const disabled = new Set<number>();
    this.#tasks = new Map();
    for (const route of routes) {
      if (route.channel.status === CHANNEL_AUTO_DISABLED) disabled.add(route.id);
      // The reason for disabling it is gone, and so is what this node remembers about it.
      else if (this.#disabled.has(route.id)) this.#deps.health.forget(route.id);
      const task = this.#taskOf(route);
      if (task === undefined) continue;
      const known = before.get(task.name);
      if (known !== undefined) {
        task.seenAtMs = known.seenAtMs;
        task.dueMs = known.dueMs;
      }
      // The cause may have been fixed, perhaps before this node saw that the channel was disabled.
      const last = this.#channels.get(route.id);
      if (last !== undefined && last !== route.channel && !isSameAccount(last, route.channel)) {
        task.dueMs = this.#deps.now() + MENDED_AFTER_MS;
      }
      this.#tasks.set(task.name, task);
    }
    this.#channels = new Map(Array.from(routes, ({ id, channel }) => [id, channel]));
    this.#disabled = disabled;
    this.#schedule();
  };

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #taskOf(route: Route): Task | undefined {
    const { channel } = route;
    const { now, random, returns } = this.#deps;
    if (route.tagOff) return undefined;
    if (channel.status === CHANNEL_AUTO_DISABLED && channel.outage !== undefined) {
      const { sinceMs } = channel.outage;
      const firstMs = sinceMs + nextTryMs(0, returns, random);
      return {
        name: returnDuty(channel.id, channel.outage),
        route,
        attend: this.#tryReturn,
        // By the clock of whoever disabled it, which may be ahead.
        dueMs: Math.min(firstMs, now() + returns.firstMs),
        seenAtMs: 0,
      };
    }
    const everyMs = healthCheckMs(channel);
    if (!route.live || everyMs === 0) return undefined;
    return {
      name: `check:${channel.id}`,
      route,
      attend: this.#check,
      dueMs: now() + everyMs * (1 - SPREAD * random()),
      seenAtMs: 0,
    };
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    let nextMs = Infinity;
    for (const { dueMs } of this.#tasks.values()) nextMs = Math.min(nextMs, dueMs);
    if (nextMs === Infinity || this.#stopped) return;
    const waitMs = Math.max(LEAST_WAIT_MS, nextMs - this.#deps.now());
    this.#timer = setTimeout(() => this.#look(), waitMs);
    this.#timer.unref();
  }

  #look(): void {
    const nowMs = this.#deps.now();
    for (const task of this.#tasks.values()) {
      if (task.dueMs > nowMs) continue;
      // Not again while it is in progress, nor at once if it fails.
      task.dueMs = nowMs + LEASE_MS;
      this.#deps.run('a channel could not be looked after', async () => {
        try {
          await task.attend(task);
        } catch (error) {
          task.dueMs = this.#deps.now() + this.#deps.returns.firstMs;
          throw error;
        } finally {
          this.#schedule();
        }
      });
    }
    this.#schedule();
  }

  /** One probe of a channel that the gateway disabled; each failure delays the next one further. */
  readonly #tryReturn = async (task: Task): Promise<void> => {
    const { store, now, random, returns, onWell } = this.#deps;
    const { channel } = task.route;
    const duty = await store.takeDuty(task.name, now(), LEASE_MS);
    if (!duty.isMine) {
      task.dueMs = Math.min(duty.dueAtMs, now() + returns.longestMs);
      return;
    }
    const failures = duty.note === '' ? 0 : Number(duty.note);
    const report = await this.#probed(task, failures);
    if (report === undefined) return this.#leave(task, duty.note);
    const { ranking } = report;
    if (ranking !== undefined) {
      await onWell(channel);
      return;
    }
    const waitMs = nextTryMs(failures + 1, returns, random);
    await store.endDuty(task.name, String(failures + 1), now(), waitMs);
    task.dueMs = now() + waitMs;
  };

  /** One check of a channel in traffic, or the result of the one that another node made. */
  readonly #check = async (task: Task): Promise<void> => {
    const { store, now, random, recheckMs } = this.#deps;
    const { channel } = task.route;
    const everyMs = healthCheckMs(channel);
    const duty = await store.takeDuty(task.name, now(), LEASE_MS);
    const before = readNote(duty.note);
    if (!duty.isMine) {
      this.#heard(task, before);
      task.dueMs = Math.min(duty.dueAtMs + everyMs * SPREAD * random(), now() + everyMs);
      return;
    }
    const count = before?.count ?? 0;
    const report = await this.#probed(task, count);
    if (report === undefined) return this.#leave(task, duty.note);
    const note = noteAfter(before, faultOfProbe(report), now());
    const isDoubtful = note.failures > 0 && note.failures < FAILED_CHECKS_BELIEVED;
    const spreadMs = everyMs * (1 - SPREAD * random());
    const waitMs = Math.round(isDoubtful ? Math.min(recheckMs, spreadMs) : spreadMs);
    await store.endDuty(task.name, JSON.stringify(note), now(), waitMs);
    task.dueMs = now() + waitMs;
    this.#heard(task, note);
  };

  /** Probes a channel, unless it was switched off, or this node could not be sure of that, until the request left. */
  async #probed({ name, route }: Task, turn: number): Promise<ProbeReport | undefined> {
    const { probe, freshness } = this.#deps;
    await freshness.ensureFresh();
    const seen = { isLeft: false };
    const mayBegin = (): boolean => {
      const may = freshness.isFresh() && this.#tasks.has(name);
      seen.isLeft ||= !may;
      return may;
    };
    const report = await probe(route.channel, modelOf(route.channel, turn), turn, mayBegin);
    return seen.isLeft ? undefined : report;
  }

  /** Nothing was sent: whoever looks next does what was due. */
  async #leave(task: Task, note: string): Promise<void> {
    const { store, now, recheckMs } = this.#deps;
    await store.endDuty(task.name, note, now(), recheckMs);
    task.dueMs = now() + recheckMs;
  }

  #heard(task: Task, note: CheckNote | undefined): void {
    if (note === undefined || note.atMs === task.seenAtMs) return;
    task.seenAtMs = note.atMs;
    const kind: FaultKind | 'ok' = note.kind;
    if (kind !== 'ok' && note.failures < FAILED_CHECKS_BELIEVED) return;
    this.#deps.health.checked(task.route, kind, this.#deps.now());
  }
}

/** Each probe asks for a different one of the channel's models: only one of them may be broken. */
function modelOf({ models }: Channel, turn: number): string {
  const names = Object.keys(models);
  return names[turn % names.length] ?? '';
}

function readNote(text: string): CheckNote | undefined {
  // Written by `noteAfter`, on this node or another.
  return text === '' ? undefined : (JSON.parse(text) as CheckNote);
}
