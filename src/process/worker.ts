import { Socket } from 'node:net';
import type { ConfigSources } from '../config/load-groups.js';
import type { PatientServer } from '../http/connections.js';
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
}
/** Asks a worker to prepare to reload. */
export interface Prepare {
  readonly prepare: ConfigSources;
}
/** The answer to `Prepare`. */
export interface Prepared {
  readonly prepared: string | null;
}
export const RELOAD = 'reload';
/** In place of `RELOAD`, if one of them cannot. */
export interface Unchanged {
  readonly unchanged: string;
}

/** Whether it is the message with that member. */
export function has<T extends object>(message: unknown, member: keyof T): message is T {
  return typeof message === 'object' && message !== null && member in message;
}

/** The settings that the primary has in force; only a worker can ask for them. */
export function settingsFromPrimary(): Promise<ConfigSources> {
  return new Promise((resolve) => {
    const hear = (message: unknown): void => {
      if (!has<Given>(message, 'settings')) return;
      process.off('message', hear);
      resolve(message.settings);
    };
    process.on('message', hear);
    process.send?.(SETTINGS_PLEASE);
  });
}

/** Makes a worker serve what the primary accepts; `onDrain` is called when the primary hands over nothing more. */
export function serveForPrimary(
  server: PatientServer,
  reload: Pick<Reload, 'prepare' | 'commit' | 'fail'>,
  onDrain: () => void,
): void {
  server.serveHandedOver();
  process.on('message', (message: unknown, socket: unknown) => {
    if (message === DRAIN) onDrain();
    else if (message === ARE_YOU_THERE) process.send?.(HERE);
    else if (message === RELOAD) void reload.commit();
    else if (has<Unchanged>(message, 'unchanged')) reload.fail(message.unchanged);
    else if (has<Prepare>(message, 'prepare')) {
      void reload.prepare(message.prepare).then((why) => process.send?.({ prepared: why ?? null }));
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
