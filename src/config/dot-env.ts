import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { ConfigMistake, Environment } from './files.js';
import { ConfigError } from './mistakes.js';
import { systemCode } from '../core/errors.js';

const ASSIGNMENT = /^\s*(?:export\s+)?[A-Za-z_]\w*\s*=\s*(.*)$/;
const NOTHING = /^\s*(?:#.*)?$/;

/**
 * The environment, completed by the file `.env` of the folder, or by the one that `ENV_FILE` names; an empty `ENV_FILE`
 * means none. A variable of the environment overrides the file, even if it is empty.
 * @throws ConfigError with every line that cannot be read.
 */
export function withDotEnv(env: Environment, folder = '.'): Environment {
  const named = env.ENV_FILE;
  if (named === '') return env;
  const file = named ?? join(folder, '.env');
  const text = readFile(file, named !== undefined);
  if (text === undefined) return env;
  const mistakes = mistakesIn(text, file);
  if (mistakes.length > 0) throw new ConfigError(mistakes);
  return { ...parseEnv(text), ...env };
}

/** The variables that the file sets, each with the line that first does, and with a later one that counts instead. */
export function dotEnvNames(
  env: Environment,
  folder: string,
): readonly { readonly name: string; readonly where: string; readonly later?: string }[] {
  if (env.ENV_FILE === '') return [];
  const file = env.ENV_FILE ?? join(folder, '.env');
  const text = readFile(file, false) ?? '';
  const lines = text.split(/\r\n|\n|\r/);
  return Object.keys(parseEnv(text)).map((name) => {
    const sets = new RegExp(`^\\s*(?:export\\s+)?${name}\\s*=`);
    const [first, later] = [
      lines.findIndex((line) => sets.test(line)),
      lines.findLastIndex((line) => sets.test(line)),
    ].map((index) => `${file}:${index + 1}`);
    return { name, where: first ?? file, ...(later === first ? undefined : { later }) };
  });
}

/** `undefined` if there is no such file and nobody has asked for it. */
function readFile(file: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const code = systemCode(error) ?? 'unknown reason';
    if (code === 'ENOENT' && !isNamed) return undefined;
    const message = `cannot be read (${code}); it should hold lines such as NAME=value`;
    throw new ConfigError([{ where: file, path: [], message }]);
  }
}

/** Lines that Node's parser would silently skip. They are not quoted: each may hold a secret. */
function mistakesIn(text: string, file: string): ConfigMistake[] {
  const mistakes: ConfigMistake[] = [];
  const lines = text.split(/\r\n|\n|\r/);
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    if (NOTHING.test(line)) continue;
    const where = `${file}:${index + 1}`;
    const value = ASSIGNMENT.exec(line)?.[1];
    if (value === undefined) {
      mistakes.push({ where, path: [], message: 'must be NAME=value, or a comment after #' });
      continue;
    }
    const quote = /^["'`]/.exec(value)?.[0];
    if (quote === undefined || value.includes(quote, 1)) continue;
    const end = lines.findIndex((later, at) => at > index && later.includes(quote));
    if (end === -1) {
      mistakes.push({ where, path: [], message: `starts with ${quote} but is never closed` });
    } else index = end;
  }
  return mistakes;
}
