import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'ioredis';
import { StoreUnavailableError } from '../store.js';
import type { Connection } from './connection.js';

/** A Lua file, known to the server by the hash of its text, so nodes of different releases do not interfere. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const SCRIPTS = {
  look: load('look'),
  change: load('change'),
  settleAndAdmit: load('settle_and_admit'),
  beginWindows: load('begin_windows'),
  findTokens: load('find_tokens'),
  changeToken: load('change_token'),
  findUser: load('find_user'),
  changeUser: load('change_user'),
  syncNode: load('sync_node'),
  describeNode: load('describe_node'),
  creditUser: load('credit_user'),
  useSession: load('use_session'),
  countLimit: load('count_limit'),
  holdIdempotent: load('hold_idempotent'),
  keepIdempotent: load('keep_idempotent'),
  releaseIdempotent: load('release_idempotent'),
  writeLog: load('write_log'),
  findEntries: load('find_entries'),
  sumEntries: load('sum_entries'),
  dropEntries: load('drop_entries'),
  appendRequests: load('append_requests'),
  dropRequests: load('drop_requests'),
  findReply: load('find_reply'),
  keepReply: load('keep_reply'),
  addStats: load('add_stats'),
  takeShare: load('take_share'),
  returnShare: load('return_share'),
  askPlaces: load('ask_places'),
};

/** All that the scripts return: a bulk string, a whole number, nothing, or a list of these. */
export type Reply = string | number | null | readonly Reply[];

/** Runs a script on its keys, which are all in one slot. */
export function run(
  connection: Connection,
  script: Script,
  keys: string | readonly string[],
  args: readonly (string | number)[] = [],
): Promise<Reply> {
  return connection.answer(
    evaluate(connection, script, typeof keys === 'string' ? [keys] : keys, args),
  );
}

const MORE_KEYS = 'more keys';
/** A round is lost only to reservations that have expired since the last one. */
const MAX_KEY_ROUNDS = 50;

/** The tokens whose keys a script needs in another call, if that is its answer. */
export function missingTokens(reply: Reply): readonly string[] | undefined {
  if (!Array.isArray(reply) || reply[0] !== MORE_KEYS) return undefined;
  return listOf(reply).slice(1).map(textOf);
}

/** Runs a script that may find out only at run time that it needs the keys of more tokens. */
export async function runWithTokens(
  connection: Connection,
  script: Script,
  keys: readonly string[],
  tokenKey: (tokenId: string) => string,
  args: readonly (string | number)[] = [],
): Promise<Reply> {
  const all = [...keys];
  for (let round = 0; round < MAX_KEY_ROUNDS; round += 1) {
    const reply = await run(connection, script, all, args);
    const missing = missingTokens(reply);
    if (missing === undefined) return reply;
    all.push(...missing.map(tokenKey));
  }
  throw new StoreUnavailableError('Reservations expire faster than they can be given back.');
}

async function evaluate(
  { client }: Connection,
  { lua, sha }: Script,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  try {
    return await send(client, 'evalsha', sha, keys, args);
  } catch (error) {
    // The server was restarted, or is a different one: it does not know the script and has done nothing.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return send(client, 'eval', lua, keys, args);
  }
}

function send(
  client: Connection['client'],
  name: 'eval' | 'evalsha',
  script: string,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<Reply> {
  const command = new Command(name, [script, keys.length, ...keys, ...args], {
    replyEncoding: 'utf8',
  });
  return client.sendCommand(command) as Promise<Reply>;
}

/** What a script answers; anything else is not its answer, so that what it did is unknown. */
export function listOf(reply: Reply | undefined): readonly Reply[] {
  if (!Array.isArray(reply)) {
    throw new StoreUnavailableError('Redis gave another answer than the script does.');
  }
  return reply as readonly Reply[];
}

/** The pairs of a list of texts in which they follow each other, as Redis lists fields with values and members with scores. */
export function pairsOf(reply: Reply | undefined): [string, string][] {
  const flat = listOf(reply).map(textOf);
  return flat.flatMap((key, index): [string, string][] =>
    index % 2 === 0 ? [[key, flat[index + 1] ?? '']] : [],
  );
}

export function textOf(reply: Reply | undefined): string {
  if (typeof reply !== 'string') throw new Error('A record in Redis lacks a text.');
  return reply;
}

export function numberOf(reply: Reply | undefined): number {
  const number = typeof reply === 'string' ? Number(reply) : reply;
  if (typeof number !== 'number' || Number.isNaN(number)) {
    throw new Error('A record in Redis lacks a number.');
  }
  return number;
}

function load(name: string): Script {
  const lua = read(name).replace(/^--!include (\w+)$/gm, (_line, part: string) => read(part));
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

function read(name: string): string {
  return readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
}
