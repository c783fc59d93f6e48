import { writeFileSync } from 'node:fs';
import { unescape } from 'node:querystring';
import { parse } from 'yaml';
import type { Command } from 'commander';
import { ConfigError } from '../config/mistakes.js';
import { printConfig } from '../config/print.js';
import type { Config } from '../config/values.js';
import { messageOf, systemCode } from '../core/errors.js';
import { isRecord } from '../core/records.js';
import { Secret, withoutKeys } from '../core/secret.js';
import { listPart } from '../client/client.js';
import { releaseOf } from '../process/this-node.js';
import { RefusedError } from './errors.js';
import { ALL } from './named.js';
import {
  findRemote,
  onGateway,
  withoutStore,
  type CliIo,
  type GlobalOptions,
  type Session,
} from './session.js';

const HOUR_S = 3_600;
/** Of the requests that failed, so many. */
const FAILURES = 100;
const METRICS_TIMEOUT_MS = 10_000;
/** Shorter ones are ordinary words. */
const LEAST_SECRET = 5;

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('support-bundle')
    .option('--out <file>', 'where to; it must not exist yet')
    .addHelpText(
      'after',
      '\nSecrets are masked. Names of accounts, keys and channels, and addresses of callers, are in it: read it before you send it.',
    )
    .action(onGateway(io, writeBundle));
}

/** A part that cannot be had says why, since something is wrong wherever this is used. */
async function writeBundle(session: Session, command: Command): Promise<void> {
  const { client, io, show } = session;
  const options = command.optsWithGlobals<GlobalOptions & { readonly out?: string }>();
  const config = await settingsOf(io, command);
  const settings = config instanceof ConfigError ? undefined : config;
  const nowS = Math.floor(io.now() / 1_000);
  const day = new Date(io.now()).toISOString().slice(0, 10);
  const file = options.out ?? `rerank-gateway-support-${day}.json`;
  const { node, v8 } = process.versions;
  const parts: Readonly<Record<string, () => Promise<unknown>>> = {
    settings: () =>
      config instanceof ConfigError
        ? Promise.reject(config)
        : Promise.resolve(parse(printConfig(config))),
    gateway: () =>
      client.call('about').then(({ version, builds, mail }) => ({ version, builds, mail })),
    overview: () =>
      client.call('getOverview', {
        query: {
          start_timestamp: nowS - (nowS % 60) - HOUR_S,
          end_timestamp: nowS - (nowS % 60) + 60,
          day_timestamp: nowS - (nowS % (24 * HOUR_S)),
        },
      }),
    nodes: () => client.call('listNodes'),
    channels: () => listPart(client, 'searchChannels', {}, ALL),
    tags: () => client.call('listTags'),
    failures: () =>
      client.call('listRequests', { query: { outcome: 'failed', page_size: FAILURES } }),
    metrics: () => metricsOf(io, options, settings),
  };
  const found: Record<string, unknown> = {
    made_at: new Date(io.now()).toISOString(),
    program: { release: releaseOf(), node, v8, platform: process.platform, arch: process.arch },
    store: client.place,
  };
  for (const [name, part] of Object.entries(parts)) {
    found[name] = await part().catch((error: unknown) => ({
      unavailable: messageOf(error),
    }));
  }
  const masked = maskAll(found, settings === undefined ? [] : secretsIn(settings));
  try {
    writeFileSync(file, `${JSON.stringify(masked, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error;
    throw new RefusedError(`${file} exists: name a new file with --out.`);
  }
  show(
    { file },
    `${file} is written. Secrets are masked; names and addresses are in it: read it before you send it.`,
  );
}

/** The settings of this machine: elsewhere they may be other ones, but may hold the same secrets. */
async function settingsOf(io: CliIo, command: Command): Promise<Config | ConfigError> {
  let found: Config | ConfigError | undefined;
  await withoutStore(io, ({ settings }) => {
    try {
      found = settings();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      found = error;
    }
  }).call(command);
  return found ?? new ConfigError([]);
}

async function metricsOf(
  io: CliIo,
  options: GlobalOptions,
  settings: Config | undefined,
): Promise<string> {
  const url = (await findRemote(io, options))?.api.url;
  const token = settings?.metrics.token;
  const response = await fetch(
    `${url ?? `http://127.0.0.1:${settings?.server.port ?? 8080}`}/metrics`,
    {
      headers: token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` },
      redirect: 'error',
      signal: AbortSignal.timeout(METRICS_TIMEOUT_MS),
    },
  );
  const text = await response.text();
  if (!response.ok) throw new Error(`/metrics answers with status ${response.status}.`);
  return text;
}

/** Every secret among settings, and every part of those that are addresses with a password. */
function secretsIn(value: unknown): string[] {
  if (value instanceof Secret) {
    const text = value.reveal();
    const { password = '', search = '' } = URL.canParse(text) ? new URL(text) : {};
    return [text, password, unescape(password), search.slice(1), ...text.split(',')];
  }
  if (Array.isArray(value)) return value.flatMap(secretsIn);
  return isRecord(value) ? Object.values(value).flatMap(secretsIn) : [];
}

/** The same without secrets that got into a message or a name all the same. */
function maskAll(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') {
    return secrets
      .filter(({ length }) => length >= LEAST_SECRET)
      .reduce((text, secret) => text.replaceAll(secret, '[secret]'), withoutKeys(value));
  }
  if (Array.isArray(value)) return value.map((each) => maskAll(each, secrets));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      String(maskAll(name, secrets)),
      maskAll(each, secrets),
    ]),
  );
}
