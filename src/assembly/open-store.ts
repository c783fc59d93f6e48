import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { keyFile, storeFile } from '../config/data-files.js';
import type { StoreSettings } from '../config/values.js';
import { systemCode } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import { StoreUnavailableError, type KeyNote, type Store } from '../store/store.js';
import { createVault, type Vault, type VaultKey } from '../store/vault.js';
import { isHalfImported } from './moving.js';
import { thisNode } from '../process/this-node.js';

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

/** How long a gateway may take from here to its first report, which shows its keys from then on. */
const STARTING_MS = 30_000;

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
      if (await isHalfImported(store)) throw new UnfinishedImportError();
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

/** For commands, of which most need no key. */
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

/** The store has a part of an export. */
export class UnfinishedImportError extends Error {
  override readonly name = 'UnfinishedImportError';

  constructor() {
    super(
      'This store has a part of an export: run the same "rerank-gateway import" again until it is done, or use an empty store.',
    );
  }
}

/** The credentials in the store are sealed with a key other than that of this process. */
export class EncryptionKeyError extends Error {
  override readonly name = 'EncryptionKeyError';
}

/**
 * Seals the credentials of all channels with the first of the configured keys, while gateways run that have all of them.
 * Resolves to how many were sealed, and how many could not be read. Changes nothing if a gateway could not read them then.
 */
export async function rotateKey(
  store: Store,
): Promise<{ readonly sealed: number; readonly locked: number }> {
  const [mark] = store.keyMarks();
  if (mark === undefined) {
    throw new EncryptionKeyError('There is no key to encrypt with: set ENCRYPTION_KEYS.');
  }
  await checkKey(store);
  const nodeId = randomUUID();
  // A gateway that starts meanwhile sees the new key; one that started a moment ago has not reported its own yet.
  const note = { nodeId, name: 'encryption rotate', marks: store.keyMarks() };
  const starting = await store.noteKeys(note, Date.now(), STARTING_MS);
  try {
    const beside = starting.filter(({ marks }) => marks.length > 0);
    refuseUnknown([...(await runningKeys(store)), ...beside], mark);
    return await store.resealCredentials(mark);
  } finally {
    // What is not taken back expires.
    await store.dropKeys(nodeId).catch(() => undefined);
  }
}

interface KeysOfGateway {
  readonly name: string;
  /** Fingerprints of its keys; the sealing key's comes first. */
  readonly marks: readonly string[];
}

/** The keys of the gateways that run now, as far as they say. */
async function runningKeys(store: Store): Promise<readonly KeysOfGateway[]> {
  return (await store.listNodes(Date.now())).flatMap(({ version, about }) =>
    version !== undefined && about?.keyMarks !== undefined
      ? [{ name: about.name, marks: about.keyMarks }]
      : [],
  );
}

/** Throws if a running gateway could not read what is sealed with a key. */
function refuseUnknown(running: readonly KeysOfGateway[], mark: string): void {
  const without = namesOf(running, ({ marks }) => !marks.includes(mark));
  if (without.length > 0) {
    throw new EncryptionKeyError(
      `Nothing was changed: the first of these encryption keys is unknown to running gateways (${without.join(', ')}), which could not read what it encrypts. Give every gateway both keys in ENCRYPTION_KEYS, the new one last, restart it, and try again.`,
    );
  }
}

function namesOf(
  running: readonly KeysOfGateway[],
  holds: (each: KeysOfGateway) => boolean,
): readonly string[] {
  return running.filter(holds).map(({ name }) => name);
}

