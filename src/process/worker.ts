import { Socket } from 'node:net';
import type { ConfigSources } from '../config/load-groups.js';
import type { PatientServer } from '../http/connections.js';
import type { NodeReload } from '../store/nodes.js';
import type { Reload } from './reload.js';

/** The messages between the processes. */
export const READY = 'worker ready';
export const LEAVING = 'worker leaving';
export const CONNECTION = 'connection';
export const DRAIN = 'drain';
export const ARE_YOU_THERE = 'are you there';
export const HERE = 'here';
export const SETTINGS_PLEASE = 'settings, please';
/** The answer to `SETTINGS_PLEASE`. */
export interface Given {
  readonly settings: ConfigSources;
  /** What came of the last reload. */
  readonly last?: NodeReload | undefined;
}
/** Asks a worker to prepare to reload. */
export interface Prepare {
  readonly prepare: ConfigSources;
  /** When reading of them began. */
  readonly atMs: number;
}
/** The answer to `Prepare`. */
export interface Prepared {
  readonly prepared: string | null;
  readonly atMs: number;
}
export const RELOAD = 'reload';
/** A worker's answer to `RELOAD`; to a worker, what it is to report: in place of `RELOAD` if one of them cannot. */
export interface Outcome {
  readonly outcome: NodeReload;
}

/** Whether it is the message with that member. */
export function has<T extends object>(message: unknown, member: keyof T): message is T {
  return typeof message === 'object' && message !== null && member in message;
}

/** The settings that the primary has in force, and what it last reloaded; only a worker can ask for them. */
export function settingsFromPrimary(): Promise<Given> {
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (!has<Given>(message, 'settings')) return;
      process.off('message', hear);
      resolve(message);
    };
    process.on('message', hear);
    process.send?.(SETTINGS_PLEASE);
  });
}

/** Makes a worker serve what the primary accepts; `onDrain` is called when the primary hands over nothing more. */
export function serveForPrimary(
  server: PatientServer,
  reload: Pick<Reload, 'prepare' | 'commit' | 'finish' | 'outcome'>,
  onDrain: () => void,
): void {
  server.serveHandedOver();
  process.on('message', (message: unknown, socket: unknown) => {
    if (message === DRAIN) onDrain();
    else if (message === ARE_YOU_THERE) process.send?.(HERE);
    else if (message === RELOAD)
      void reload.commit().then(() => process.send?.({ outcome: reload.outcome }));
    else if (has<Outcome>(message, 'outcome')) reload.finish(message.outcome);
    else if (has<Prepare>(message, 'prepare')) {
      const { prepare, atMs } = message;
      void reload
        .prepare(prepare, atMs)
        .then((why) => process.send?.({ prepared: why ?? null, atMs }));
    }
    // A connection that broke on the way is gone.
    else if (message === CONNECTION && socket instanceof Socket) server.takeOver(socket);
  });
  process.send?.(READY);
}

/** Asks the primary to hand over no more connections. */
export function leavePrimary(): void {
  process.send?.(LEAVING);
}
