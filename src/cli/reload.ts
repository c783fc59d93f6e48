import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { openStore } from '../assembly/open-store.js';
import { storeFile } from '../config/data-files.js';
import { loadGroups } from '../config/load-groups.js';
import { systemCode } from '../core/errors.js';
import type { NodeAbout, NodeReload } from '../store/nodes.js';
import type { Store } from '../store/store.js';
import { RefusedError } from './errors.js';
import { withoutStore, type CliIo } from './session.js';
import { names } from './text.js';

const NO_GATEWAY = 'No gateway with this store runs here that can reload.';
const CONNECT_TIMEOUT_MS = 3_000;
/** Longer than workers may take to read their settings. */
const REPORT_MS = 40_000;
const ASK_EVERY_MS = 200;

/** Adds the command that reloads the gateways of a machine, as SIGHUP does. */
export function addCommands(program: Command, io: CliIo): void {
  program
    .command('reload')
    .addHelpText(
      'after',
      '\nRun it on the machine, or in the container, of the gateway, as a user who may send it a signal. It finds the gateway in the store.\nA gateway that was started at a terminal does not reload.',
    )
    .action(
      withoutStore(io, async ({ sources, show }) => {
        const { store: settings } = loadGroups(sources, ['store']);
        // Opening it would create it.
        if (settings.redisUrl === undefined && !existsSync(storeFile(settings.dataDir))) {
          throw new RefusedError(NO_GATEWAY);
        }
        const store = await openStore(settings, {
          connectTimeoutMs: CONNECT_TIMEOUT_MS,
        });
        try {
          const sentMs = io.now();
          const pids = new Set((await gatewaysHere(store, sentMs)).keys());
          if (pids.size === 0) {
            throw new RefusedError(NO_GATEWAY);
          }
          for (const pid of pids) sendSighup(pid);
          const reports = await outcomes(store, pids, { now: io.now, sinceMs: sentMs });
          show(
            reports.map(([pid, { applied, needRestart, why }]) => ({
              ...{ pid, applied, need_restart: needRestart, why: why ?? null },
            })),
            reports.map(([pid, outcome]) => `Process ${pid}: ${textOf(outcome)}`).join('\n'),
          );
          if (reports.length < pids.size) {
            throw new RefusedError('A gateway does not report what came of it; see its log.');
          }
          const failures = reports.filter(([, { why }]) => why !== undefined);
          if (failures.length > 0) {
            throw new RefusedError(
              failures
                .map(([pid, { why }]) => `Process ${pid} keeps its settings: ${why}`)
                .join('\n'),
            );
          }
        } finally {
          await store.close();
        }
      }),
    );
}

/** What the processes report that reload here: each is a gateway, or the primary of several workers. */
async function gatewaysHere(
  store: Store,
  nowMs: number,
): Promise<ReadonlyMap<number, readonly NodeAbout[]>> {
  const here = new Map<number, NodeAbout[]>();
  for (const { version, about } of await store.listNodes(nowMs)) {
    if (version === undefined || about?.reloading?.machine !== hostname()) continue;
    const { pid } = about.reloading;
    if (isGateway(pid)) here.set(pid, [...(here.get(pid) ?? []), about]);
  }
  return here;
}

/** Another machine may have the same name: the signal would end whatever has the number here. */
function isGateway(pid: number): boolean {
  if (!existsSync('/proc/self')) return true;
  const file = `/proc/${pid}/cmdline`;
  return existsSync(file) && /main\.js|cli\.js|rerank-gateway/.test(readFileSync(file, 'utf8'));
}

function sendSighup(pid: number): void {
  try {
    process.kill(pid, 'SIGHUP');
  } catch (error) {
    const code = systemCode(error) ?? 'unknown reason';
    throw new RefusedError(`Process ${pid} cannot be sent the signal (${code}).`);
  }
}

/** What came of it, once every worker has reported; of several, what the first reports is what all do. */
async function outcomes(
  store: Store,
  pids: ReadonlySet<number>,
  { now, sinceMs }: { readonly now: () => number; readonly sinceMs: number },
) {
  const untilMs = sinceMs + REPORT_MS;
  for (;;) {
    const reports: [number, NodeReload][] = [];
    for (const [pid, workers] of await gatewaysHere(store, now())) {
      // One that was killed stays in the store for a while.
      const alive = workers.filter(({ pid: own }) => isGateway(own));
      const lasts = alive.map(({ reloading }) => reloading?.last);
      const last = lasts.find((one) => one?.why !== undefined) ?? lasts[0];
      const hasReported = lasts.every((one) => one !== undefined && one.atMs >= sinceMs);
      if (pids.has(pid) && hasReported && last !== undefined) reports.push([pid, last]);
    }
    if (reports.length === pids.size || now() > untilMs) return reports;
    await sleep(ASK_EVERY_MS);
  }
}

function textOf({ applied, needRestart, why }: NodeReload): string {
  if (why !== undefined) return 'not reloaded.';
  const later = `; with the next start: ${needRestart.join(', ')}`;
  return `reloaded ${names(applied, 'nothing')}${needRestart.length === 0 ? '' : later}.`;
}
