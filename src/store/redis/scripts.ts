import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Command } from 'ioredis';
import type { Connection } from './connection.js';

/** A Lua file, known to the server by the hash of its text: nodes of different releases do not get in each other's way. */
export interface Script {
  readonly lua: string;
  readonly sha: string;
}

export const SCRIPTS = {
  admission: load('admission'),
  createToken: load('create_token'),
  readTokens: load('read_tokens'),
  updateToken: load('update_token'),
  deleteToken: load('delete_token'),
  claimLogin: load('claim_login'),
  releaseLogin: load('release_login'),
  readUser: load('read_user'),
  updateUser: load('update_user'),
  deleteUser: load('delete_user'),
  loadChannels: load('load_channels'),
  commitChannels: load('commit_channels'),
  setTagSwitch: load('set_tag_switch'),
  reportNode: load('report_node'),
  createCodes: load('create_codes'),
  updateCode: load('update_code'),
  deleteCodes: load('delete_codes'),
  claimCode: load('claim_code'),
  creditCode: load('credit_code'),
  endClaim: load('end_claim'),
  createSession: load('create_session'),
  findSession: load('find_session'),
  deleteSessions: load('delete_sessions'),
  takeOneTimeCode: load('take_one_time_code'),
  takeLimit: load('take_limit'),
  claimIdempotent: load('claim_idempotent'),
  completeIdempotent: load('complete_idempotent'),
  releaseIdempotent: load('release_idempotent'),
  appendLog: load('append_log'),
  trimLog: load('trim_log'),
};

/** A bulk string, a whole number, nothing, or a list of these: all that the scripts return. */
export type Reply = string | number | null | readonly Reply[];

/** Runs a script whose keys all are, or begin with, `key`. */
export function run(
  connection: Connection,
  script: Script,
  key: string,
  args: readonly (string | number)[] = [],
): Promise<Reply> {
  return connection.answer(evaluate(connection, script, key, args));
}

async function evaluate(
  { client }: Connection,
  { lua, sha }: Script,
  key: string,
  args: readonly (string | number)[],
): Promise<Reply> {
  try {
    return await send(client, 'evalsha', sha, key, args);
  } catch (error) {
    // The server was restarted, or is another one: it does not know the script, and has done nothing.
    if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
    return send(client, 'eval', lua, key, args);
  }
}

function send(
  client: Connection['client'],
  name: 'eval' | 'evalsha',
  script: string,
  key: string,
  args: readonly (string | number)[],
): Promise<Reply> {
  const command = new Command(name, [script, 1, key, ...args], {
    replyEncoding: 'utf8',
  });
  return client.sendCommand(command) as Promise<Reply>;
}

export function listOf(reply: Reply | undefined): readonly Reply[] {
  if (!Array.isArray(reply)) throw new Error('A script of the store returned no list.');
  return reply as readonly Reply[];
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
