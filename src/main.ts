import cluster from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { CONFIG_EXIT_CODE, ConfigError } from './config/mistakes.js';
import { changesBetween } from './config/reload.js';
import { loadConfig, loadToStart } from './config/load-config.js';
import { withTexts, type ConfigSources } from './config/load-groups.js';
import type { Config } from './config/values.js';
import { GatewayError, messageOf, systemCode } from './core/errors.js';
import { withDotEnv } from './config/dot-env.js';
import { firstStart, welcome, type FirstStart } from './process/first-start.js';
import { collectGarbage } from './process/garbage.js';
import { MAX_WAITING } from './http/connections.js';
import { EncryptionKeyError } from './assembly/encryption-keys.js';
import { openStore, UnfinishedImportError } from './assembly/open-store.js';
import type { NodeReload } from './store/nodes.js';
import { StoreUnavailableError } from './store/store.js';
import { Reload } from './process/reload.js';
import { outliveReaders } from './process/outputs.js';
import { onReloadSignal, onStopSignal, reloadPid } from './process/signals.js';
import { createLogger, logWritten, prettyDestination, type Logger } from './telemetry/log.js';
import { onUncaught, SOFTWARE_EXIT_CODE } from './process/uncaught.js';
import {
  leavePrimary,
  serveForPrimary,
  settingsFromPrimary,
  type Given,
} from './process/worker.js';
import { runWorkers, type WorkersPlan } from './process/workers.js';

const USAGE = `Usage: npm start -- [options]

  --config <path>   a YAML file, or a folder of YAML files (also: CONFIG)
  --print-config    print the settings in force, secrets masked, and stop
  --help            this text

Settings come from the file, from the environment, which takes precedence, and from .env for variables that the environment lacks. docs/configuration.md lists them all.
`;

/** `EX_UNAVAILABLE` of sysexits: something that the gateway depends on is not there. */
const UNAVAILABLE_EXIT_CODE = 69;

const MANY_CHANNELS = 1_000;

/** Wrong usage, as shells report it. */
const USAGE_EXIT_CODE = 2;

/** What this start has made and shown: it is in the store, even if the start fails later. */
let made: FirstStart | undefined;

let log: Logger | undefined;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      config: { type: 'string' },
      'print-config': { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    process.stdout.write(USAGE);
    return 0;
  }
  const read = (): ConfigSources =>
    withTexts({ env: withDotEnv(process.env), configPath: values.config });
  const { settings: sources, last }: Given = cluster.isWorker
    ? await settingsFromPrimary()
    : { settings: read() };
  const { config, warnings } = loadToStart(sources);
  tidy(config);
  if (values['print-config'] === true) {
    const { printConfig } = await import('./config/print.js');
    process.stdout.write(printConfig(config));
    return 0;
  }
  const logger = (log = await openLog(config));
  const load = (given = read()): Config => loadConfig(given);
  if (cluster.isWorker) return serve(config, logger, load, last);
  for (const warning of warnings) logger.warn(`settings: ${warning}`);
  if (config.server.workers === 1) return serve(config, logger, load);
  return superviseWorkers(config, logger, {
    ...{ sources, read },
    compare: (former, next) => changesBetween(load(former), load(next)),
  });
}

/** Reading and preparing so many channels leaves more behind than serving them takes. */
function tidy({ channels = [] }: Config): void {
  if (channels.length >= MANY_CHANNELS) collectGarbage();
}

/** Runs several processes on one port; this one watches them and hands them connections. */
async function superviseWorkers(
  config: Config,
  logger: Logger,
  reading: Pick<WorkersPlan, 'sources' | 'read' | 'compare'>,
): Promise<number> {
  const store = await openStore(config.store, {
    asGateway: true,
    port: config.server.port,
    onWaiting: (why) => logger.warn(why),
  });
  const first = (made = await firstStart(config, store, print));
  await store.close();
  const { workers: count, host, port: wantedPort, drainMs } = config.server;
  const exitCode = await runWorkers({
    ...reading,
    count,
    host,
    port: wantedPort,
    drainMs,
    logger,
    onListening: (port) => {
      print(welcome(config, first, port));
      logger.info({ port, host, pid: process.pid }, 'listening');
    },
  });
  await logWritten(logger);
  return exitCode;
}

/** On a terminal the log is written for people, unless the settings say otherwise. */
async function openLog({ log: { level, format } }: Config): Promise<Logger> {
  const isPretty = format === 'pretty' || (format === 'auto' && process.stdout.isTTY);
  return createLogger(level, isPretty ? await prettyDestination() : undefined);
}

/** Standard output has the log alone. */
function print(text: string): void {
  process.stderr.write(text);
}

/** On top of the time to drain; after that, a process in an unknown state ends as it is. */
const LAST_WORDS_MS = 10_000;

