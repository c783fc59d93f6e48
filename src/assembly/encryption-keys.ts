import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { keyFile } from '../config/data-files.js';
import type { StoreSettings } from '../config/values.js';
import { systemCode } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import { StoreUnavailableError, type KeyNote, type Store } from '../store/store.js';
import type { VaultKey } from '../store/vault.js';

/** How long a gateway may take from here to its first report, which shows its keys. */
export const STARTING_MS = 30_000;

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
  return [...new Set(running.filter(holds).map(({ name }) => name))];
}

/** The keys of this process; the first one seals. */
export function keysOf({
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
export async function checkKey(store: Store, starting?: readonly KeyNote[]): Promise<void> {
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
