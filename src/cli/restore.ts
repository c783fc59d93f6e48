import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Command } from 'commander';
import { keyFile, storeFile } from '../config/data-files.js';
import { copyDatabase, isInUse } from '../store/sqlite/copy.js';
import { embeddedDataDir } from './backup.js';
import { RefusedError } from './errors.js';
import { withoutStore, type CliIo } from './session.js';

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('restore')
    .argument('<folder>', 'the folder that backup made')
    .addHelpText(
      'after',
      `
Stop the gateways first. The present data moves to a folder before-restore-… in the data folder; nothing is deleted.
Redis is restored differently: see docs/operations.md.`,
    )
    .action(
      withoutStore(io, ({ sources, show }, { args: [folder = ''] }) => {
        const dataDir = embeddedDataDir(sources, 'restore it');
        const backup = storeFile(folder);
        if (!existsSync(backup)) throw new RefusedError(`${backup} does not exist: name a backup.`);
        const present = storeFile(dataDir);
        if (existsSync(present) && isInUse(present, io.now())) {
          throw new RefusedError(
            'A gateway uses this store, or did a moment ago: stop it, and try again after a few seconds.',
          );
        }
        const aside = replace(dataDir, folder, new Date(io.now()));
        const kept = aside === undefined ? '' : ` The data from before is in ${aside}.`;
        show({ restored: dataDir, before: aside ?? null }, `Restored ${folder}.${kept}`);
      }),
    );
}

/** Returns the folder with the data from before, if there was any. The copy is whole before anything is moved. */
function replace(dataDir: string, folder: string, now: Date): string | undefined {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = storeFile(dataDir);
  const copy = `${file}.restored`;
  rmSync(copy, { force: true });
  try {
    copyDatabase(storeFile(folder), copy);
  } catch (error) {
    rmSync(copy, { force: true });
    throw error;
  }
  const present = [file, `${file}-wal`, `${file}-shm`, keyFile(dataDir)].filter(existsSync);
  const aside = join(dataDir, `before-restore-${now.toISOString().replace(/\W/g, '')}`);
  if (present.length > 0) mkdirSync(aside, { mode: 0o700 });
  for (const name of present) renameSync(name, join(aside, basename(name)));
  renameSync(copy, file);
  if (existsSync(keyFile(folder))) copyFileSync(keyFile(folder), keyFile(dataDir));
  return present.length > 0 ? aside : undefined;
}
