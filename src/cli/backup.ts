import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { backupMark, keyFile, storeFile } from '../config/data-files.js';
import { loadGroups, type ConfigSources } from '../config/load-groups.js';
import { copyDatabase } from '../store/sqlite/copy.js';
import { RefusedError } from './errors.js';
import { withoutStore, type CliIo } from './session.js';

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('backup')
    .argument('<folder>', 'a new folder')
    .addHelpText(
      'after',
      `
Copies the embedded store of DATA_DIR, and the key beside it. Gateways may keep running.
Redis is backed up differently: see docs/operations.md.`,
    )
    .action(
      withoutStore(io, ({ sources, show }, { args: [folder = ''] }) => {
        const files = backUp(embeddedDataDir(sources, 'back it up'), folder);
        show({ files }, files.join('\n'));
      }),
    );
}

/** The data folder of the embedded store; refuses where the data is in Redis. */
export function embeddedDataDir(sources: ConfigSources, what: 'back it up' | 'restore it'): string {
  const { store } = loadGroups(sources, ['store']);
  if (store.redisUrl === undefined) return store.dataDir;
  throw new RefusedError(
    `REDIS_URL is set: the data is in Redis. docs/operations.md explains how to ${what}.`,
  );
}

/** A copy as of one moment. It opens with the key beside it, or with ENCRYPTION_KEY if that is set. */
function backUp(dataDir: string, folder: string): string[] {
  const file = storeFile(dataDir);
  if (!existsSync(file)) throw new RefusedError(`${file} does not exist: nothing to back up.`);
  if (existsSync(folder)) throw new RefusedError(`${folder} exists: name a new folder.`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const copies = [join(folder, basename(file))];
    copyDatabase(file, copies[0] ?? '');
    const key = keyFile(dataDir);
    if (existsSync(key)) {
      const copy = join(folder, basename(key));
      copyFileSync(key, copy);
      copies.push(copy);
    }
    // A gateway alerts people when this gets old.
    writeFileSync(backupMark(dataDir), `${folder}\n`, { mode: 0o600 });
    return copies;
  } catch (error) {
    // Half a backup would later be mistaken for a whole one.
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}
