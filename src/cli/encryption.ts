import type { Command } from 'commander';
import { loadGroups } from '../config/load-groups.js';
import { rotateKey } from '../assembly/encryption-keys.js';
import { openStore } from '../assembly/open-store.js';
import { RefusedError } from './errors.js';
import { withoutStore, type CliIo } from './session.js';
import { counted } from './text.js';

/** Somebody is waiting for the answer. */
const CONNECT_TIMEOUT_MS = 3_000;

export function addCommands(program: Command, io: CliIo): void {
  const encryption = program.command('encryption');

  encryption
    .command('rotate')
    .description(
      're-encrypt all credentials with the first of ENCRYPTION_KEYS; gateways may keep running',
    )
    .addHelpText(
      'after',
      '\nWorks on the store. First give every gateway both keys, the new one last; then, with the new one first, restart them and\nrun this; then take the old one away. Refuses while a running gateway lacks the new one.',
    )
    .action(
      withoutStore(io, async ({ sources, show }) => {
        const { store: given } = loadGroups(sources, ['store']);
        const store = await openStore(given, { connectTimeoutMs: CONNECT_TIMEOUT_MS });
        try {
          const { sealed, locked } = await rotateKey(store);
          show(
            { sealed, locked },
            `Re-encrypted the credentials of ${counted(sealed, 'channel')}.`,
          );
          if (locked > 0) {
            throw new RefusedError(
              `The credentials of ${counted(locked, 'channel')} cannot be read with any of the keys; enter them again.`,
            );
          }
        } finally {
          await store.close();
        }
      }),
    );
}
