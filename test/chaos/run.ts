import { startCallers, type HeldKey } from './callers.js';
import { makeHome } from '../system/fleet.js';
import { createKeys } from '../../src/store/redis/keys.js';
import { eventually } from '../support/redis-server.js';
import { audit } from './audit.js';
import { disturb, type Grant } from './disturbances.js';
import { ChaosFleet, CLOCK, STALLS } from './fleet.js';
import { startLink } from './link.js';
import { Management } from './management.js';
import {
  mayBeForgotten,
  type KeySeen,
  type Observations,
  type OffSeen,
  type OwnerSeen,
  type Span,
  type Violation,
} from './observations.js';
import { chanceOf } from './random.js';
import {
  ANSWERS,
  DEADLINE_MS,
  gatewaySettings,
  GRACE_MS,
  mostAttempts,
  PLACES,
  PRICES,
  RULES,
  UPSTREAMS,
} from './settings.js';
import { startStore, type ChaosStore, type StoreKind } from './stores.js';
import { startUpstream } from './upstreams.js';

export interface ChaosOptions {
  readonly seed: string;
  readonly seconds: number;
  readonly store: StoreKind;
  /** A promise to break, of `preload/sabotage-hooks.mjs`. */
  readonly sabotage?: string;
  readonly tell: (what: string) => void;
}

export interface ChaosOutcome {
  readonly violations: readonly Violation[];
  readonly summary: string;
}

const CALLERS = 16;
const USER_QUOTA = 1_000_000_000;
/** By user, the keys: quota, and requests at once. */
const KEYS: readonly (readonly { readonly quota: number; readonly atOnce: number }[])[] = [
  [
    { quota: 1_000_000, atOnce: 0 },
    { quota: 2_000, atOnce: 0 },
  ],
  [
    { quota: 1_000_000, atOnce: 0 },
    { quota: 1_000_000, atOnce: 3 },
  ],
];

