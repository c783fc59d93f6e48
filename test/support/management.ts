import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import type { Actor } from '../../src/management/audit.js';
import type { ChannelDeps } from '../../src/management/channel-edits.js';
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.js';
import type { AuditEntry, Store, User } from '../../src/store/store.js';
import { createVault, type Vault } from '../../src/store/vault.js';
import { openEmptyStore } from './empty-sqlite.js';

export const NOW = 1_800_000_000_000;
export const NOW_SECONDS = NOW / 1000;

export const OPERATOR: Actor = {
  id: undefined,
  name: 'operator',
  role: 100,
  address: undefined,
};

/** What management works on, with a fresh embedded store for every test of the surrounding `describe`. */
export function freshManagement(): {
  readonly deps: ChannelDeps;
  readonly store: Store;
  /** Moves the clock on. */
  pass(ms: number): void;
  /** The same data through a connection of its own. */
  reopen(vault?: Vault): Store;
  /** Everything that was audited, oldest first. */
  audited(): Promise<AuditEntry[]>;
  createUser(username: string, role?: User['role']): Promise<Actor & { readonly id: number }>;
} {
  let folder = '';
  let opened: Store[] = [];
  let nowMs = NOW;
  const open = (vault: Vault, opener = openSqliteStore): Store => {
    const store = opener({ file: join(folder, 'gateway.db'), vault });
    opened.push(store);
    return store;
  };
  const first = (): Store => {
    const [store] = opened;
    if (store === undefined) throw new Error('the store is there only while a test runs');
    return store;
  };
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'management-'));
    opened = [];
    nowMs = NOW;
    open(VAULT, openEmptyStore);
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
    rmSync(folder, { recursive: true });
  });
  return {
    get store() {
      return first();
    },
    get deps() {
      return {
        ...{ store: first(), now: () => nowMs, randomBytes },
        ...{ allowPrivateUpstreams: true, allowMetadataUpstreams: false },
      };
    },
    pass(ms) {
      nowMs += ms;
    },
    reopen: (vault = VAULT) => open(vault),
    async audited() {
      const { items } = await first().listAudit({ offset: 0, limit: 100 });
      return [...items].reverse();
    },
    async createUser(username, role = 1) {
      const created = await first().createUser(
        {
          username,
          email: undefined,
          displayName: username,
          passwordHash: 'hash of a password',
          role,
          enabled: true,
          quota: 1_000_000,
        },
        nowMs,
      );
      if (created.kind !== 'updated') throw new Error(`the user was not created: ${created.kind}`);
      return { id: created.user.id, name: username, role, address: '192.0.2.1' };
    },
  };
}

const VAULT = createVault(new Secret('an encryption key of the tests'));
