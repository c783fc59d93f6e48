import { randomUUID } from 'node:crypto';
import { isRecord } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { MOVED_AT_ONCE, MOVED_TABLES, type MovedRow, type MovedTable } from '../store/moving.js';
import { CredentialsLockedError, type Store } from '../store/store.js';
import { createVault, type Vault } from '../store/vault.js';

/**
 * An export: lines of JSON. The first is a header, each other one a row as `{"<table>": {…}}`, and the last one the number of rows of
 * each table as `{"end": {…}}`, so that a file that was cut short is known.
 */
const VERSION = 1;

interface Header {
  readonly export: 'rerank-gateway';
  readonly version: number;
  readonly id: string;
  readonly release: string;
  readonly made_at_ms: number;
  /** Sealed with the passphrase, to check it before anything is written; absent if secrets were left out. */
  readonly check?: string;
}

export type MovedCounts = Partial<Record<MovedTable, number>>;

/** Progress while rows move. */
export type OnMoved = (counts: Readonly<MovedCounts>) => void;

/** Why nothing, or nothing more, was moved; the message says what to do. */
export class MovingError extends Error {
  override readonly name = 'MovingError';
}

/**
 * The lines of an export of everything that is moved. Credentials of channels and the secrets that gateways share are sealed with the
 * passphrase, or left out without one.
 */
export async function* exportLines(
  store: Store,
  given: {
    readonly passphrase: Secret | undefined;
    readonly release: string;
    readonly nowMs: number;
    readonly onMoved: OnMoved;
  },
): AsyncGenerator<string> {
  const { passphrase, release, nowMs, onMoved } = given;
  const id = randomUUID();
  const vault = passphrase && vaultOf(passphrase, id);
  const header: Header = {
    ...{ export: 'rerank-gateway', version: VERSION, id, release, made_at_ms: nowMs },
    ...(vault && { check: seal(vault, id) }),
  };
  yield line(header);
  const counts: MovedCounts = {};
  // Claims that a crash has left are part of the balances.
  await store.recoverRedemptions(nowMs, 0);
  for (const table of MOVED_TABLES) {
    for await (const rows of store.rowsOf(table, nowMs)) {
      const out = rows.map((row) => withSecrets(table, row, (text) => vault && seal(vault, text)));
      const kept = out.filter((row) => row !== undefined);
      counts[table] = (counts[table] ?? 0) + kept.length;
      yield kept.map((row) => line({ [table]: row })).join('');
      onMoved(counts);
    }
  }
  yield line({ end: counts });
}

/**
 * Writes an export into a store that is empty, or that has a part of the same export: what is there is not written again. Resolves to
 * what the store then has of it. Rejects with `MovingError`; what was written until then stays, and another call goes on from there.
 */
export async function importLines(
  store: Store,
  lines: AsyncIterable<string>,
  given: {
    readonly passphrase: () => Promise<Secret | undefined>;
    readonly nowMs: number;
    readonly onMoved: OnMoved;
  },
): Promise<{ readonly counts: Readonly<MovedCounts>; readonly before: boolean }> {
  const counts: MovedCounts = {};
  let state: ImportState | undefined;
  let vault: Vault | undefined;
  let number = 0;
  let held: { readonly table: MovedTable; readonly rows: MovedRow[] } | undefined;

  async function write(): Promise<void> {
    if (held === undefined || state === undefined) return;
    if (number > state.lines) {
      await store.putRows(held.table, held.rows);
      state = { ...state, lines: number };
      await store.importState(JSON.stringify(state));
    }
    held = undefined;
    given.onMoved(counts);
  }

  for await (const text of lines) {
    const parsed = parse(text, number + 1);
    if (state === undefined) {
      const header = headerOf(parsed);
      state = await begin(store, header, given.nowMs);
      if (state.done) return { counts: state.counts ?? {}, before: true };
      if (header.check !== undefined) vault = await vaultFor(header, given.passphrase);
      number = 1;
      continue;
    }
    const [name = '', row] = Object.entries(parsed)[0] ?? [];
    if (name === 'end') {
      await write();
      checkCounts(counts, row);
      await store.importState(JSON.stringify({ ...state, done: true, counts }));
      return { counts, before: false };
    }
    const table = tableOf(name, number + 1);
    if (held !== undefined && (held.table !== table || held.rows.length >= MOVED_AT_ONCE))
      await write();
    number += 1;
    held ??= { table, rows: [] };
    const open = (sealed: string): string | undefined => vault && unseal(vault, sealed);
    const whole = withSecrets(table, row as MovedRow, open);
    if (whole !== undefined) held.rows.push(whole);
    counts[table] = (counts[table] ?? 0) + 1;
  }
  throw new MovingError(
    `The export ends after line ${number}, in the middle: make it again, or import the whole file. The gateway does not start on this store until the import is finished.`,
  );
}

