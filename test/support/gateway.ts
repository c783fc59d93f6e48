import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, type App, type AppParts } from '../../src/assembly/app.js';
import { loadConfig } from '../../src/config/load-config.js';
import { openStore } from '../../src/assembly/open-store.js';
import { storeFile } from '../../src/config/data-files.js';
import type { StoreSettings } from '../../src/config/values.js';
import { Secret } from '../../src/core/secret.js';
import type { NewToken, Store } from '../../src/store/store.js';
import { createVault } from '../../src/store/vault.js';
import { createLogger } from '../../src/telemetry/log.js';
import { openEmptyStore } from './empty-sqlite.js';
import { OPEN_POLICY } from './policy.js';

export interface TestGateway {
  readonly url: string;
  readonly store: Store;
  readonly app: App;
  readonly userId: number;
  /** Lines of the log so far. */
  readonly log: readonly string[];
  /** A key with these fields; unlimited, and for everything, unless they say otherwise. */
  createKey(
    fields?: Partial<Omit<NewToken, 'policy'>> & { policy?: Partial<NewToken['policy']> },
  ): Promise<{
    readonly key: string;
    readonly id: number;
  }>;
  /** Posts a rerank request; resolves to the status, headers and parsed body. */
  post(key: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Ends it as SIGTERM does, with so long for what is under way, and removes its files. */
  close(drainMs?: number): Promise<void>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: ReplyBody;
}

/** Both shapes at once: a test reads the half that its status stands for. */
export interface ReplyBody {
  readonly id: string;
  readonly model: string;
  readonly results: readonly {
    readonly index: number;
    readonly relevance_score: number;
    readonly document?: unknown;
  }[];
  readonly meta: unknown;
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly message: string;
  readonly detail: string;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly param: string | null;
  };
}

/** What a test declares of a channel; the rest is as the configuration's defaults have it. */
export type TestChannel = Readonly<Record<string, unknown>>;

const VAULT = createVault(new Secret('an encryption key of the tests'));

let keys = 0;

/** A gateway on a store of its own and a port of the system's choice. `settings` is the configuration, as YAML has it. */
export async function startGateway(
  settings: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  parts: Pick<AppParts, 'loadLlama' | 'now' | 'elapsed' | 'random'> = {},
): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'rerank-test-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    return await startIn(folder, removeFolder, settings, env, parts);
  } catch (error) {
    // Settings may be refused.
    removeFolder();
    throw error;
  }
}

async function startIn(
  folder: string,
  removeFolder: () => void,
  settings: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>>,
  parts: Pick<AppParts, 'loadLlama' | 'now' | 'elapsed' | 'random'>,
): Promise<TestGateway> {
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, JSON.stringify(settings));
  const config = loadConfig({ env: { DATA_DIR: folder, CONFIG: file, ...env } });
  const store = await storeOf(config.store, 'DATA_DIR' in env);
  const log: string[] = [];
  const logger = createLogger('info', {
    write: (text: string) => log.push(...text.split(/(?<=\n)/)),
  });
  const app = await createApp(config, { store, logger, ...parts });
  app.server.listen(0, '127.0.0.1');
  await once(app.server, 'listening');
  const { port } = app.server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const userId = await createUser(store);
  return {
    url,
    store,
    app,
    userId,
    log,
    async createKey({ policy, ...fields } = {}) {
      keys += 1;
      const key = `sk-${String(keys).padStart(48, 'k')}`;
      const token = await store.createToken(
        {
          userId,
          name: `key ${keys}`,
          keyHash: createHash('sha256').update(key).digest('hex'),
          keyHint: 'sk-kkkk…kkkk',
          enabled: true,
          expiredTime: -1,
          remainQuota: 0,
          unlimitedQuota: fields.remainQuota === undefined,
          policy: { ...OPEN_POLICY, ...policy },
          ...fields,
        },
        Date.now(),
      );
      if (token === undefined) throw new Error('no user for the key');
      return { key, id: token.id };
    },
    async post(key, body, headers = {}) {
      const response = await fetch(`${url}/v1/rerank`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return {
        status: response.status,
        headers: response.headers,
        body: (await response.json()) as ReplyBody,
      };
    },
    async close(drainMs = 1_000) {
      await app.close(drainMs);
      removeFolder();
    },
  };
}

/** Keys take a while to derive: stores that nothing else opens share one. */
async function storeOf(settings: StoreSettings, isShared: boolean): Promise<Store> {
  const { redisUrl, encryptionKey, encryptionKeys, dataDir } = settings;
  if (isShared || (redisUrl ?? encryptionKey ?? encryptionKeys) !== undefined) {
    return openStore(settings);
  }
  return openEmptyStore({ file: storeFile(dataDir), vault: VAULT });
}

async function createUser(store: Store): Promise<number> {
  const created = await store.createUser(
    {
      username: 'owner',
      email: undefined,
      displayName: 'Owner',
      passwordHash: 'none',
      role: 1,
      enabled: true,
      quota: 1_000_000_000,
    },
    Date.now(),
  );
  if (created.kind === 'updated') return created.user.id;
  // Another gateway works on the same store.
  const user = await store.findUser('owner', Date.now());
  if (user === undefined) throw new Error('there is no user for the keys');
  return user.id;
}
