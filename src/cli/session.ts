import type { Command } from 'commander';
import type { Environment } from '../config/files.js';
import type { ConfigSources } from '../config/load-groups.js';
import type { Config } from '../config/values.js';
import { Secret } from '../core/secret.js';
import { NEVER_EXPIRES } from '../core/token.js';
import { createApiClient, type ApiClient } from '../client/api-client.js';
import type { Client } from '../client/client.js';
import { clientOverHttp } from '../client/over-http.js';
import { RefusedError, UsageError } from './errors.js';
import { fitted, listing, streaming, type Screen } from './listing.js';
import { readLogin } from './saved-login.js';
import { relative } from './terminal.js';
import { moment } from './text.js';

/** What the command line uses of the process around it. */
export interface CliIo extends Screen {
  readonly env: Environment;
  /** The user who runs the command, for the audit log. */
  readonly user: string;
  readonly writeError: (text: string) => void;
  /** Asks a person a question, and may hide the answer; `undefined` if nobody sits at a terminal. */
  readonly ask: ((question: string, unseen?: boolean) => Promise<string>) | undefined;
  /** All of standard input. */
  readonly readInput: () => Promise<string>;
  /** Aborted when somebody interrupts the command, which then ends well instead of being killed. */
  readonly interrupted?: () => AbortSignal;
}

/** What every command understands, before or after its name. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly url?: string;
  readonly accessToken?: string;
  readonly local?: boolean;
}

/** One command at work on a gateway. */
export interface Session {
  readonly io: CliIo;
  readonly client: Client;
  /** Whether --yes answers what the command would ask. */
  readonly isAgreed: boolean;
  /** Whether --dry-run asks what would be changed. */
  readonly isDryRun: boolean;
  /** Prints the result: as JSON if the command asks for it, otherwise for people. */
  readonly show: (json: unknown, text: string) => void;
  /** Prints a list: as a table, as JSON or as CSV. */
  readonly list: ReturnType<typeof listing>;
  /** A table that is part of a text, and fits the terminal. */
  readonly table: (
    heading: readonly string[],
    rows: readonly (readonly string[])[],
  ) => Promise<string>;
  /** Prints rows of a list as they come. */
  readonly stream: ReturnType<typeof streaming>;
  /** A moment, in unix seconds; on a terminal also how long ago, or how soon. */
  readonly when: (seconds: number) => string;
}

/** The gateway that commands are sent to, if they do not work on the store. */
export interface Remote {
  readonly api: ApiClient;
  readonly accessToken: Secret;
}

/** An action that works on a gateway: through its API if somebody is logged in, otherwise on its store. */
export function onGateway(
  io: CliIo,
  work: (session: Session, command: Command) => Promise<void> | void,
): (this: Command) => Promise<void> {
  return async function (this: Command) {
    const options = this.optsWithGlobals<GlobalOptions & { yes?: true; dryRun?: true }>();
    const remote = await findRemote(io, options);
    const client = remote === undefined ? await onStore(io, options) : clientOverHttp(remote.api);
    try {
      await work(
        {
          ...{ io, client, isAgreed: options.yes === true, isDryRun: options.dryRun === true },
          ...{ show: showing(io, options), list: listing(io, options) },
          ...{ stream: streaming(io, options), when: (seconds) => momentOn(io, seconds) },
          table: (heading, rows) => fitted(io, heading, rows),
        },
        this,
      );
    } finally {
      await client.close();
    }
  };
}

async function onStore(io: CliIo, options: GlobalOptions): Promise<Client> {
  // It is most of the gateway: a command that goes over HTTP starts without it.
  const { clientInProcess } = await import('../client/in-process.js');
  return clientInProcess(sources(io, options), io.user, io.now, (why) => {
    // A script expects nothing but JSON there.
    if (options.json !== true) io.writeError(`${why}\n`);
  });
}

