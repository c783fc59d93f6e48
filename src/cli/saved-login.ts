import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '../config/files.js';
import { systemCode } from '../core/errors.js';
import { Json } from '../core/json.js';
import { Secret } from '../core/secret.js';

/** Where commands go, and for which account. */
export interface SavedLogin {
  readonly url: string;
  readonly username: string;
  readonly accessToken: Secret;
}

/** The login saved for this user of the machine, or `undefined` if there is none. */
export function readLogin(env: Environment): SavedLogin | undefined {
  const file = loginFile(env);
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const saved = new Json(JSON.parse(text));
    return {
      url: saved.field('url').string(),
      username: saved.field('username').string(),
      accessToken: new Secret(saved.field('access_token').string()),
    };
  } catch (error) {
    throw new Error(`${file} does not hold a login; delete it and log in again.`, { cause: error });
  }
}

/** Saves a login for later commands, readable by its owner alone. Returns the path of the file. */
export function saveLogin(env: Environment, { url, username, accessToken }: SavedLogin): string {
  const file = loginFile(env);
  if (file === undefined) {
    throw new Error('There is nowhere to save a login: set XDG_CONFIG_HOME or HOME.');
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // An existing file would keep its mode when written to, so a new file replaces it.
  const fresh = `${file}.${process.pid}`;
  const text = JSON.stringify({ url, username, access_token: accessToken.reveal() }, null, 2);
  writeFileSync(fresh, `${text}\n`, { mode: 0o600 });
  renameSync(fresh, file);
  return file;
}

export function forgetLogin(env: Environment): void {
  const file = loginFile(env);
  if (file !== undefined) rmSync(file, { force: true });
}

function loginFile({
  XDG_CONFIG_HOME: folder = '',
  HOME: home = '',
}: Environment): string | undefined {
  const base = folder === '' ? home && join(home, '.config') : folder;
  return base === '' ? undefined : join(base, 'rerank-gateway', 'login.json');
}
