import { messageOf } from '../core/errors.js';
import type { ConfigSources } from '../config/load-groups.js';
import type { ConfigChanges } from '../config/reload.js';
import type { Config } from '../config/values.js';
import type { NodeReload } from '../store/nodes.js';
import type { Logger } from '../telemetry/log.js';

export interface ReloadParts {
  /** Reads files and environment again, or what a primary has read of them; throws `ConfigError`. */
  readonly load: (read?: ConfigSources) => Config;
  /** Rejects if the settings could not be put in force, as while the store is away. */
  readonly check: () => Promise<void>;
  readonly apply: (config: Config) => Promise<ConfigChanges>;
  readonly logger: Logger;
}

/** Reloads the settings of one process, in two steps: several processes take the second only if all have taken the first. */
export class Reload {
  readonly #parts: ReloadParts;
  #prepared: Config | undefined;
  /** When reading of what is prepared began. */
  #readMs = 0;
  #last: Promise<unknown> = Promise.resolve();
  #outcome: NodeReload | undefined;

  /** `outcome`: what a worker that starts has been told about the last reload. */
  constructor(parts: ReloadParts, outcome?: NodeReload) {
    this.#parts = parts;
    this.#outcome = outcome;
  }

  /** What came of the last time, for the gateway's report. */
  get outcome(): NodeReload | undefined {
    return this.#outcome;
  }

  /** Reads and checks the settings; resolves to why they cannot be used, `undefined` if they can. */
  async prepare(read?: ConfigSources, readMs = Date.now()): Promise<string | undefined> {
    this.#readMs = readMs;
    try {
      this.#prepared = this.#parts.load(read);
      await this.#parts.check();
      return undefined;
    } catch (error) {
      this.#prepared = undefined;
      return messageOf(error);
    }
  }

  /** Puts in force what was prepared. */
  async commit(): Promise<void> {
    const { apply, logger } = this.#parts;
    const config = this.#prepared;
    this.#prepared = undefined;
    if (config === undefined) return;
    try {
      const { applied, needRestart } = await apply(config);
      this.#outcome = { atMs: this.#readMs, applied, needRestart };
      logger.info({ applied, needRestart }, 'settings reloaded');
      if (needRestart.length > 0) {
        logger.warn({ settings: needRestart }, 'these settings take effect with the next start');
      }
    } catch (error) {
      this.finish(unchanged(this.#readMs, messageOf(error)));
      logger.error({ err: error }, 'settings not reloaded');
    }
  }

  /** Drops what was prepared, and remembers what came of it. */
  finish(outcome: NodeReload): void {
    this.#prepared = undefined;
    this.#outcome = outcome;
  }

  /** Both steps, after those of an earlier call. */
  run(): Promise<unknown> {
    this.#last = this.#last.then(async () => {
      const why = await this.prepare();
      if (why === undefined) return this.commit();
      this.finish(unchanged(this.#readMs, why));
      tellUnchanged(this.#parts.logger, why);
    });
    return this.#last;
  }
}

/** Logs that a reload has changed nothing, with all mistakes. */
export function tellUnchanged(logger: Logger, why: string): void {
  logger.error({ why }, 'settings not reloaded: nothing has changed');
}

/** What came of a reload that has changed nothing. */
export function unchanged(atMs: number, why: string): NodeReload {
  return { atMs, applied: [], needRestart: [], why };
}
