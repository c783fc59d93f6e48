import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../../src/store/store.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { Vault } from '../../src/store/vault.js';
import { openEmptyStore } from '../support/empty-sqlite.js';
import { unique, VAULT, type StoreHarness } from './contract/harness.js';
import { describeStoreContract } from './contract/index.js';

function openHarness(): StoreHarness {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-store-'));
  const opened: Store[] = [];
  const open = (vault: Vault, name = 'gateway.db', opener = openSqliteStore): Store => {
    const store = opener({ file: join(folder, name), vault });
    opened.push(store);
    return store;
  };
  const fresh = (): Store => open(VAULT, `${unique('fresh')}.db`, openEmptyStore);
  return {
    store: open(VAULT, 'gateway.db', openEmptyStore),
    reopen: (vault = VAULT) => Promise.resolve(open(vault)),
    fresh: () => Promise.resolve(fresh()),
    dispose: async () => {
      await Promise.all(opened.map((store) => store.close()));
      rmSync(folder, { recursive: true });
    },
  };
}

describeStoreContract('SQLite', () => Promise.resolve(openHarness()));