/** An action that needs only the settings, or not even them. */
export function withoutStore(
  io: CliIo,
  work: (
    session: Pick<Session, 'show' | 'list'> & {
      readonly sources: ConfigSources;
      /** All settings, those of the channels included. */
      readonly settings: () => Config;
    },
    command: Command,
  ) => Promise<void> | void,
): (this: Command) => Promise<void> {
  return async function (this: Command) {
    const options = this.optsWithGlobals<GlobalOptions>();
    const from = sources(io, options);
    const { loadConfig } = await import('../config/load-config.js');
    const printing = { show: showing(io, options), list: listing(io, options) };
    await work({ ...printing, sources: from, settings: () => loadConfig(from) }, this);
  };
}

const OF_SAVED =
  ' You are logged in there: "rerank-gateway logout" forgets it, and --local works on the store that the settings name.';

/** The address and access token from the command, else from the environment, else from the saved login. */
export async function findRemote(
  io: CliIo,
  { url: givenUrl, accessToken: givenToken, local = false }: GlobalOptions,
): Promise<Remote | undefined> {
  if (local) {
    if (givenUrl === undefined && givenToken === undefined) return undefined;
    throw new UsageError('--local works on the store: leave out --url and --access-token.');
  }
  const url = givenUrl ?? nonEmpty(io.env.RERANK_GATEWAY_URL);
  const token =
    givenToken === undefined
      ? nonEmpty(io.env.RERANK_GATEWAY_ACCESS_TOKEN)
      : await readSecret(io, givenToken);
  if (url !== undefined && token !== undefined) return remote(url, new Secret(token));
  const saved = readLogin(io.env);
  if (token !== undefined) {
    if (saved === undefined) throw new UsageError('Give the address of the gateway: --url.');
    return remote(saved.url, new Secret(token));
  }
  if (url !== undefined && saved?.url !== gatewayUrl(url)) {
    throw new UsageError(
      `There is no login for ${url}. Log in first (rerank-gateway login --url ${url}), or give --access-token.`,
    );
  }
  return saved === undefined ? undefined : remote(saved.url, saved.accessToken, OF_SAVED);
}

/** An address in its stored form: without a slash at the end. */
export function gatewayUrl(text: string, what = '--url'): string {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new UsageError(`${what} must be an address such as https://rerank.example.com.`);
  }
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** Continues only if somebody has agreed to what cannot be undone. */
export async function confirm(
  { io, isAgreed }: Pick<Session, 'io' | 'isAgreed'>,
  what: string,
): Promise<void> {
  if (isAgreed) return;
  if (io.ask === undefined) {
    throw new UsageError(`${what} Add --yes to skip this question.`);
  }
  const answer = await io.ask(`${what} Go on? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new RefusedError('Nothing was done.');
}

/** A secret from a source that shows neither in the list of processes nor in the history of a shell. */
export async function readSecret(io: CliIo, text: string): Promise<string> {
  const variable = /^env:(\w+)$/.exec(text)?.[1];
  if (variable === undefined && text !== '-') {
    throw new UsageError(
      'Do not put a secret on the command line, where others can see it: put it into a variable and give env:NAME, or give - for standard input.',
    );
  }
  const value = (variable === undefined ? await io.readInput() : (io.env[variable] ?? '')).trim();
  if (value !== '') return value;
  throw new UsageError(
    variable === undefined
      ? 'There is no secret on standard input.'
      : `The variable ${variable} is not set.`,
  );
}

/** Prints in the form that the command asks for. */
export function showing(io: CliIo, { json = false }: GlobalOptions): Session['show'] {
  return (value, text) => {
    if (json) io.writeOut(`${JSON.stringify(value, null, 2)}\n`);
    else io.writeOut(text.endsWith('\n') ? text : `${text}\n`);
  };
}

function momentOn({ terminal, now }: CliIo, seconds: number): string {
  const text = moment(seconds);
  const isPlain = terminal === undefined || seconds === NEVER_EXPIRES;
  return isPlain ? text : `${text} (${relative(seconds, now())})`;
}

function remote(url: string, accessToken: Secret, advice = ''): Remote {
  return { api: createApiClient(gatewayUrl(url), accessToken, advice), accessToken };
}

function sources(io: CliIo, { config }: GlobalOptions): ConfigSources {
  return { env: io.env, configPath: config };
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}
