import { messageOf } from '../../core/errors.js';
import type { Channel, TagSwitch } from '../../core/channel.js';
import type { ChannelSnapshot } from '../../store/store.js';
import { tagBudgetsOf, type TagBudgets } from './declared-limits.js';
import type { Plan } from '../rank.js';
import { makeRoute, type DeclaredCredentials, type Route, type RouteResult } from './route.js';

/** The channels in force, as of one version. */
export interface RoutingTable {
  readonly version: number;
  readonly byId: ReadonlyMap<number, Route>;
  /** The plan of each model, by the caller's name for it; every model of a usable channel has one, live or not. */
  readonly plans: ReadonlyMap<string, Plan>;
  /** By model, the unusable channels that would serve it if they could. */
  readonly unusable: ReadonlyMap<string, readonly UnusableChannel[]>;
  /** What routes and plans were made from: what is the same in the next version stays. */
  readonly madeFrom: {
    readonly switches: ReadonlyMap<string, TagSwitch>;
    readonly tagBudgets: TagBudgets;
    readonly routes: ReadonlyMap<string, readonly Route[]>;
  };
}

export interface UnusableChannel {
  readonly channel: Channel;
  readonly why: string;
}

/** Makes the plan of a model from its usable channels. */
export type PlanOf = (model: string, routes: readonly Route[]) => Plan;

/** A node that has read no channels yet. */
export const NO_CHANNELS: RoutingTable = {
  version: -1,
  byId: new Map(),
  plans: new Map(),
  unusable: new Map(),
  madeFrom: { switches: new Map(), tagBudgets: new Map(), routes: new Map() },
};

const LOCKED =
  'its credentials cannot be read: set ENCRYPTION_KEY to the key that they were stored under, or enter them again';

/**
 * Prepares the channels of a snapshot for traffic. One that cannot be prepared is left out with the reason, and the others
 * are in force without it. Of `before`, made with the same `declared` and `planOf`, whatever has not changed is kept.
 */
export function routingTableOf(
  { version, channels, switches, locked }: ChannelSnapshot,
  declared: DeclaredCredentials,
  planOf: PlanOf,
  before: RoutingTable = NO_CHANNELS,
): { readonly table: RoutingTable; readonly leftOut: readonly UnusableChannel[] } {
  const byTag = new Map(switches.map((entry) => [entry.tag, entry]));
  const tagBudgets = tagBudgetsOf(channels);
  const leftOut: UnusableChannel[] = [];
  const byId = new Map<number, Route>();
  for (const channel of channels) {
    const kept = keptRoute(channel, byTag, tagBudgets, before);
    const made: RouteResult = locked.has(channel.id)
      ? { kind: 'unusable', why: LOCKED }
      : kept === undefined
        ? prepared(() => makeRoute(channel, byTag, declared, tagBudgets))
        : { kind: 'route', route: kept };
    if (made.kind === 'route') byId.set(channel.id, made.route);
    else leftOut.push({ channel, why: made.why });
  }
  const keptPlan = (model: string, routes: readonly Route[]): Plan | undefined =>
    areSame(routes, before.madeFrom.routes.get(model)) ? before.plans.get(model) : undefined;
  const { plans, routes, broken } = plansOf(
    byModelOf(byId.values()),
    (model, all) => keptPlan(model, all) ?? planOf(model, all),
  );
  for (const { channel, why } of broken) {
    if (byId.delete(channel.id)) leftOut.push({ channel, why });
  }
  const madeFrom = { switches: byTag, tagBudgets, routes };
  return { table: { version, byId, plans, unusable: byModel(leftOut), madeFrom }, leftOut };
}

/** The route that a channel has already, if nothing that it was made from has changed. */
function keptRoute(
  channel: Channel,
  switches: ReadonlyMap<string, TagSwitch>,
  tagBudgets: TagBudgets,
  { byId, madeFrom }: RoutingTable,
): Route | undefined {
  const route = byId.get(channel.id);
  // A store hands out the same object until a channel changes.
  if (route?.channel !== channel) return undefined;
  const { tag } = channel;
  if (tag === undefined) return route;
  if (madeFrom.switches.get(tag) !== switches.get(tag)) return undefined;
  return tagBudgets.has(tag) || madeFrom.tagBudgets.has(tag) ? undefined : route;
}

function areSame(some: readonly Route[], others: readonly Route[] | undefined): boolean {
  return some.length === others?.length && some.every((route, at) => route === others[at]);
}

function prepared(make: () => RouteResult): RouteResult {
  try {
    return make();
  } catch (error) {
    return { kind: 'unusable', why: reasonOf(error) };
  }
}

/** The plan of each model, without the channels from which none can be made: those are left out for all of their models. */
function plansOf(
  routesByModel: ReadonlyMap<string, readonly Route[]>,
  planOf: PlanOf,
): {
  readonly plans: ReadonlyMap<string, Plan>;
  readonly routes: ReadonlyMap<string, readonly Route[]>;
  readonly broken: readonly UnusableChannel[];
} {
  const plans = new Map<string, Plan>();
  const broken: UnusableChannel[] = [];
  for (const [model, routes] of routesByModel) {
    const plan = attempted(() => planOf(model, routes));
    if (plan.kind === 'made') {
      plans.set(model, plan.value);
      continue;
    }
    const culprits = routes.flatMap((route) => {
      const alone = attempted(() => planOf(model, [route]));
      return alone.kind === 'made' ? [] : [{ channel: route.channel, why: alone.why }];
    });
    // If each one works alone, the fault lies in the combination.
    const all = routes.map(({ channel }) => ({ channel, why: plan.why }));
    broken.push(...(culprits.length > 0 ? culprits : all));
  }
  if (broken.length === 0) return { plans, routes: routesByModel, broken };
  const ids = new Set(broken.map(({ channel }) => channel.id));
  const rest = new Map<string, readonly Route[]>();
  for (const [model, routes] of routesByModel) {
    const usable = routes.filter(({ id }) => !ids.has(id));
    if (usable.length > 0) rest.set(model, usable);
  }
  const without = plansOf(rest, planOf);
  return { ...without, broken: [...broken, ...without.broken] };
}

type Attempted<T> =
  { readonly kind: 'made'; readonly value: T } | { readonly kind: 'failed'; readonly why: string };

function attempted<T>(make: () => T): Attempted<T> {
  try {
    return { kind: 'made', value: make() };
  } catch (error) {
    return { kind: 'failed', why: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  return `it cannot be prepared for traffic: ${messageOf(error)}`;
}

function byModelOf(routes: Iterable<Route>): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  for (const route of routes) {
    for (const model of Object.keys(route.channel.models)) append(found, model, route);
  }
  return found;
}

function byModel(channels: readonly UnusableChannel[]): Map<string, UnusableChannel[]> {
  const found = new Map<string, UnusableChannel[]>();
  for (const each of channels) {
    for (const model of Object.keys(each.channel.models)) append(found, model, each);
  }
  return found;
}

function append<T>(lists: Map<string, T[]>, name: string, item: T): void {
  const list = lists.get(name);
  if (list === undefined) lists.set(name, [item]);
  else list.push(item);
}
