import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { fileURLToPath } from 'node:url';
import { PROGRAM, startProcess, type GatewayProcess, type Home } from '../system/fleet.js';
import { eventually } from '../support/redis-server.js';
import type { Target } from './callers.js';
import type { ProcessSeen, Span } from './observations.js';

/** A place for a gateway: one process after the other runs there. */
export interface Place {
  readonly workers: number;
  /** How far its clock is off. */
  readonly clockMs: number;
}

/** What `preload/measure.mjs` finds in a process. */
export interface LeftOver {
  readonly streams: number;
  readonly timers: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
}

interface Running {
  readonly name: string;
  readonly place: Place;
  readonly process: GatewayProcess;
  readonly target: Target;
  readonly killsMs: number[];
  readonly frozen: Span[];
  /** What went wrong with it beside what its log says. */
  readonly alarms: string[];
  terminatedMs: number | undefined;
  exit: { readonly atMs: number; readonly code: number | null } | undefined;
}

export const CLOCK = fileURLToPath(new URL('preload/clock.mjs', import.meta.url));
export const STALLS = fileURLToPath(new URL('preload/stalls.mjs', import.meta.url));
export const MEASURE = fileURLToPath(new URL('preload/measure.mjs', import.meta.url));
const SABOTAGE = fileURLToPath(new URL('preload/sabotage.mjs', import.meta.url));

/** What is never to stand in a log, whatever happened around it. */
const ALARM =
  /units were not charged|settlement of [1-9]\d* units given up|"level":"fatal"|TypeError|RangeError/;

/** How long a gateway may take to end that was told to: its drain, and as much again. */
const ENDED_MS = 20_000;
const LAST_LINES = 20;
/** Several start at once, on a machine that runs all the others too. */
const START_MS = 240_000;

/** What `preload/stalls.mjs` has said. */
function stallsIn(log: readonly string[]): Span[] {
  return log.flatMap((line) => {
    const [, from, to] = /^stalled from (\d+) to (\d+)$/.exec(line.trim()) ?? [];
    return from === undefined ? [] : [{ fromMs: Number(from), toMs: Number(to) }];
  });
}

