import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { Option, type Command } from 'commander';
import { loadGroups, type ConfigSources } from '../config/load-groups.js';
import { releaseOf } from '../process/this-node.js';
import { openStore, refuseHalf } from '../assembly/open-store.js';
import { systemCode } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import {
  exportLines,
  importLines,
  MovingError,
  type MovedCounts,
  type OnMoved,
} from '../assembly/moving.js';
import type { Store } from '../store/store.js';
import { addElsewhereCommands } from './elsewhere/commands.js';
import { RefusedError, UsageError } from './errors.js';
import { withoutStore, type CliIo } from './session.js';
import { counted } from './text.js';

/** Somebody is waiting for the answer. */
const CONNECT_TIMEOUT_MS = 3_000;
/** How often the progress is shown. */
const SHOW_EVERY_MS = 200;
/** Takes back the line that a terminal shows. */
const LINE_AGAIN = '\r\x1b[K';

interface PassphraseOptions {
  readonly passphraseFile?: string;
}

interface ExportOptions extends PassphraseOptions {
  readonly withoutCredentials?: boolean;
  readonly whileRunning?: boolean;
}

/** The tables that people know, by what they call their rows. */
const NAMES: Partial<Record<keyof MovedCounts, string>> = {
  users: 'account',
  tokens: 'key',
  codes: 'code',
  channels: 'channel',
  stats: 'statistics row',
  usage_log: 'request',
  audit_log: 'audit record',
};

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('export')
    .argument('<file>', 'a new file, or - for standard output')
    .addOption(passphraseOption())
    .option('--without-credentials', 'leave out the credentials of channels')
    .option('--while-running', 'for a rehearsal: what is spent meanwhile may be missing')
    .addHelpText(
      'after',
      `
Moves accounts, keys, codes, channels, prices, balances, sessions, statistics and logs. Keys keep working. Stop the gateways first.
The passphrase seals the credentials of channels; it is asked for unless it is in RERANK_GATEWAY_PASSPHRASE or a file.

Examples:
  rerank-gateway export house.ndjson
  REDIS_URL=redis://localhost:6379 rerank-gateway import house.ndjson`,
    )
    .action(
      withoutStore(io, async ({ sources, show }, command) => {
        const [file = ''] = command.args;
        const options = command.opts<ExportOptions>();
        const passphrase =
          options.withoutCredentials === true
            ? undefined
            : await passphraseOf(io, options, 'Passphrase for the credentials of channels: ');
        const counts = await onStore(sources, async (store) => {
          if (options.whileRunning !== true) await refuseRunning(store, io.now());
          await refuseHalf(store);
          let last: MovedCounts = {};
          const onMoved = progress(io, 'exported', (now) => (last = now));
          const given = { passphrase, release: releaseOf(), nowMs: io.now(), onMoved };
          const lines = refuseEmpty(exportLines(store, given), () => last);
          await save(lines, file).finally(() => endProgress(io));
          return last;
        });
        if (file !== '-') show(counts, `Exported ${summary(counts)} to ${file}.`);
      }),
    );

  const imports = program
    .command('import')
    .argument('<file>', 'the file, or - for standard input')
    .addOption(passphraseOption())
    .addHelpText(
      'after',
      `
Run it again after an interruption: it goes on where it ended. Until then, gateways and other commands refuse the store.
From another gateway, import litellm and import new-api add what a store does not have yet.

Example:
  REDIS_URL=redis://localhost:6379 rerank-gateway import house.ndjson`,
    )
    .action(
      withoutStore(io, async ({ sources, show }, command) => {
        const [file = ''] = command.args;
        const passphrase = (): Promise<Secret> =>
          passphraseOf(io, command.opts<PassphraseOptions>(), 'Passphrase of the export: ');
        const { counts, before } = await onStore(sources, async (store) => {
          await refuseRunning(store, io.now());
          const lines = createInterface({
            input: file === '-' ? process.stdin : createReadStream(file),
            crlfDelay: Infinity,
          });
          const onMoved = progress(io, 'imported');
          const given = { passphrase, nowMs: io.now(), onMoved };
          return importLines(store, lines, given).finally(() => endProgress(io));
        });
        const said = before ? 'This export had been imported before' : 'Imported';
        show(counts, `${said}: ${summary(counts)}.`);
      }),
    );
  addElsewhereCommands(imports, io);
}

function passphraseOption(): Option {
  return new Option('--passphrase-file <path>', 'a file with the passphrase');
}

async function passphraseOf(
  { env, ask }: CliIo,
  { passphraseFile }: PassphraseOptions,
  question: string,
): Promise<Secret> {
  const given =
    passphraseFile === undefined
      ? (env.RERANK_GATEWAY_PASSPHRASE ?? (await ask?.(question, true)))
      : readFileSync(passphraseFile, 'utf8');
  const passphrase = given?.trim() ?? '';
  if (passphrase !== '') return new Secret(passphrase);
  throw new UsageError(
    'Give a passphrase: RERANK_GATEWAY_PASSPHRASE, or --passphrase-file. An export takes --without-credentials instead.',
  );
}

async function onStore<T>(sources: ConfigSources, work: (store: Store) => Promise<T>): Promise<T> {
  const { store: settings } = loadGroups(sources, ['store']);
  const store = await openStore(settings, { connectTimeoutMs: CONNECT_TIMEOUT_MS });
  try {
    return await work(store);
  } catch (error) {
    if (error instanceof MovingError) throw new RefusedError(error.message);
    if (systemCode(error) === 'EEXIST') throw new RefusedError('The file exists: name a new one.');
    if (systemCode(error) === 'ENOENT') throw new RefusedError('There is no such file.');
    throw error;
  } finally {
    await store.close();
  }
}

async function refuseRunning(store: Store, nowMs: number): Promise<void> {
  if ((await store.oldestNodeVersion(nowMs)) === undefined) return;
  throw new RefusedError(
    'A gateway uses this store, or did a moment ago: stop it, and try again after a few seconds.',
  );
}

/** The lines of an export; fails at their end if the store has no account, as one that no gateway has used yet. */
async function* refuseEmpty(
  lines: AsyncIterable<string>,
  counts: () => MovedCounts,
): AsyncGenerator<string> {
  yield* lines;
  if ((counts().users ?? 0) > 0) return;
  throw new RefusedError('This store is empty: check DATA_DIR, or REDIS_URL and REDIS_PREFIX.');
}

/** Writes text to a new file that only its owner can read, whole or not at all. */
async function save(text: AsyncIterable<string>, file: string): Promise<void> {
  if (file === '-') {
    await pipeline(text, process.stdout, { end: false });
    return;
  }
  const out = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await once(out, 'open');
  try {
    await pipeline(text, out);
  } catch (error) {
    // Half an export would later be mistaken for a whole one.
    rmSync(file);
    throw error;
  }
}

/** Shows what has been moved so far, on a terminal. */
function progress(io: CliIo, what: string, also?: (counts: MovedCounts) => void): OnMoved {
  let shownMs = 0;
  return (counts) => {
    also?.(counts);
    if (io.ask === undefined || io.now() - shownMs < SHOW_EVERY_MS) return;
    shownMs = io.now();
    io.writeError(`${LINE_AGAIN}${what} ${summary(counts)}`);
  };
}

/** What comes next begins a line. */
function endProgress(io: CliIo): void {
  if (io.ask !== undefined) io.writeError(LINE_AGAIN);
}

function summary(counts: MovedCounts): string {
  const parts = Object.entries(NAMES).map(([table, name]) =>
    counted(counts[table as keyof MovedCounts] ?? 0, name),
  );
  return parts.join(', ');
}
