import cluster from 'node:cluster';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { createApp } from './app.js';
import { CONFIG_EXIT_CODE, ConfigError, loadConfig, printConfig, type Config } from './config.js';
import { systemCode } from './core/errors.js';
import { welcome } from './first-start.js';
import { openStore } from './open-store.js';
import { StoreUnavailableError } from './store/store.js';
import { onStopSignal } from './signals.js';
import { createLogger } from './telemetry/log.js';
import { runWorkers } from './workers.js';

const USAGE = `Usage: npm start -- [options]

  --config <path>   a YAML file or a folder of them (also: CONFIG)
  --print-config    print the settings in force, secrets masked, and stop
  --help            this text

Settings come from the file and from the environment, which wins. docs/configuration.md has them all.
`;

/** `EX_UNAVAILABLE` of sysexits: what the gateway stands on is not there. */
const UNAVAILABLE_EXIT_CODE = 69;

/** `EX_USAGE`, as shells have it. */
const USAGE_EXIT_CODE = 2;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

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
  const config = loadConfig({ env: process.env, configPath: values.config });
  if (values['print-config'] === true) {
    process.stdout.write(printConfig(config));
    return 0;
  }
  if (config.server.workers > 1 && cluster.isPrimary) return superviseWorkers(config);
  await serve(config);
  return 0;
}

/** Several processes on one port; this one only watches them. */
async function superviseWorkers(config: Config): Promise<number> {
  const logger = createLogger(config.log.level);
  const exitCode = await runWorkers({
    count: config.server.workers,
    logger,
    onListening: (port) => {
      greet(config, port).catch((error: unknown) => {
        logger.error({ err: error }, 'first start failed');
      });
    },
  });
  logger.flush();
  return exitCode;
}

async function greet(config: Config, port: number): Promise<void> {
  const store = await openStore(config.store);
  await welcome(config, store, port, (text) => process.stdout.write(text));
  await store.close();
}

/** Runs until SIGTERM or SIGINT, then drains. */
async function serve(config: Config): Promise<void> {
  const logger = createLogger(config.log.level);
  let isOpening = true;
  const stopped = new Promise<string>((resolve) => {
    onStopSignal((signal) => {
      // Nothing is there yet that would have to be ended, and the store may keep us waiting.
      if (isOpening) process.exit(0);
      resolve(signal);
    });
  });
  const store = await openStore(config.store, {
    onWaiting: (why) => {
      logger.warn(why);
    },
  });
  isOpening = false;
  const app = await createApp(config, { store, logger });
  app.server.listen(config.server.port, config.server.host);
  await once(app.server, 'listening');
  const { port } = app.server.address() as AddressInfo;
  if (cluster.isPrimary) {
    await welcome(config, store, port, (text) => process.stdout.write(text));
  }
  logger.info({ port, host: config.server.host, pid: process.pid }, 'listening');

  const signal = await stopped;
  logger.info({ signal, drainMs: config.server.drainMs }, 'draining');
  await app.close(config.server.drainMs);
  logger.info('stopped');
  // The channel to the primary would keep a worker alive.
  cluster.worker?.disconnect();
  logger.flush();
}

try {
  process.exitCode = await main();
} catch (error) {
  if (error instanceof ConfigError) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = CONFIG_EXIT_CODE;
  } else if (error instanceof StoreUnavailableError) {
    process.stderr.write(`The store cannot be reached: ${error.message}\n`);
    process.exitCode = UNAVAILABLE_EXIT_CODE;
  } else if (systemCode(error)?.startsWith('ERR_PARSE_ARGS') === true) {
    process.stderr.write(`${messageOf(error)}\n\n${USAGE}`);
    process.exitCode = USAGE_EXIT_CODE;
  } else if (systemCode(error) === 'EADDRINUSE') {
    process.stderr.write(
      `${messageOf(error)}: the port is in use. Name another one: PORT=<port> npm start\n`,
    );
    process.exitCode = 1;
  } else if (typeof error === 'object' && error !== null && 'syscall' in error) {
    // The folder cannot be written, the address is not of this machine: the message says which.
    process.stderr.write(`The gateway cannot start: ${messageOf(error)}\n`);
    process.exitCode = 1;
  } else {
    throw error;
  }
  // Whatever was opened before the failure must not keep the process alive.
  process.exit();
}