/** Whether an import into a store was begun and not finished. */
export async function isHalfImported(store: Pick<Store, 'importState'>): Promise<boolean> {
  const state = await store.importState();
  return state !== undefined && !(JSON.parse(state) as ImportState).done;
}

interface ImportState {
  readonly id: string;
  /** How many lines of the export the store has. */
  readonly lines: number;
  readonly done: boolean;
  readonly counts?: MovedCounts;
}

/** The state of an earlier import of the same export; a new beginning on an empty store. */
async function begin(store: Store, { id }: Header, nowMs: number): Promise<ImportState> {
  const text = await store.importState();
  const before = text === undefined ? undefined : (JSON.parse(text) as ImportState);
  if (before?.id === id) return before;
  const { total } = await store.listUsers({ offset: 0, limit: 1 }, nowMs);
  const { channels } = await store.loadChannels();
  if (total > 0 || channels.length > 0 || before?.done === false) {
    throw new MovingError(
      before?.done === false
        ? 'This store has a part of another export. Finish that import, or import into an empty store.'
        : `This store is not empty (accounts: ${total}, channels: ${channels.length}). Import into an empty one, before a gateway starts on it: another DATA_DIR, or another REDIS_PREFIX.`,
    );
  }
  return { id, lines: 1, done: false };
}

async function vaultFor(
  { id, check = '' }: Header,
  ask: () => Promise<Secret | undefined>,
): Promise<Vault> {
  const passphrase = await ask();
  if (passphrase === undefined) {
    throw new MovingError('The credentials in this export are sealed: give its passphrase.');
  }
  const vault = vaultOf(passphrase, id);
  try {
    unseal(vault, check);
  } catch (error) {
    if (!(error instanceof CredentialsLockedError)) throw error;
    throw new MovingError('The passphrase is not the one that this export was made with.');
  }
  return vault;
}

/** The id of the export gives each one a separate key. */
function vaultOf(passphrase: Secret, id: string): Vault {
  return createVault(new Secret(`${id} ${passphrase.reveal()}`));
}

const SEALED = 'sealed';

function seal(vault: Vault, text: string): string {
  return vault.seal({ [SEALED]: new Secret(text) }) ?? '';
}

function unseal(vault: Vault, sealed: string): string {
  return vault.open(sealed)[SEALED]?.reveal() ?? '';
}

/** A row with what is secret in it changed; `undefined` if it is nothing without that. */
function withSecrets(
  table: MovedTable,
  row: MovedRow,
  change: (text: string) => string | undefined,
): MovedRow | undefined {
  if (table === 'channels' && typeof row.credentials === 'string') {
    return { ...row, credentials: change(row.credentials) ?? null };
  }
  if (table !== 'secrets') return row;
  const value = change(String(row.value));
  return value === undefined ? undefined : { ...row, value };
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function parse(text: string, number: number): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isRecord(value)) return value;
  } catch {
    // Said below.
  }
  throw new MovingError(
    number === 1
      ? 'This is not an export of rerank-gateway: its first line is no JSON. Make one with "rerank-gateway export".'
      : `Line ${number} of the export is damaged. Make it again.`,
  );
}

function headerOf(parsed: Readonly<Record<string, unknown>>): Header {
  if (parsed.export !== 'rerank-gateway' || typeof parsed.id !== 'string') {
    throw new MovingError(
      'This is not an export of rerank-gateway: its first line says nothing of one. Make one with "rerank-gateway export".',
    );
  }
  if (typeof parsed.version !== 'number' || parsed.version > VERSION) {
    throw new MovingError(
      `This export was made by a newer release (${String(parsed.release)}): import it with that one.`,
    );
  }
  // Checked as far as it is used.
  return parsed as unknown as Header;
}

function tableOf(name: string, number: number): MovedTable {
  const table = MOVED_TABLES.find((each) => each === name);
  if (table === undefined) {
    throw new MovingError(
      `Line ${number} of the export is of "${name}", which this release does not know: import with the release that made it, or a newer one.`,
    );
  }
  return table;
}

function checkCounts(counts: Readonly<MovedCounts>, end: unknown): void {
  const wrong = MOVED_TABLES.find(
    (table) => (counts[table] ?? 0) !== ((end as MovedCounts)[table] ?? 0),
  );
  if (wrong === undefined) return;
  throw new MovingError(
    `The export lacks lines of ${wrong}: it has ${counts[wrong] ?? 0} and names ${(end as MovedCounts)[wrong] ?? 0}. Make it again.`,
  );
}