/** Runs until SIGTERM or SIGINT, or until an error is not caught; then drains. */
async function serve(
  config: Config,
  logger: Logger,
  load: (given?: ConfigSources) => Config,
  lastReload?: NodeReload,
): Promise<number> {
  const { host, port: wantedPort, drainMs } = config.server;
  let isOpening = true;
  let isLeaving = false;
  let exitCode = 0;
  let end: (why: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (end = resolve));
  const stop = (why: string, code: number): void => {
    exitCode = Math.max(exitCode, code);
    // Nothing needs to be ended yet, and the store may keep us waiting.
    if (isOpening) {
      logger.info({ why }, 'stopped');
      void logWritten(logger).then(() => process.exit(exitCode));
      return;
    }
    isLeaving = true;
    // A worker ends when the primary hands over no more connections: until then it serves what comes.
    if (cluster.isPrimary) end(why);
    else leavePrimary();
  };
  onStopSignal((signal) => {
    stop(signal, 0);
  });
  onUncaught(logger, () => {
    stop('not caught', SOFTWARE_EXIT_CODE);
    setTimeout(() => {
      void logWritten(logger).then(() => process.exit(SOFTWARE_EXIT_CODE));
    }, drainMs + LAST_WORDS_MS).unref();
  });
  const store = await openStore(config.store, {
    asGateway: true,
    port: config.server.port,
    onWaiting: (why) => {
      logger.warn(why);
    },
  });
  isOpening = false;
  // If there are workers, the primary has done it.
  const first = (made = cluster.isPrimary ? await firstStart(config, store, print) : undefined);
  const reload = new Reload(
    { load, logger, check: () => store.ping(), apply: (next) => app.reload(next) },
    lastReload,
  );
  // A primary has no use for it: half of what this program loads.
  const { createApp } = await import('./assembly/app.js');
  const app = await createApp(config, {
    ...{ store, logger },
    reloading: () =>
      reloadPid === undefined
        ? undefined
        : { pid: reloadPid, machine: hostname(), last: reload.outcome },
  });
  tidy(config);
  const { pid } = process;
  if (first === undefined) {
    serveForPrimary(app.server, reload, () => {
      end('the primary asked for it');
    });
    // For a stop that came before there was anything to serve.
    if (isLeaving as boolean) leavePrimary();
    logger.info({ pid }, 'serving');
  } else {
    onReloadSignal(() => void reload.run());
    app.server.listen(wantedPort, host, MAX_WAITING);
    await once(app.server, 'listening').catch(async (error: unknown) => {
      // It has reported to the store: unless it takes that back, people are alerted to a gateway that died.
      await app.close(0);
      throw error;
    });
    const { port } = app.server.address() as AddressInfo;
    print(welcome(config, first, port));
    logger.info({ port, host, pid }, 'listening');
  }

  const why = await ended;
  logger.info({ why, drainMs }, 'draining');
  await app.close(drainMs);
  logger.info('stopped');
  // The channel to the primary would keep a worker alive.
  cluster.worker?.disconnect();
  await logWritten(logger);
  // An exporter that waits for its receiver, or tries again, must not either.
  setTimeout(() => process.exit(), 100).unref();
  return exitCode;
}

outliveReaders();
try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = CONFIG_EXIT_CODE;
  } else if (error instanceof EncryptionKeyError || error instanceof UnfinishedImportError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = CONFIG_EXIT_CODE;
  } else if (error instanceof GatewayError) {
    process.stderr.write(`The gateway cannot start: ${error.message}\n`);
    process.exitCode = 1;
  } else if (error instanceof StoreUnavailableError) {
    process.stderr.write(`The store cannot be reached: ${error.message}\n`);
    process.exitCode = UNAVAILABLE_EXIT_CODE;
  } else if (systemCode(error)?.startsWith('ERR_PARSE_ARGS') === true) {
    process.stderr.write(`${messageOf(error)}\n\n${USAGE}`);
    process.exitCode = USAGE_EXIT_CODE;
  } else if (systemCode(error) === 'EADDRINUSE') {
    process.stderr.write(
      `The gateway cannot start: the port is in use (${messageOf(error)}). Choose another with PORT.\n`,
    );
    process.exitCode = 1;
  } else if (typeof error === 'object' && error !== null && 'syscall' in error) {
    // The folder cannot be written to, or the address is not one of this machine: the message says which.
    process.stderr.write(`The gateway cannot start: ${messageOf(error)}\n`);
    process.exitCode = 1;
  } else {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.stderr.write(`The gateway cannot start: ${text}\n`);
    process.exitCode = SOFTWARE_EXIT_CODE;
  }
  if (made?.key !== undefined) {
    process.stderr.write(
      'Keep the password and the key above: they are in the store, and no later start shows them.\n',
    );
  }
  if (log !== undefined) await logWritten(log);
  // Whatever was opened before the failure must not keep the process alive.
  process.exit();
}
