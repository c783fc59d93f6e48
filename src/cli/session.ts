import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import type { Environment } from '../config-files.js';
import { loadConfig, type Config } from '../config.js';
import type { Actor } from '../management/audit.js';
import type { ChannelDeps } from '../management/channels.js';
import { awaitInForce, type InForce } from '../management/in-force.js';
import { openStore, storeFile } from '../open-store.js';

/** What the command line has of the process around it. */
export interface CliIo {
  readonly env: Environment;
  /** Who sits there, for the audit log. */
  readonly user: string;
  readonly now: () => number;
  readonly writeOut: (text: string) => void;
  readonly writeError: (text: string) => void;
  /** Puts a question to a person; `undefined` where none sits at a terminal. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
}

/** The command is at odds with itself or lacks something; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What is asked for cannot be had as things stand; nothing was done. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';
}

/** What every command understands, before or after its name. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** One command at work on the store of the gateway. */
export interface Session {
  readonly config: Config;
  readonly io: CliIo;
  readonly deps: ChannelDeps;
  readonly actor: Actor;
  /** Where the data lies, for people; no secrets. */
  readonly place: string;
  /** Prints what came of it: for a script when it asked for that, else for people. */
  readonly show: (json: unknown, text: string) => void;
  /** Resolves when no gateway acts any more on what was before `version`. */
  readonly awaitInForce: (version: number) => Promise<InForce>;
}

/** Somebody waits for the answer. */
const CONNECT_TIMEOUT_MS = 3_000;

/** An action that works on the store; it opens it, and closes it whatever happens. */
export function onStore(
  io: CliIo,
  work: (session: Session, command: Command) => Promise<void>,
): (this: Command) => Promise<void> {
  return async function (this: Command) {
    const options = this.optsWithGlobals<GlobalOptions>();
    const config = settings(io, options);
    const store = await openStore(config.store, { connectTimeoutMs: CONNECT_TIMEOUT_MS });
    const { allowPrivateUpstreams, stalenessMs } = config.gateway;
    try {
      await work(
        {
          config,
          io,
          deps: { store, now: io.now, randomBytes, allowPrivateUpstreams },
          actor: { id: undefined, name: `cli:${io.user}`, role: 100, address: undefined },
          place:
            config.store.redisUrl === undefined
              ? storeFile(config.store.dataDir)
              : `Redis under the prefix ${config.store.redisPrefix}`,
          show: showing(io, options),
          awaitInForce: (version) => awaitInForce({ store, now: io.now }, version, stalenessMs),
        },
        this,
      );
    } finally {
      await store.close();
    }
  };
}

/** An action that needs the settings alone, or not even them. */
export function withoutStore(
  io: CliIo,
  work: (
    session: Pick<Session, 'show'> & { readonly settings: () => Config },
    command: Command,
  ) => void,
): (this: Command) => void {
  return function (this: Command) {
    const options = this.optsWithGlobals<GlobalOptions>();
    work({ show: showing(io, options), settings: () => settings(io, options) }, this);
  };
}

/** Goes on when somebody has agreed to what cannot be undone. */
export async function confirm({ io }: Session, what: string, agreed = false): Promise<void> {
  if (agreed) return;
  if (io.ask === undefined) {
    throw new UsageError(`${what} Add --yes to do it without being asked.`);
  }
  const answer = await io.ask(`${what} Go on? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new RefusedError('Nothing was done.');
}

function settings(io: CliIo, { config }: GlobalOptions): Config {
  return loadConfig({ env: io.env, configPath: config });
}

function showing(io: CliIo, { json = false }: GlobalOptions): Session['show'] {
  return (value, text) => {
    if (json) io.writeOut(`${JSON.stringify(value, null, 2)}\n`);
    else io.writeOut(text.endsWith('\n') ? text : `${text}\n`);
  };
}
