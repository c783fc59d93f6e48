import { setTimeout } from 'node:timers/promises';
import { storeFile } from '../config/data-files.js';
import type { StoreSettings } from '../config/values.js';
import { StoreUnavailableError, type Store } from '../store/store.js';
import { createVault, type Vault } from '../store/vault.js';
import { isHalfImported } from './moving.js';
import { thisNode } from '../process/this-node.js';
import { checkKey, keysOf, STARTING_MS } from './encryption-keys.js';

/**
 * Opens the store that the settings name: Redis, or the embedded one in the data folder. Drivers are loaded only when they
 * are used. `connectTimeoutMs` limits the first connection; a gateway waits until the store answers. `onWaiting` gets the
 * reason, in words, if the store has to be waited for.
 */
export async function openStore(
  settings: StoreSettings,
  patience: {
    readonly connectTimeoutMs?: number;
    readonly onWaiting?: (why: string) => void;
    /**
     * A gateway does not start without the key of the stored credentials. The key of a command is checked when the command
     * is about to write channels. Whichever comes first notes its key.
     */
    readonly asGateway?: boolean;
    /** Where the gateway is to listen, which its name may have. */
    readonly port?: number;
  } = {},
): Promise<Store> {
  const { asGateway = false, port = 0, ...waiting } = patience;
  const vault = createVault(keysOf(settings));
  if (!asGateway) return checkedWhenWriting(await openDriver(settings, vault, waiting));
  const store = await openDriver(settings, vault, { connectTimeoutMs: Infinity, ...waiting });
  return startedOn(store, port, waiting.onWaiting);
}

/** How soon a store that is too slow is asked again. */
const ASK_AGAIN_MS = 1_000;

/** Repeats what a start asks of the store until that answers in time; `onWaiting` gets the first reason why it does not. */
async function answered<T>(ask: () => Promise<T>, onWaiting?: (why: string) => void): Promise<T> {
  for (let tell = onWaiting; ; tell = undefined) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      tell?.(`The store cannot be used yet (${error.message}); retrying`);
      await setTimeout(ASK_AGAIN_MS);
    }
  }
}

/** A store whose key this gateway has. Throws, with the store closed, if it does not have it. */
async function startedOn(
  store: Store,
  port: number,
  onWaiting?: (why: string) => void,
): Promise<Store> {
  const { id: nodeId, name } = thisNode(port);
  const leave = async (waitMs?: number): Promise<void> => {
    // What is not taken back expires.
    if (performance.now() < noted.untilMs) await store.dropKeys(nodeId).catch(() => undefined);
    await store.close(waitMs);
  };
  const noted = { untilMs: performance.now() + STARTING_MS };
  try {
    await answered(async () => {
      await refuseHalf(store);
      noted.untilMs = performance.now() + STARTING_MS;
      // Before anything is looked at: of gateways that start at once, all but the first see one that came before.
      const note = { nodeId, name, marks: store.keyMarks() };
      const starting = await store.noteKeys(note, Date.now(), STARTING_MS);
      await checkKey(store, starting);
    }, onWaiting);
  } catch (error) {
    await leave();
    throw error;
  }
  return { ...store, close: leave };
}

/** For commands: most need no key. */
function checkedWhenWriting(store: Store): Store {
  return {
    ...store,
    async createChannel(channel) {
      await checkKey(store);
      return store.createChannel(channel);
    },
    async updateChannel(...change) {
      await checkKey(store);
      return store.updateChannel(...change);
    },
    async updateChannels(changes) {
      await checkKey(store);
      return store.updateChannels(changes);
    },
    async putRows(table, rows) {
      if (table === 'channels') await checkKey(store);
      return store.putRows(table, rows);
    },
  };
}

async function openDriver(
  settings: StoreSettings,
  vault: Vault,
  patience: { readonly connectTimeoutMs?: number; readonly onWaiting?: (why: string) => void },
): Promise<Store> {
  if (settings.redisUrl !== undefined) {
    const { openRedisStore } = await import('../store/redis/redis-store.js');
    return openRedisStore({
      url: settings.redisUrl.reveal(),
      prefix: settings.redisPrefix,
      commandTimeoutMs: settings.commandTimeoutMs,
      vault,
      ...patience,
    });
  }
  const { openSqliteStore } = await import('../store/sqlite/sqlite-store.js');
  return openSqliteStore({
    file: storeFile(settings.dataDir),
    vault,
  });
}

/** Throws if the store has a part of an export: what is written beside it is lost when the import goes on. */
export async function refuseHalf(store: Store): Promise<void> {
  if (await isHalfImported(store)) throw new UnfinishedImportError();
}

/** The store has a part of an export. */
export class UnfinishedImportError extends Error {
  override readonly name = 'UnfinishedImportError';

  constructor() {
    super(
      'This store has a part of an export: run the same "rerank-gateway import" again until it is done, or use an empty store.',
    );
  }
}
