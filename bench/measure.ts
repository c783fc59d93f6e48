import { driveClosed, driveOpen, Lines, percentile, scheduleOf } from './load.js';
import { cpuMicroseconds, peakMiB, startTargets, type Kind, type Target } from './targets.js';

/** How long and how often to measure. */
export interface Effort {
  /** Requests of a kind that a process answers before it is measured, and the most seconds that this may take. */
  readonly warmUpRequests: number;
  readonly warmUpSeconds: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly openSeconds: number;
}

/** Pass-through and gateway in the same rounds. CPU time is user and system time of all threads, per request. */
export interface Cost {
  /** The median of the rounds' ratios: a machine that slows down slows both sides of a round. */
  readonly ratio: number;
  /** A quarter of the rounds are below the first, a quarter above the second. */
  readonly quartiles: readonly [number, number];
  readonly bareUs: number;
  readonly gatewayUs: number;
  readonly barePerSecond: number;
  readonly gatewayPerSecond: number;
  /** Requests of both, in all rounds, that were answered with a status other than 200. */
  readonly failures: number;
}

export interface Latency {
  readonly perSecond: number;
  readonly bare: Percentiles;
  readonly gateway: Percentiles;
}

/** In milliseconds. */
export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

export interface Pair {
  readonly bare: Target;
  readonly gateway: Target;
}

/**
 * Lets both answer one kind of request until their engines have optimized the code: counted in requests, because a busy
 * machine serves only a fraction of them in the same time.
 */
export async function warmUp(
  { bare, gateway }: Pair,
  kind: Kind,
  connections: number,
  { warmUpRequests, warmUpSeconds }: Pick<Effort, 'warmUpRequests' | 'warmUpSeconds'>,
): Promise<void> {
  // A large request runs the inner loops more often.
  const enough = warmUpRequests / Math.max(1, kind.documents / LARGE_DOCUMENTS);
  for (const target of [bare, gateway]) {
    const lines = linesTo(target, kind, connections);
    const until = performance.now() + warmUpSeconds * 1000;
    for (let done = 0; done < enough && performance.now() < until;) {
      done += (await lines.drive(WARM_UP_SLICE_SECONDS)).requests;
    }
    lines.close();
  }
}

const WARM_UP_SLICE_SECONDS = 0.2;
const LARGE_DOCUMENTS = 200;

/** The cost of a request, closed loop, in turns. */
export async function measureCost(
  pair: Pair,
  kind: Kind,
  connections: number,
  effort: Effort,
): Promise<Cost> {
  await warmUp(pair, kind, connections, effort);
  const bare = new Measured(pair.bare, kind, connections);
  const gateway = new Measured(pair.gateway, kind, connections);
  const rounds: { bare: Turn; gateway: Turn }[] = [];
  // The first round opens the connections.
  for (let round = -1; round < effort.rounds; round += 1) {
    // The second inherits the state that the first has left, so they swap places every round.
    const first = round % 2 === 0 ? bare : gateway;
    const second = first === bare ? gateway : bare;
    const turns = [await first.turn(effort.seconds), await second.turn(effort.seconds)] as const;
    const [ofBare, ofGateway] = first === bare ? turns : [turns[1], turns[0]];
    if (round >= 0) rounds.push({ bare: ofBare, gateway: ofGateway });
  }
  bare.close();
  gateway.close();
  const ratios = rounds.map((round) => round.gateway.cpuUs / round.bare.cpuUs);
  return {
    ratio: quantile(ratios, 0.5),
    quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    bareUs: median(rounds.map((round) => round.bare.cpuUs)),
    gatewayUs: median(rounds.map((round) => round.gateway.cpuUs)),
    barePerSecond: median(rounds.map((round) => round.bare.perSecond)),
    gatewayPerSecond: median(rounds.map((round) => round.gateway.perSecond)),
    failures: rounds.reduce((sum, round) => sum + round.bare.failures + round.gateway.failures, 0),
  };
}

const SCHEDULE_SEED = 11;

/** Latency for callers, open loop, at `perSecond` requests a second. */
export async function measureLatency(
  { bare, gateway }: Pair,
  kind: Kind,
  connections: number,
  perSecond: number,
  { openSeconds }: Pick<Effort, 'openSeconds'>,
): Promise<Latency> {
  const schedule = scheduleOf(perSecond, openSeconds, SCHEDULE_SEED);
  const percentilesOf = async (target: Target): Promise<Percentiles> => {
    const aim = { port: target.port, request: target.request(kind), connections };
    const { latencies } = await driveOpen(aim, schedule);
    return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) };
  };
  return { perSecond, bare: await percentilesOf(bare), gateway: await percentilesOf(gateway) };
}

export interface Memory {
  readonly bareMiB: number;
  readonly gatewayMiB: number;
}

/** The most memory that fresh processes take for one kind of request. */
export async function measureMemory(
  kind: Kind,
  connections: number,
  seconds: number,
): Promise<Memory> {
  const targets = await startTargets([kind]);
  try {
    const peakOf = async (target: Target): Promise<number> => {
      const aim = { port: target.port, request: target.request(kind), connections };
      await driveClosed(aim, seconds);
      return peakMiB(target.pid);
    };
    return { bareMiB: await peakOf(targets.bare), gatewayMiB: await peakOf(targets.gateway) };
  } finally {
    await targets.stop();
  }
}

interface Turn {
  readonly failures: number;
  readonly cpuUs: number;
  readonly perSecond: number;
}

/** A target and the connections to it. */
class Measured {
  readonly #pid: number;
  readonly #lines: Lines;

  constructor(target: Target, kind: Kind, connections: number) {
    this.#pid = target.pid;
    this.#lines = linesTo(target, kind, connections);
  }

  async turn(seconds: number): Promise<Turn> {
    const before = await cpuMicroseconds(this.#pid);
    const result = await this.#lines.drive(seconds);
    const after = await cpuMicroseconds(this.#pid);
    return {
      failures: result.failures,
      cpuUs: (after - before) / result.requests,
      perSecond: result.requests / result.seconds,
    };
  }

  close(): void {
    this.#lines.close();
  }
}

function linesTo(target: Target, kind: Kind, connections: number): Lines {
  return new Lines({ port: target.port, request: target.request(kind), connections });
}

function median(numbers: readonly number[]): number {
  return quantile(numbers, 0.5);
}

function quantile(numbers: readonly number[], share: number): number {
  return percentile(
    [...numbers].sort((a, b) => a - b),
    share,
  );
}
