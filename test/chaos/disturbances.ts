import type { HeldKey } from './callers.js';
import type { ChaosFleet, Place } from './fleet.js';
import { Refused, type Management } from './management.js';
import type { OffSeen, Span } from './observations.js';
import type { Chance } from './random.js';
import type { ChaosStore } from './stores.js';
import { BAD_MOODS, type ChaosUpstream } from './upstreams.js';

/** Units that a key was given, or may have been. */
export interface Grant extends Span {
  readonly keyId: number;
  readonly amount: number;
  readonly isConfirmed: boolean;
}

/** What is disturbed. */
export interface Scene {
  readonly fleet: ChaosFleet;
  readonly store: ChaosStore;
  readonly management: Management;
  readonly upstreams: readonly ChaosUpstream[];
  readonly tags: readonly string[];
  /** Channels that are in nobody's way when they are off. */
  readonly channels: readonly { readonly id: number; readonly name: string }[];
  readonly keys: readonly HeldKey[];
  readonly places: readonly Place[];
  readonly grants: Grant[];
  readonly off: OffSeen[];
  readonly tell: (what: string) => void;
}

/** One thing after the other of a kind, side by side with the other kinds. */
type Lane = (scene: Scene, chance: Chance) => Promise<void>;

/** Disturbs until `untilMs`, by chance; when it resolves, all is as it was before. */
export async function disturb(scene: Scene, chance: Chance, untilMs: number): Promise<void> {
  const lanes: Readonly<Record<string, Lane>> = { moods, processes, stores, switches, edits };
  await Promise.all(
    Object.entries(lanes).map(async ([name, lane]) => {
      const own = chance.fork(name);
      while (Date.now() < untilMs) {
        await pause(own.whole(100, 1_500));
        if (Date.now() < untilMs) await lane(scene, own);
      }
    }),
  );
  for (const upstream of scene.upstreams) upstream.mood('well');
  await sayAgain(scene);
}