/** The keys of this process; the first one seals. */
function keysOf({
  redisUrl,
  dataDir,
  encryptionKey,
  encryptionKeys,
}: StoreSettings): readonly VaultKey[] {
  const named = (encryptionKeys?.reveal() ?? '')
    .split(',')
    .filter((text) => text.trim() !== '')
    .map((text) => {
      const at = text.indexOf(':');
      return { id: text.slice(0, at).trim(), secret: new Secret(text.slice(at + 1).trim()) };
    });
  const plain = encryptionKey === undefined ? [] : [{ id: undefined, secret: encryptionKey }];
  const given: VaultKey[] = [...named, ...plain];
  if (redisUrl !== undefined || given.length > 0) return given;
  return [{ id: undefined, secret: embeddedKey(dataDir) }];
}

/**
 * Throws if what this process seals could not be opened by others, or the other way round. `starting` is what other gateways
 * have noted that started before this one; absent for a command.
 */
async function checkKey(store: Store, starting?: readonly KeyNote[]): Promise<void> {
  const marks = store.keyMarks();
  const [first] = marks;
  const asGateway = starting !== undefined;
  const beside = (starting ?? []).filter((each) => each.marks.length > 0);
  const noted = await store.encryptionMark();
  if (first !== undefined && noted !== undefined && marks.includes(noted)) {
    refuseUnlike([...(await runningKeys(store)), ...beside], first, marks, asGateway);
    return;
  }
  // A command that seals nothing needs no key.
  if (!asGateway && first === undefined) return;
  const { channels, locked } = await store.loadChannels();
  const isEmpty = locked.size === 0 && channels.every(({ credentials }) => isNone(credentials));
  if (noted === undefined) {
    const isReadable = locked.size === 0 || channels.some((each) => !isNone(each.credentials));
    if (first === undefined) return;
    if (isReadable) {
      refuseUnlike(beside, first, marks, asGateway);
      const claimed = await store.encryptionMark(first);
      if (claimed === undefined || marks.includes(claimed)) return;
    }
  } else if (isEmpty && asGateway && (await store.oldestNodeVersion(Date.now())) === undefined) {
    // Nothing is sealed and no other gateway is there: the key may change.
    if (first === undefined) return;
    refuseUnlike(beside, first, marks, asGateway);
    await store.resealCredentials(first);
    return;
  }
  throw new EncryptionKeyError(
    first === undefined
      ? 'The credentials of channels in the store are encrypted, and no key is configured: set ENCRYPTION_KEY, or ENCRYPTION_KEYS, to the one that the other gateways use.'
      : 'The encryption key is not the one that the credentials in the store are encrypted with: set ENCRYPTION_KEY to that one, or, if it is encryption.key in the data folder, to nothing. To change it, name both in ENCRYPTION_KEYS and run "rerank-gateway encryption rotate".',
  );
}

/** Refuses keys with which this process and other gateways could not read what the other has sealed. */
function refuseUnlike(
  others: readonly KeysOfGateway[],
  first: string,
  marks: readonly string[],
  asGateway: boolean,
): void {
  refuseUnknown(others, first);
  if (!asGateway) return;
  const unknown = namesOf(others, ({ marks: [sealing] }) =>
    sealing === undefined ? false : !marks.includes(sealing),
  );
  if (unknown.length > 0) {
    throw new EncryptionKeyError(
      `Running gateways (${unknown.join(', ')}) encrypt with a key that this one does not have: add it to ENCRYPTION_KEYS.`,
    );
  }
}

function isNone(credentials: Readonly<Record<string, Secret>>): boolean {
  return Object.keys(credentials).length === 0;
}

/**
 * The key that encrypts channel credentials if no other is given: created once, beside the embedded store, readable by its
 * owner alone. It protects credentials in a copy of the database file, but not from somebody who can read the folder.
 */
function embeddedKey(dataDir: string): Secret {
  const file = keyFile(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) makeKey(file);
  const key = readFileSync(file, 'utf8').trim();
  if (key === '')
    throw new StoreUnavailableError(`${file} is empty: put the key back, or delete it`);
  return new Secret(key);
}

/** The file appears with the key already in it, so workers that start together never read half a key. */
function makeKey(file: string): void {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another process has created it at this very moment.
    if (systemCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
