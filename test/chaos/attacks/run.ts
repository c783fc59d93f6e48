import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeHome } from '../../system/fleet.js';
import { audit } from '../audit.js';
import { startCallers } from '../callers.js';
import { ChaosFleet, MEASURE, STALLS, type LeftOver, type Place } from '../fleet.js';
import { Management } from '../management.js';
import { NAMELESS, type CallSeen, type Observations, type Violation } from '../observations.js';
import { chanceOf } from '../random.js';
import { makeOwners, reckoning, settle, watchStalls, type ChaosOutcome } from '../run.js';
import { DEADLINE_MS, gatewaySettings, mostAttempts, PRICES, RULES } from '../settings.js';
import { startStore } from '../stores.js';
import { startUpstream } from '../upstreams.js';
import { ALL_TOGETHER, type Order } from './attacker.js';
import { Attackers } from './attackers.js';
import { startProbes } from './probes.js';

export interface AttackOptions {
  readonly seed: string;
  /** How long each attack takes. */
  readonly seconds: number;
  readonly workers: number;
  readonly attacks: readonly string[];
  readonly tell: (what: string) => void;
}

const CALLERS = 3;
const LANES = 24;
const QUOTA = 1_000_000_000;
/** Of the callers, and of the attackers. */
const KEYS = [[{ quota: QUOTA, atOnce: 0 }], [{ quota: QUOTA, atOnce: 0 }]];
const NO_KEY = 'sk-no';
const UPSTREAM = { channel: 'one', tag: undefined, wire: 'cohere' } as const;
/** What may be left of each kind beside what was there: connections to the upstream and the store, and what was collected late. */
const MAY_BE_LEFT = 60;
const MAY_GROW_BYTES = 48 * 1_048_576;
const IN_FLIGHT = [
  'rerank_requests_in_flight',
  'rerank_bytes_in_flight',
  'rerank_settlements_pending',
];
const CALM_MS = 30_000;

/**
 * Attacks a gateway from a process of its own, one way after the other, while honest callers are served; then looks for what is left
 * of it.
 */
