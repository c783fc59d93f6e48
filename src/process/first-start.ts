import { randomBytes } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { keyFile } from '../config/data-files.js';
import { inPackage } from '../config/package-files.js';
import type { Config } from '../config/values.js';
import { CHANNEL_ENABLED } from '../core/channel.js';
import type { ManagementDeps } from '../management/audit.js';
import { createToken } from '../management/tokens.js';
import { ensureRoot } from '../management/users.js';
import type { Store, User } from '../store/store.js';

/** Requests per minute: enough to try everything, but no open door if the key is found in a log. */
const FIRST_KEY_RATE = 600;

/** How the command line is called: in a clone, or where the package is installed. */
const COMMAND = existsSync(inPackage('src', 'setup.mjs')) ? 'npm run cli --' : 'rerank-gateway';

/** What a start has to report once the gateway listens. */
export interface FirstStart {
  /** The first key, if one was created. */
  readonly key: string | undefined;
}

/**
 * Creates the root account on an empty store with a first key, and prints both, only this once. Runs
 * before anything listens, so that no stranger is faster, and prints at once, so that no later failure swallows them.
 */
export async function firstStart(
  config: Config,
  store: Store,
  print: (text: string) => void,
): Promise<FirstStart> {
  const deps = { store, now: Date.now, randomBytes };
  const root = await ensureRoot(deps, config.root);
  if (root.kind === 'found') return { key: undefined };
  if (isUsedFolder(config.store)) print(NO_LONGER_THERE);
  const created = `\nThe root account was created: ${root.user.username}\n`;
  if (!config.root.showSecrets) {
    print(`${created}${withoutSecrets(root.password !== undefined)}`);
    return { key: undefined };
  }
  const key = await firstKey(deps, root.user);
  print(
    [
      `${created}  password: ${root.password === undefined ? 'the one in ROOT_PASSWORD' : `${root.password}   (shown only once)`}`,
      `  first API key: ${key}   (shown only once; it may send ${FIRST_KEY_RATE} requests a minute)\n`,
    ].join('\n'),
  );
  return { key };
}

const NO_LONGER_THERE = `
The database is new, but encryption.key was there: if a gateway has run on this folder before, its gateway.db is gone.
  bring a backup back: stop this gateway, then ${COMMAND} restore <folder>
`;

/** Whether a key for the embedded store is older than this process. */
function isUsedFolder({ redisUrl, dataDir }: Config['store']): boolean {
  if (redisUrl !== undefined) return false;
  const file = statSync(keyFile(dataDir), { throwIfNoEntry: false });
  return file !== undefined && file.mtimeMs < performance.timeOrigin;
}

/** What to do where neither password nor key may be printed. */
function withoutSecrets(isGenerated: boolean): string {
  const password = isGenerated
    ? `  password: a random one that nobody has seen; set one: ${COMMAND} users update root --password -\n`
    : '';
  return `${password}  first API key: make one: ${COMMAND} keys create --name my-app --quota 5usd\n`;
}

async function firstKey(deps: ManagementDeps, root: User): Promise<string> {
  const { key } = await createToken(
    deps,
    {
      ...{ userId: root.id, name: 'first key', unlimitedQuota: true },
      policy: { rateLimit: FIRST_KEY_RATE },
    },
    { id: root.id, name: root.username, role: root.role, address: undefined },
  );
  return key;
}

/** Says where the gateway listens, where its data is, and, if a first key was created, how to try it. */
export function welcome(config: Config, { key }: FirstStart, port: number): string {
  const url = `http://localhost:${port}`;
  const lines = [
    '',
    `rerank-gateway listens on ${url}`,
    ...(config.console.enabled ? [`The console: ${url}/console/`] : []),
    config.store.redisUrl === undefined
      ? `Its data is in ${resolve(config.store.dataDir)} (one machine only; several need Redis: set REDIS_URL)`
      : 'Its data is in Redis',
  ];
  if (key !== undefined) lines.push('', 'Try it:', '', curlFor(url, key, config));
  lines.push('', `More keys: ${COMMAND} keys create --name my-app --quota 5usd`, '', '');
  return lines.join('\n');
}

/** A request that works as printed, on one line: where no model is the default, it names the first one that is served. */
function curlFor(url: string, key: string, { gateway, channels = [] }: Config): string {
  const [model] = channels
    .filter(({ declared }) => declared.status === CHANNEL_ENABLED)
    .flatMap(({ declared }) => Object.keys(declared.models));
  const body = JSON.stringify({
    ...(gateway.defaultModel === undefined && model !== undefined ? { model } : {}),
    query: 'Which planet has the most moons?',
    documents: [
      'Mercury has no moons at all.',
      'Saturn is the planet with the most moons: well over a hundred.',
      'Olive oil keeps best in the dark.',
    ],
    return_documents: true,
  });
  return `curl ${url}/v1/rerank -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}