/** A storm over a whole fleet, then calm, then the reckoning. */
export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const { seed, seconds, tell } = options;
  const chance = chanceOf(seed);
  const ends: (() => Promise<void>)[] = [];
  try {
    const store = await startStore(options.store);
    ends.push(() => store.stop());
    const upstreams = await Promise.all(
      UPSTREAMS.map((plan) => startUpstream(plan, chance.fork(plan.channel))),
    );
    for (const upstream of upstreams) ends.push(() => upstream.close());
    const ports = await Promise.all(
      UPSTREAMS.map(async ({ slowMs }, at) => {
        const port = upstreams[at]?.port ?? 0;
        if (slowMs === undefined) return port;
        const link = await startLink(port, slowMs / 2);
        ends.push(() => link.close());
        return link.port;
      }),
    );
    const home = await makeHome(gatewaySettings(ports), {
      REDIS_URL: store.url,
      ENCRYPTION_KEY: 'a key for the suite',
    });
    ends.push(() => home.remove());
    const fleet = new ChaosFleet(home, [STALLS, CLOCK], options.sabotage);
    ends.push(() => fleet.close());
    // One after the other: the first one makes the account.
    for (const place of PLACES) await fleet.start(place);
    const management = new Management(
      () => fleet.targets,
      (targets) => chance.pick(targets),
    );
    await management.logIn('root', 'a password for tests');
    const owners = await makeOwners(management, KEYS);
    const keys = owners.flatMap((owner) => owner.keys);
    const channels = await management.call<{
      readonly items: readonly { readonly id: number; readonly name: string }[];
    }>('GET', '/api/channel');
    const grants: Grant[] = [];
    const off: OffSeen[] = [];
    const stalls = watchStalls();
    ends.push(() => {
      stalls.stop();
      return Promise.resolve();
    });
    tell(`seed ${seed}, ${options.store} store, ${seconds} s`);
    const callers = startCallers({
      ...{
        count: CALLERS,
        keys,
        leaving: keys[0],
        prices: PRICES,
        mostAttempts,
        answers: ANSWERS,
        deadlineMs: DEADLINE_MS,
        chance,
      },
      targets: () => fleet.targets,
    });
    ends.push(() => callers.stop());
    await disturb(
      {
        ...{ fleet, store, management, upstreams, grants, off, keys, tell, places: PLACES },
        tags: ['blue', 'green'],
        channels: channels.items.filter(({ name }) => name !== 'far'),
      },
      chance.fork('disturbances'),
      Date.now() + seconds * 1_000,
    );
    tell('calm');
    await callers.stop();
    const unserved = await unservedModels(fleet, keys[0]);
    await settle(fleet);
    const observations: Observations = {
      rules: RULES,
      calls: callers.seen.concat(unserved.calls),
      attempts: upstreams.flatMap(({ attempts }) => attempts),
      off,
      processes: fleet.seen(),
      ...(await reckoning(management, store, owners, grants)),
      storeTroubles: store.troubles,
      storeLosses: store.losses,
      stalls: stalls.spans,
      unserved: unserved.models,
    };
    return { violations: audit(observations), summary: summaryOf(observations) };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

interface OwnKey extends HeldKey {
  readonly quota: number;
  readonly atOnce: number;
}

interface Owner {
  readonly id: number;
  readonly keys: readonly OwnKey[];
}

export async function makeOwners(
  management: Management,
  users: typeof KEYS,
): Promise<readonly Owner[]> {
  const owners: Owner[] = [];
  for (const [at, wanted] of users.entries()) {
    const user = await management.call<{ readonly id: number }>('POST', '/api/user', {
      username: `owner${at + 1}`,
      password: 'a password for tests',
      quota: USER_QUOTA,
    });
    const keys: OwnKey[] = [];
    for (const { quota, atOnce } of wanted) {
      const made = await management.call<HeldKey>('POST', '/api/token', {
        ...{ name: `key ${keys.length + 1}`, user_id: user.id },
        ...{ remain_quota: quota, max_concurrency: atOnce },
      });
      keys.push({ id: made.id, key: made.key, quota, atOnce });
    }
    owners.push({ id: user.id, keys });
  }
  return owners;
}

/** When everything is well again, every gateway serves every model again. */
async function unservedModels(
  fleet: ChaosFleet,
  key: OwnKey | undefined,
): Promise<{ readonly models: readonly string[]; readonly calls: Observations['calls'] }> {
  if (key === undefined) throw new Error('there is no key');
  const calls: Observations['calls'][number][] = [];
  const models: string[] = [];
  const cases = fleet.targets.flatMap((target) =>
    Object.keys(ANSWERS).map((model) => ({ target, model })),
  );
  for (const [at, { target, model }] of cases.entries()) {
    const one = startCallers({
      ...{
        count: 1,
        keys: [key],
        leaving: key,
        prices: PRICES,
        mostAttempts,
        deadlineMs: DEADLINE_MS,
      },
      answers: { [model]: ANSWERS[model] ?? [] },
      targets: () => [target],
      chance: chanceOf(`calm ${at}`),
      name: `calm${at}-`,
    });
    try {
      await eventually(
        `${target.name} serves ${model}`,
        () =>
          Promise.resolve(
            one.seen.some(({ end }) => end.kind === 'answered' && end.status === 200),
          ),
        10_000,
      );
    } catch {
      models.push(`${model} on ${target.name}`);
    }
    await one.stop();
    calls.push(...one.seen);
  }
  return { models, calls };
}

/** Until every settlement is made, and what nobody settles has expired. */
export async function settle(fleet: ChaosFleet): Promise<void> {
  await eventually(
    'all is settled',
    async () => (await fleet.pendingSettlements()) === 0,
    DEADLINE_MS + GRACE_MS + 10_000,
  );
  await new Promise((resolve) => setTimeout(resolve, DEADLINE_MS + GRACE_MS + 1_000));
}

/** What the store says at the end. */
export async function reckoning(
  management: Management,
  { client, losses }: ChaosStore,
  owners: readonly Owner[],
  grants: readonly Grant[],
): Promise<{ readonly keys: readonly KeySeen[]; readonly owners: readonly OwnerSeen[] }> {
  const names = createKeys('rg:');
  const keys: KeySeen[] = [];
  const seen: OwnerSeen[] = [];
  for (const owner of owners) {
    for (const { id, quota, atOnce } of owner.keys) {
      // Reading gives back what has expired.
      const token = await management.call<{
        readonly remain_quota: number;
        readonly used_quota: number;
      }>('GET', `/api/token/${id}`);
      keys.push({
        id,
        ...grantedTo(id, quota, grants, losses),
        remain: token.remain_quota,
        used: token.used_quota,
        maxConcurrency: atOnce,
        busy: Number(await client.hget(names.userToken(owner.id, id), 'busy')),
      });
    }
    const user = await management.call<{ readonly quota: number; readonly used_quota: number }>(
      'GET',
      `/api/user/${owner.id}`,
    );
    const members = await client.zrange(
      names.userReservations(owner.id),
      '-inf',
      '+inf',
      'BYSCORE',
    );
    seen.push({
      ...{ id: owner.id, granted: USER_QUOTA, remain: user.quota, used: user.used_quota },
      keys: owner.keys.map(({ id }) => id),
      // What stands for one that was given back, and may still be settled, holds nothing.
      reservations: members.filter((member) => member !== '-' && !member.includes(':lapsed/'))
        .length,
    });
  }
  return { keys, owners: seen };
}

/** What a key has for certain, and what it may have besides. */
function grantedTo(
  id: number,
  quota: number,
  grants: readonly Grant[],
  losses: readonly Span[],
): Pick<KeySeen, 'granted' | 'mayBeGranted'> {
  const own = grants.filter(({ keyId }) => keyId === id);
  const isCertain = (grant: Grant): boolean => grant.isConfirmed && !mayBeForgotten(grant, losses);
  return {
    granted: own.filter(isCertain).reduce((sum, { amount }) => sum + amount, quota),
    mayBeGranted: own.filter((grant) => !isCertain(grant)).map(({ amount }) => amount),
  };
}

const TICK_MS = 20;
const STALL_MS = 100;

/** Notes when this process did not get to run: its callers then see late what came in time. */
export function watchStalls(): { readonly spans: readonly Span[]; stop(): void } {
  const spans: Span[] = [];
  let lastMs = Date.now();
  const timer = setInterval(() => {
    const nowMs = Date.now();
    if (nowMs - lastMs > TICK_MS + STALL_MS) spans.push({ fromMs: lastMs, toMs: nowMs });
    lastMs = nowMs;
  }, TICK_MS);
  return {
    spans,
    stop() {
      clearInterval(timer);
    },
  };
}

function summaryOf({
  calls,
  attempts,
  processes,
  off,
  storeTroubles,
  stalls,
}: Observations): string {
  const ends = new Map<string, number>();
  for (const { end } of calls) {
    const name = end.kind === 'answered' ? String(end.status) : end.kind;
    ends.set(name, (ends.get(name) ?? 0) + 1);
  }
  const counts = [...ends].sort().map(([name, count]) => `${name}: ${count}`);
  return [
    `${calls.length} calls (${counts.join(', ')}), ${attempts.length} attempts,`,
    `${processes.length} processes, ${off.length} times something was off,`,
    `${storeTroubles.length} troubles of the store, ${stalls.length} stalls of this machine`,
  ].join(' ');
}