/** Everything is on: a store that forgets may not know so. */
async function sayAgain({ management, tags, channels, keys }: Scene): Promise<void> {
  for (const tag of tags) {
    await insist(() => management.call('POST', '/api/channel/tag/enabled', { tag }));
  }
  for (const { id } of channels) {
    await insist(() => management.call('PUT', '/api/channel?status_only=true', { id, status: 1 }));
  }
  for (const { id } of keys) {
    await insist(() => management.call('PUT', '/api/token?status_only=true', { id, status: 1 }));
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function moods({ upstreams, tell }: Scene, chance: Chance): Promise<void> {
  const upstream = chance.pick(upstreams);
  const mood = chance.pick(BAD_MOODS);
  tell(`upstream ${upstreams.indexOf(upstream) + 1}: ${mood}`);
  upstream.mood(mood);
  await pause(chance.whole(200, 3_000));
  if (chance.hits(0.7)) upstream.mood('well');
}

async function processes({ fleet, places, tell }: Scene, chance: Chance): Promise<void> {
  const place = chance.pick(places);
  const at = `gateway at place ${places.indexOf(place) + 1}`;
  const what = chance.pick(['kill', 'terminate', 'freeze', 'freeze', 'set back'] as const);
  tell(`${at}: ${what}`);
  switch (what) {
    case 'kill':
      if (place.workers > 1 && chance.hits(0.7)) {
        fleet.killWorker(place, chance.whole(0, 1));
        return;
      }
      await restart(fleet, place, 'SIGKILL', chance);
      tell(`${at}: back`);
      return;
    case 'terminate':
      await restart(fleet, place, 'SIGTERM', chance);
      tell(`${at}: back`);
      return;
    case 'freeze':
      // A supervisor alone would only stop accepting.
      if (place.workers === 1) await fleet.freeze(place, chance.whole(50, 1_500));
      return;
    case 'set back':
      if (place.workers === 1) fleet.setBack(place);
  }
}

async function restart(
  fleet: ChaosFleet,
  place: Place,
  signal: 'SIGKILL' | 'SIGTERM',
  chance: Chance,
): Promise<void> {
  await fleet.end(place, signal);
  await pause(chance.whole(0, 800));
  await fleet.start(place);
}

async function stores({ store, tell }: Scene, chance: Chance): Promise<void> {
  tell(await store.disturb(chance));
  await pause(chance.whole(500, 2_500));
}

async function switches(scene: Scene, chance: Chance): Promise<void> {
  const { management, off, tags, channels, tell } = scene;
  const tag = chance.pick(tags);
  const channel = chance.pick(channels);
  const isTag = chance.hits(0.6);
  const name = isTag ? tag : channel.name;
  const set = (isOn: boolean): Promise<unknown> =>
    isTag
      ? management.call('POST', `/api/channel/tag/${isOn ? 'enabled' : 'disabled'}`, { tag })
      : management.call('PUT', '/api/channel?status_only=true', {
          id: channel.id,
          status: isOn ? 1 : 2,
        });
  const askedMs = Date.now();
  const isOff = await promised(() => set(false));
  const fromMs = Date.now();
  tell(`${name}: off${isOff ? '' : ', perhaps'}`);
  await pause(chance.whole(200, 1_500));
  if (isOff) off.push({ kind: isTag ? 'tag' : 'channel', name, askedMs, fromMs, toMs: Date.now() });
  await insist(() => set(true));
  tell(`${name}: on`);
}

async function edits(scene: Scene, chance: Chance): Promise<void> {
  const { management, keys, channels, off, grants, tell } = scene;
  const { id } = chance.pick(keys);
  const edit = chance.pick(['quota', 'quota', 'disable', 'channel'] as const);
  if (edit === 'channel') {
    const channel = chance.pick(channels);
    const change = {
      priority: chance.whole(0, 2),
      weight: chance.whole(0, 3),
      max_concurrency: chance.pick([0, 0, 4]),
    };
    tell(`channel ${channel.name}: ${JSON.stringify(change)}`);
    await promised(() => management.call('PUT', '/api/channel', { id: channel.id, ...change }));
  } else if (edit === 'quota') {
    const amount = chance.whole(1, 5_000);
    tell(`key ${id}: ${amount} more`);
    const fromMs = Date.now();
    const outcome = await outcomeOf(() =>
      management.call('PUT', '/api/token', { id, add_quota: amount }),
    );
    const isConfirmed = outcome === 'done';
    if (outcome !== 'refused') {
      grants.push({ keyId: id, amount, isConfirmed, fromMs, toMs: Date.now() });
    }
  } else {
    const set = (status: number): Promise<unknown> =>
      management.call('PUT', '/api/token?status_only=true', { id, status });
    const askedMs = Date.now();
    const isOff = await promised(() => set(2));
    const fromMs = Date.now();
    tell(`key ${id}: disabled${isOff ? '' : ', perhaps'}`);
    await pause(chance.whole(100, 800));
    if (isOff) off.push({ kind: 'key', name: String(id), askedMs, fromMs, toMs: Date.now() });
    await insist(() => set(1));
  }
}

/** Whether a change is made: a lost answer promises nothing. What had arrived before it is read before this resolves. */
async function promised(change: () => Promise<unknown>): Promise<boolean> {
  const outcome = await outcomeOf(change);
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return outcome === 'done';
}

async function outcomeOf(change: () => Promise<unknown>): Promise<'done' | 'refused' | 'unknown'> {
  try {
    await change();
    return 'done';
  } catch (error) {
    // A 5xx may come after the change was made.
    return error instanceof Refused && error.status < 500 ? 'refused' : 'unknown';
  }
}

/** Tries until it is done: the suite has to know how things stand. */
async function insist(change: () => Promise<unknown>): Promise<void> {
  while ((await outcomeOf(change)) === 'unknown') await pause(100);
}
