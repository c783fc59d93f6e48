import type { Command } from 'commander';
import { GatewayError } from '../core/errors.js';
import { Secret } from '../core/secret.js';
import { createApiClient, GatewayUnreachableError } from '../client/api-client.js';
import { clientOverHttp } from '../client/over-http.js';
import type { UserWire } from '../shapes/user.js';
import { forgetLogin, readLogin, saveLogin } from './saved-login.js';
import { RefusedError, UsageError } from './errors.js';
import {
  findRemote,
  gatewayUrl,
  readSecret,
  showing,
  type CliIo,
  type GlobalOptions,
} from './session.js';
import { amount, facts } from './text.js';
import { ROLE } from './users.js';

interface LoginOptions extends GlobalOptions {
  readonly username?: string;
  readonly password?: string;
}

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('login')
    .option('--username <name>', 'who you are: name or address')
    .option('--password <secret>', 'env:NAME for a variable, or - for standard input; else asked')
    .addHelpText(
      'after',
      '\nThis makes a new access token and ends the previous one. To use an existing one, give --access-token.',
    )
    .action(async function (this: Command) {
      await logIn(io, this.optsWithGlobals<LoginOptions>());
    });

  program.command('logout').action(async function (this: Command) {
    await logOut(io, this.optsWithGlobals<GlobalOptions>());
  });

  program.command('whoami').action(async function (this: Command) {
    const options = this.optsWithGlobals<GlobalOptions>();
    const remote = await findRemote(io, options);
    if (remote === undefined) {
      showing(io, options)(
        { url: null, user: null, local: true, name: `cli:${io.user}` },
        `${options.local === true ? 'With --local,' : 'You are not logged in:'} commands work on the store that the settings name, as cli:${io.user}.`,
      );
      return;
    }
    const user = await clientOverHttp(remote.api).call('getSelf');
    showing(io, options)(
      { url: remote.api.url, local: false, ...userJson(user) },
      facts([
        ['gateway', remote.api.url],
        ['user', user.username],
        ['role', ROLE[user.role]],
        ['quota left', amount(user.quota)],
      ]),
    );
  });
}

async function logIn(io: CliIo, options: LoginOptions): Promise<void> {
  const given = options.url ?? io.env.RERANK_GATEWAY_URL ?? '';
  if (given === '') throw new UsageError('Give the address of the gateway: --url.');
  const url = gatewayUrl(given);
  const accessToken =
    options.accessToken === undefined
      ? await newAccessToken(io, url, options)
      : new Secret(await readSecret(io, options.accessToken));
  const user = await clientOverHttp(createApiClient(url, accessToken)).call('getSelf');
  const file = saveLogin(io.env, { url, username: user.username, accessToken });
  showing(io, options)(
    { url, ...userJson(user), saved_in: file },
    `You are ${user.username} (${ROLE[user.role]}) at ${url}. The access token is saved in ${file}; "rerank-gateway logout" ends it.`,
  );
}

/** Logs in by password, only for as long as it takes to get an access token. */
async function newAccessToken(io: CliIo, url: string, options: LoginOptions): Promise<Secret> {
  const { username, password } = options;
  if (username === undefined) throw new UsageError('Give your user name: --username.');
  const api = createApiClient(url, undefined);
  const body = { username, password: await passwordOf(io, username, password) };
  const cookie = await api.callForCookie('/api/user/login', body);
  try {
    return new Secret((await api.call('POST', '/api/user/token', { cookie })).string());
  } finally {
    await api.call('POST', '/api/user/logout', { cookie, body: {} });
  }
}

async function passwordOf(io: CliIo, username: string, given: string | undefined): Promise<string> {
  if (given !== undefined) return readSecret(io, given);
  const variable = io.env.RERANK_GATEWAY_PASSWORD ?? '';
  if (variable !== '') return variable;
  if (io.ask !== undefined) {
    io.writeError('A new access token will replace the previous one.\n');
    return io.ask(`Password of ${username}: `, true);
  }
  const input = (await io.readInput()).replace(/\r?\n$/, '');
  if (input !== '') return input;
  throw new UsageError(
    'No password was given: send it on standard input or in RERANK_GATEWAY_PASSWORD.',
  );
}

async function logOut(io: CliIo, options: GlobalOptions): Promise<void> {
  const saved = readLogin(io.env);
  if (saved === undefined) throw new RefusedError('You are not logged in.');
  const { url, username, accessToken } = saved;
  const ended = await endAccessToken(url, accessToken);
  forgetLogin(io.env);
  showing(io, options)(
    { url, username, ended },
    ended
      ? `${username} is logged out of ${url}.`
      : `The saved login is deleted, but ${url} cannot be reached: the access token stays valid there until the password changes or a new token is made.`,
  );
}

/** Ends the token; returns whether it has ended, now or before. */
async function endAccessToken(url: string, accessToken: Secret): Promise<boolean> {
  try {
    await createApiClient(url, accessToken).call('POST', '/api/user/logout', { body: {} });
    return true;
  } catch (error) {
    if (error instanceof GatewayUnreachableError) return false;
    if (error instanceof GatewayError && error.status === 401) return true;
    throw error;
  }
}

function userJson({ id, username, role, quota }: UserWire): Record<string, unknown> {
  return { user: { id, username, role, quota } };
}
