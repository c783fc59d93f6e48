import type { Command } from 'commander';
import { stringify } from 'yaml';
import { mapValues, snakeKeys } from '../core/records.js';
import { findProvider } from '../providers/index.js';
import type { SettingValue } from '../providers/provider.js';
import type { DiscoveredWire } from '../wire/discovered.js';
import { gatewayUrl, onGateway, readSecret, type CliIo, type Session } from './session.js';
import { counted, facts, names, table } from './text.js';
import { pair } from './values.js';

interface Options {
  readonly apiKey?: string;
  readonly credential?: Readonly<Record<string, string>>;
  readonly setting?: Readonly<Record<string, string>>;
  readonly model?: string;
}

export function addProbeCommand(program: Command, io: CliIo): void {
  program
    .command('probe')
    .description('find out what an unknown server speaks, and print a channel for it')
    .argument('<url>', 'its base URL')
    .option('--api-key <secret>', 'env:NAME for a variable, or - for standard input')
    .option(
      '--credential <name=secret>',
      'another credential, as name=env:NAME or name=-; may be repeated',
      pair,
    )
    .option(
      '--setting <name=value>',
      'what a provider wants to know besides; may be repeated',
      pair,
    )
    .option('--model <name>', 'one that it serves, where it lists none')
    .action(onGateway(io, probe));
}

async function probe(session: Session, command: Command): Promise<void> {
  const options = command.opts<Options>();
  const { setting = {}, model } = options;
  const baseUrl = gatewayUrl(command.args[0] ?? '', 'The address');
  const credentials = await credentialsOf(session, options);
  const server = { baseUrl, credentials, settings: valuesOf(setting), model };
  const found = await session.backend.probeAddress(server);
  session.show(found, describe(found, baseUrl, Object.keys(credentials), options));
}

async function credentialsOf(
  { io }: Session,
  { apiKey, credential = {} }: Options,
): Promise<Record<string, string>> {
  const given = Object.entries({ ...credential, ...(apiKey === undefined ? {} : { apiKey }) });
  const secrets: Record<string, string> = {};
  for (const [name, text] of given) secrets[name] = await readSecret(io, text);
  return secrets;
}

/** Settings with the types that they would have in a file. */
function valuesOf(setting: Readonly<Record<string, string>>): Record<string, SettingValue> {
  return mapValues(setting, (text) => {
    if (text === 'true' || text === 'false') return text === 'true';
    return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  });
}

function describe(
  found: DiscoveredWire,
  baseUrl: string,
  credentials: readonly string[],
  options: Options,
): string {
  const { candidates, models, max_documents: most, score_scale: scale, order, problem } = found;
  const told = facts([
    ['address', baseUrl],
    ['asked', counted(found.requests, 'request')],
    ['models', names(models, 'it lists none')],
    ['documents', most === null ? 'it tells no limit' : `${most} in one request`],
    ['scores', scale ?? 'unknown'],
    ['order', order ?? 'unknown'],
  ]);
  const [best] = candidates;
  if (best === undefined) return `${told}\n\n${problem?.message ?? 'Nothing is known of it.'}`;
  const rows = candidates.map(({ provider, certainty, model: ranked, because }) => [
    provider,
    certainty,
    ranked ?? '',
    because,
  ]);
  const channel = channelFor(best, found, baseUrl, credentials, options);
  return [
    told,
    table(['PROVIDER', 'CERTAINTY', 'MODEL', 'BECAUSE'], rows),
    ...(problem === null ? [] : [problem.message]),
    `A channel to paste:\n\n${channel}`,
  ].join('\n\n');
}

/** A channel for a file, with variables in place of secrets. */
function channelFor(
  { provider, model: ranked }: DiscoveredWire['candidates'][number],
  { models, max_documents: most }: DiscoveredWire,
  baseUrl: string,
  credentials: readonly string[],
  { setting = {}, model }: Options,
): string {
  const secrets = credentials.map((name): [string, string] => [
    name,
    `\${${name.replace(/([A-Z])/g, '_$1').toUpperCase()}}`,
  ]);
  const knowsLimit = Object.hasOwn(findProvider(provider)?.settings ?? {}, 'maxDocuments');
  const settings = {
    ...valuesOf(setting),
    ...(most === null || !knowsLimit ? {} : { maxDocuments: most }),
  };
  const only = model ?? ranked;
  const served = only === null ? models : [only];
  return stringify({
    channels: [
      {
        name: provider,
        provider,
        base_url: baseUrl,
        models: served.length === 0 ? ['<a model>'] : served,
        ...(secrets.length === 0 ? {} : { credentials: snakeKeys(Object.fromEntries(secrets)) }),
        ...(Object.keys(settings).length === 0 ? {} : { settings: snakeKeys(settings) }),
      },
    ],
  });
}
