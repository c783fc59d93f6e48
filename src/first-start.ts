import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from './config.js';
import { createToken } from './management/tokens.js';
import { ensureRoot } from './management/users.js';
import type { Store } from './store/store.js';

/**
 * Creates the root account on an empty store, and on the embedded one a first key, and prints both: this once. Says where
 * the gateway listens and where its data lies on every start.
 */
export async function welcome(
  config: Config,
  store: Store,
  port: number,
  print: (text: string) => void,
): Promise<void> {
  const deps = { store, now: Date.now, randomBytes };
  const root = await ensureRoot(deps, config.root);
  const url = `http://localhost:${port}`;
  const embedded = config.store.redisUrl === undefined;
  const lines = [
    '',
    `rerank-gateway listens on ${url}`,
    embedded
      ? `Its data lies in ${resolve(config.store.dataDir)} (for one machine; several need Redis: REDIS_URL)`
      : 'Its data lies in Redis',
  ];
  if (root.kind === 'created') {
    lines.push('', `The root account was created: ${root.user.username}`);
    lines.push(
      root.password === undefined
        ? '  password: the one that was given in ROOT_PASSWORD'
        : `  password: ${root.password}   (shown this once)`,
    );
    if (embedded) {
      const { key } = await createToken(
        deps,
        { userId: root.user.id, name: 'first key', unlimitedQuota: true },
        { id: root.user.id, name: root.user.username, role: root.user.role, address: undefined },
      );
      lines.push(
        `  first API key: ${key}   (shown this once)`,
        '',
        'Try it:',
        '',
        curlFor(url, key),
      );
    }
  }
  lines.push('', 'More keys: npm run cli -- keys create --name my-app', '', '');
  print(lines.join('\n'));
}

/** A request that works as printed, in one line. */
function curlFor(url: string, key: string): string {
  const body = JSON.stringify({
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