function servingPids(log: readonly string[]): readonly number[] {
  return log.flatMap((line) => {
    const [, pid] = /"pid":(\d+).*"msg":"serving"/.exec(line) ?? [];
    return pid === undefined ? [] : [Number(pid)];
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

function residentBytes(pid: number): number {
  try {
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  } catch {
    return 0;
  }
}

/** In ticks of 10 ms. */
function cpuMs(pid: number): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

/** It gives up where the store goes away while it starts, and whoever runs it starts it again. */
async function startAnyhow(home: Home): Promise<GatewayProcess> {
  const endMs = Date.now() + START_MS;
  for (;;) {
    try {
      return await startProcess(home, PROGRAM, START_MS);
    } catch (error) {
      if (!String(error).includes('ended with 69') || Date.now() > endMs) throw error;
    }
  }
}

/** The gateways of one run: real processes, which come and go. */
export class ChaosFleet {
  readonly #home: Home;
  readonly #imports: readonly string[];
  readonly #sabotage: string | undefined;
  readonly #all: Running[] = [];

  /** `imports` are loaded into each process before the program. */
  constructor(home: Home, imports: readonly string[], sabotage?: string) {
    this.#home = home;
    this.#imports = imports;
    this.#sabotage = sabotage;
  }

  /** Starts a gateway at a place, and resolves when it listens. */
  async start(place: Place): Promise<string> {
    const name = `gateway ${this.#all.length + 1}`;
    const imports = [...this.#imports, ...(this.#sabotage === undefined ? [] : [SABOTAGE])];
    const home: Home = {
      ...this.#home,
      env: {
        ...this.#home.env,
        WORKERS: String(place.workers),
        NODE_OPTIONS: imports.map((file) => `--import=${file}`).join(' '),
        CHAOS_CLOCK_OFFSET_MS: String(place.clockMs),
        CHAOS_CLOCK_STEP_MS: '-30000',
        ...(this.#sabotage === undefined ? {} : { CHAOS_SABOTAGE: this.#sabotage }),
      },
    };
    const process = await startAnyhow(home);
    const agent = new Agent({ keepAlive: true });
    const running: Running = {
      ...{ name, place, process, killsMs: [], frozen: [], alarms: [] },
      target: { name, port: process.port, agent },
      terminatedMs: undefined,
      exit: undefined,
    };
    void process.exited.then(({ code }) => {
      running.exit = { atMs: Date.now(), code };
      agent.destroy();
    });
    this.#all.push(running);
    return name;
  }

  /** Gateways that take requests, as far as their callers know. */
  get targets(): readonly Target[] {
    return this.#running().map(({ target }) => target);
  }

  get places(): readonly Place[] {
    return this.#running().map(({ place }) => place);
  }

  get pids(): readonly number[] {
    return this.#running().map(({ process }) => process.pid);
  }

  /** Ends a gateway, by force or as one is told to; resolves when the process has gone. */
  async end(place: Place, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const running = this.#at(place);
    if (running === undefined) return;
    if (signal === 'SIGKILL') running.killsMs.push(Date.now());
    else running.terminatedMs = Date.now();
    running.process.kill(signal);
    const late = setTimeout(() => {
      const tail = running.process.log.slice(-LAST_LINES).join('\n');
      running.alarms.push(`it has not ended ${ENDED_MS} ms after ${signal}: ${tail}`);
      running.killsMs.push(Date.now());
      running.process.kill('SIGKILL');
    }, ENDED_MS);
    await running.process.exited;
    clearTimeout(late);
  }

  /** Kills one of the processes that serve behind a gateway. */
  killWorker(place: Place, at: number): void {
    const running = this.#at(place);
    const pids = servingPids(running?.process.log ?? []);
    const pid = pids.at(-1 - (at % place.workers));
    if (running === undefined || pid === undefined) return;
    running.killsMs.push(Date.now());
    signal(pid, 'SIGKILL');
  }

  /** Stops a gateway for a while, as a machine that is too busy does. */
  async freeze(place: Place, ms: number): Promise<void> {
    const running = this.#at(place);
    if (running === undefined) return;
    const fromMs = Date.now();
    running.process.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    running.process.kill('SIGCONT');
    running.frozen.push({ fromMs, toMs: Date.now() });
  }

  /** Sets the clock of a gateway back. */
  setBack(place: Place): void {
    this.#at(place)?.process.kill('SIGUSR2');
  }

  /** What each process that serves at a place keeps; needs `MEASURE`. */
  async leftOver(place: Place): Promise<readonly LeftOver[]> {
    const running = this.#at(place);
    if (running === undefined) return [];
    const { process } = running;
    const from = process.log.length;
    const pids = this.#pidsAt(running);
    for (const pid of pids) signal(pid, 'SIGUSR2');
    const found = (): readonly LeftOver[] =>
      process.log.slice(from).flatMap((line) => {
        const [, text] = /^left (\{.*\})$/.exec(line) ?? [];
        return text === undefined ? [] : [JSON.parse(text) as LeftOver];
      });
    // A worker that takes long to count may be replaced meanwhile.
    const alive = (): number => pids.filter((pid) => residentBytes(pid) > 0).length;
    await eventually('all have counted', () => Promise.resolve(found().length >= alive()), 120_000);
    return found();
  }

  /** Memory of the processes that serve at a place. */
  residentBytes(place: Place): number {
    const running = this.#at(place);
    const pids = running === undefined ? [] : this.#pidsAt(running);
    return pids.reduce((sum, pid) => sum + residentBytes(pid), 0);
  }

  /** Processor time that the processes at a place have used. */
  cpuMs(place: Place): number {
    const running = this.#at(place);
    const pids = running === undefined ? [] : this.#pidsAt(running);
    return pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
  }

  /** Settlements that are under way in all gateways. */
  pendingSettlements(): Promise<number> {
    return this.metric('rerank_settlements_pending');
  }

  /** The sum of a metric over all gateways. */
  async metric(name: string): Promise<number> {
    const counts = await Promise.all(this.#running().map(({ process }) => process.metric(name)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** The end of what the gateways have said. */
  get lastWords(): readonly string[] {
    return this.#all.flatMap(({ process }) => process.log.slice(-LAST_LINES));
  }

  seen(): readonly ProcessSeen[] {
    return this.#all.map(({ name, killsMs, terminatedMs, frozen, exit, alarms, process }) => ({
      ...{ name, killsMs, terminatedMs, exit },
      frozen: [...frozen, ...stallsIn(process.log)],
      alarms: [...alarms, ...process.log.filter((line) => ALARM.test(line))],
    }));
  }

  async close(): Promise<void> {
    for (const { process } of this.#all) process.kill('SIGKILL');
    await Promise.all(this.#all.map(({ process }) => process.exited));
  }

  #pidsAt({ place, process }: Running): readonly number[] {
    return place.workers === 1
      ? [process.pid]
      : servingPids(process.log).filter((pid) => residentBytes(pid) > 0);
  }

  #running(): readonly Running[] {
    return this.#all.filter(({ exit, killsMs, terminatedMs, place }) => {
      const isEnding = terminatedMs !== undefined || (killsMs.length > 0 && place.workers === 1);
      return exit === undefined && !isEnding;
    });
  }

  #at(place: Place): Running | undefined {
    return this.#running().find((running) => running.place === place);
  }
}
