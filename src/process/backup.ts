import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ConfigError } from '../config/mistakes.js';
import { loadGroups } from '../config/load-groups.js';
import { systemCode } from '../core/errors.js';
import { withDotEnv } from '../config/dot-env.js';
import { backupMark, keyFile, storeFile } from '../config/data-files.js';
import { copyDatabase } from '../store/sqlite/copy.js';
import { StoreUnavailableError } from '../store/store.js';

const USAGE = `Usage: npm run backup -- <folder>

Copies the embedded store of DATA_DIR, and the key beside it, into a new folder. Gateways may keep running.
Redis is backed up differently: see docs/operations.md.
`;

class BackupError extends Error {}

/** A copy as of one moment. It opens with the key beside it, or with ENCRYPTION_KEY if that is set. */
function backUp(folder: string): string[] {
  const { store } = loadGroups({ env: withDotEnv(process.env) }, ['store']);
  if (store.redisUrl !== undefined) {
    throw new BackupError(
      'REDIS_URL is set: the data is in Redis. docs/operations.md explains how to back it up.',
    );
  }
  const file = storeFile(store.dataDir);
  if (!existsSync(file)) throw new BackupError(`${file} is not there: nothing to back up.`);
  mkdirSync(folder, { mode: 0o700 });
  try {
    const copies = [join(folder, basename(file))];
    copyDatabase(file, copies[0] ?? '');
    const key = keyFile(store.dataDir);
    if (existsSync(key)) {
      const copy = join(folder, basename(key));
      copyFileSync(key, copy);
      copies.push(copy);
    }
    // A gateway alerts people when this gets old.
    writeFileSync(backupMark(store.dataDir), `${folder}\n`, { mode: 0o600 });
    return copies;
  } catch (error) {
    // Half a backup would later be mistaken for a whole one.
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** The message of an error that a person can act on; anything else is a fault of ours, and keeps its stack. */
function sentenceOf(error: unknown): string | undefined {
  if (error instanceof BackupError || error instanceof ConfigError) return error.message;
  if (error instanceof StoreUnavailableError) return error.message;
  return systemCode(error) === undefined || !(error instanceof Error) ? undefined : error.message;
}

const [folder, ...rest] = process.argv.slice(2);
if (folder === undefined || rest.length > 0 || folder.startsWith('-')) {
  process.stderr.write(USAGE);
  process.exitCode = folder === '--help' ? 0 : 2;
} else {
  try {
    process.stdout.write(`${backUp(folder).join('\n')}\n`);
  } catch (error) {
    const sentence = sentenceOf(error);
    if (sentence === undefined) throw error;
    process.stderr.write(`No backup was made: ${sentence}\n`);
    process.exitCode = 1;
  }
}