export async function runAttacks(options: AttackOptions): Promise<ChaosOutcome> {
  const { seed, seconds, workers, attacks, tell } = options;
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const store = await startStore('single');
    ends.push(() => store.stop());
    const upstream = await startUpstream(UPSTREAM, chanceOf(seed).fork('upstream'));
    ends.push(() => upstream.close());
    const home = await makeHome(settingsFor(upstream.port), {
      REDIS_URL: store.url,
      ENCRYPTION_KEY: 'a key for the suite',
    });
    ends.push(() => home.remove());
    const fleet = new ChaosFleet(home, [STALLS, MEASURE]);
    ends.push(() => fleet.close());
    const place: Place = { workers, clockMs: 0 };
    await fleet.start(place);
    const management = new Management(
      () => fleet.targets,
      ([target]) => {
        if (target === undefined) throw new Error('the gateway is gone');
        return target;
      },
    );
    await management.logIn('root', 'a password for tests');
    const owners = await makeOwners(management, KEYS);
    const [honest, hostile] = owners.flatMap((owner) => owner.keys);
    if (honest === undefined || hostile === undefined) throw new Error('there are no keys');
    // Before anybody waits: it takes its time.
    const before = await fleet.leftOver(place);
    tell(`seed ${seed}, ${workers} workers: ${leftText(before)}`);
    const stalls = watchStalls();
    ends.push(() => {
      stalls.stop();
      return Promise.resolve();
    });
    const callers = startCallers({
      ...{ count: CALLERS, keys: [honest], leaving: undefined, prices: PRICES, mostAttempts },
      ...{
        answers: { plain: ['plain'] },
        deadlineMs: DEADLINE_MS,
        chance: chanceOf(seed).fork('callers'),
      },
      ...{ targets: () => fleet.targets },
    });
    ends.push(() => callers.stop());
    const [target] = fleet.targets;
    const port = target?.port ?? 0;
    const probes = startProbes(port, () => fleet.cpuMs(place));
    ends.push(() => probes.stop());
    const attackers = new Attackers();
    ends.push(() => attackers.close());
    const order: Omit<Order, 'attack'> = {
      ...{
        port,
        keys: [hostile.key, NO_KEY],
        assets: await assetPaths(),
        seed,
        seconds,
        lanes: LANES,
      },
    };
    for (const attack of attacks) {
      const from = callers.seen.length;
      const work = attackers.carryOut({ ...order, attack });
      if (workers > 1 && attack === ALL_TOGETHER) {
        await sleep((seconds * 1_000) / 2);
        fleet.killWorker(place, 0);
      }
      const { connections, statuses } = await work;
      const waited = probes.longest();
      const longestMs = callers.seen
        .slice(from)
        .reduce((most, { sentMs, endedMs }) => Math.max(most, endedMs - sentMs), 0);
      tell(
        `${attack}: ${connections} connections ${JSON.stringify(statuses)}; others waited ${longestMs} ms, for a connection ${waited.ms} ms (the gateway computed ${waited.cpuMs} of them), RSS ${Math.round(fleet.residentBytes(place) / 1_048_576)} MB`,
      );
      if (fleet.targets.length === 0) break;
    }
    await callers.stop();
    await probes.stop();
    const violations = [...probes.violations];
    if (fleet.targets.length === 0) {
      const [ended] = fleet.seen();
      violations.unshift({
        rule: 'processes',
        what: 'the gateway has ended',
        evidence: [ended, ...fleet.lastWords],
      });
      return { violations, summary: 'the gateway is gone' };
    }
    violations.push(...(await remains(fleet, place, before, tell)));
    await settle(fleet);
    const attempts = upstream.attempts;
    const observations: Observations = {
      rules: RULES,
      calls: [
        ...callers.seen,
        ...attempts
          .filter(({ content }) => content === NAMELESS)
          .map((_, at) => unknownCall(at, hostile.id)),
      ],
      attempts,
      off: [],
      processes: fleet.seen(),
      ...(await reckoning(management, store, owners, [])),
      ...{ storeTroubles: [], storeLosses: [], stalls: stalls.spans, unserved: [] },
    };
    violations.push(...audit(observations));
    return {
      violations,
      summary: `${attacks.length} attacks, ${callers.seen.length} calls beside them, ${attempts.length} attempts`,
    };
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** An attacker's request that came as far as the upstream: it may have been paid for. */
function unknownCall(at: number, keyId: number): CallSeen {
  return {
    ...{ id: `attack-${at}`, content: NAMELESS, keyId, process: 'gateway 1', model: 'plain' },
    ...{ mostCost: PRICES.plain ?? 0, mostAttempts: 1, budgetMs: 0, sentMs: 0, endedMs: 0 },
    end: { kind: 'left' },
  };
}

/** What is there once all attackers have gone that was not there before. */
async function remains(
  fleet: ChaosFleet,
  place: Place,
  before: readonly LeftOver[],
  tell: (what: string) => void,
): Promise<readonly Violation[]> {
  const most = before.reduce((sum, { streams }) => Math.max(sum, streams), 0) + MAY_BE_LEFT;
  const mostBytes =
    before.reduce((sum, { heapBytes }) => Math.max(sum, heapBytes), 0) + MAY_GROW_BYTES;
  const isMore = ({ streams, timers, heapBytes }: LeftOver): boolean =>
    Math.max(streams, timers) > most || heapBytes > mostBytes;
  const endMs = Date.now() + CALM_MS;
  for (;;) {
    await sleep(2_000);
    const left = await fleet.leftOver(place);
    const counts = await Promise.all(IN_FLIGHT.map((name) => fleet.metric(name)));
    const isOver = !left.some(isMore) && counts.every((count) => count === 0);
    if (!isOver && Date.now() < endMs) continue;
    tell(`after all: ${leftText(left)}; in flight ${counts.join(', ')}`);
    return isOver
      ? []
      : [
          {
            rule: 'limits',
            what: 'something is left of the attacks',
            evidence: [before, left, counts],
          },
        ];
  }
}

function leftText(left: readonly LeftOver[]): string {
  return left
    .map(({ streams, timers, heapBytes, rssBytes }) => {
      const megabytes = [heapBytes, rssBytes].map((bytes) => Math.round(bytes / 1_048_576));
      return `${streams} streams, ${timers} timers, heap ${megabytes[0]} MB, RSS ${megabytes[1]} MB`;
    })
    .join(' | ');
}

/** As in chaos, with one channel, and times that make idle connections end soon. */
function settingsFor(port: number): Readonly<Record<string, unknown>> {
  const settings = gatewaySettings([port]);
  const [channel] = settings.channels as readonly unknown[];
  return {
    ...settings,
    gateway: { ...(settings.gateway as object), default_model: 'plain' },
    server: {
      ...{
        drain_ms: 5_000,
        headers_timeout_ms: 3_000,
        body_timeout_ms: 5_000,
        keep_alive_timeout_ms: 5_000,
      },
      // A stranger and a key together leave room for others.
      in_flight_share: 0.4,
    },
    models: {},
    prices: { models: { plain: { per_request: PRICES.plain } } },
    channels: [channel],
  };
}

async function assetPaths(): Promise<readonly string[]> {
  const names = await readdir('dist/console/assets');
  return names.filter((name) => name.endsWith('.js')).map((name) => `/console/assets/${name}`);
}
