import { Secret } from './secret.js';

/** The keys in an API key credential: one per line, each once, in the order given. */
export function apiKeysOf(credential: Secret | undefined): readonly Secret[] {
  const text = credential?.reveal() ?? '';
  if (credential === undefined || !text.includes('\n')) {
    return credential === undefined ? [] : [credential];
  }
  const lines = text.split('\n').map((line) => line.trim());
  return [...new Set(lines)].filter((line) => line !== '').map((line) => new Secret(line));
}

/** The most keys that one channel may have. */
export const MAX_API_KEYS = 1_000;

/** One credential of many keys. */
export function joinApiKeys(keys: readonly string[]): string {
  return keys.join('\n');
}

/** How people recognise a key: its last characters, if enough stays hidden. */
export function keyHint(key: Secret): string {
  const text = key.reveal();
  return text.length < 12 ? '…' : `…${text.slice(-4)}`;
}
