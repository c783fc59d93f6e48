import type { Command } from 'commander';
import { stringify } from 'yaml';
import { mapValues, present } from '../core/records.js';
import type { SettingValue } from '../providers/provider.js';
import type { DiscoveredWire, ProposedWire } from '../shapes/discovered.js';
import { credentialsOf, type ChannelOptions } from './channel-options.js';
import { RefusedError } from './errors.js';
import { gatewayUrl, onGateway, type CliIo, type Session } from './session.js';
import { counted, facts, names } from './text.js';
import { pair } from './values.js';

interface Options extends Pick<ChannelOptions, 'apiKey' | 'credential' | 'setting'> {
  readonly model?: string;
}

export function addCommands(program: Command, io: CliIo): void {
  program
    .command('probe')
    .argument('<url>', 'its base URL')
    .option('--api-key <secret>', 'env:NAME for a variable, or - for standard input')
    .option(
      '--credential <name=secret>',
      'another credential, as name=env:NAME or name=-; may be repeated',
      pair,
    )
    .option('--setting <name=value>', 'what else the provider needs to know; may be repeated', pair)
    .option('--model <name>', 'a model that it serves, if it lists none')
    .action(onGateway(io, probe));
}

async function probe(session: Session, command: Command): Promise<void> {
  const options = command.opts<Options>();
  const { setting = {}, model } = options;
  const baseUrl = gatewayUrl(command.args[0] ?? '', 'The address');
  const credentials = await credentialsOf(session, undefined, options);
  const found = await session.client.call('probeAddress', {
    body: { base_url: baseUrl, credentials, settings: valuesOf(setting), ...present({ model }) },
  });
  session.show(found, await describe(session, found, baseUrl));
  // Scripts see it by the exit code; people have read it.
  if (found.candidates.length === 0) throw new RefusedError(found.problem?.message ?? UNKNOWN);
}

const UNKNOWN = 'Nothing is known about it.';

/** Settings with the types that they would have in a file. */
function valuesOf(setting: Readonly<Record<string, string>>): Record<string, SettingValue> {
  return mapValues(setting, (text) => {
    if (text === 'true' || text === 'false') return text === 'true';
    return /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : text;
  });
}

async function describe(
  { table }: Session,
  found: DiscoveredWire,
  baseUrl: string,
): Promise<string> {
  const {
    candidates,
    channel,
    models,
    max_documents: most,
    score_scale: scale,
    order,
    problem,
  } = found;
  const told = facts([
    ['address', baseUrl],
    ['asked', counted(found.requests, 'request')],
    ['models', names(models, 'it lists none')],
    ['documents', most === null ? 'it reports no limit' : `${most} in one request`],
    ['scores', scale ?? 'unknown'],
    ['order', order ?? 'unknown'],
  ]);
  const [best] = candidates;
  // Why is the error that the command ends with.
  if (best === undefined) return told;
  const rows = candidates.map(({ provider, certainty, model: ranked, because }) => [
    provider,
    certainty,
    ranked ?? '',
    because,
  ]);
  return [
    told,
    await table(['PROVIDER', 'CERTAINTY', 'MODEL', 'BECAUSE'], rows),
    ...(problem === null ? [] : [problem.message]),
    ...(channel === null ? [] : [`A channel to paste:\n\n${toPaste(channel)}`]),
  ].join('\n\n');
}

/** A file with the channel; what it does not need is left out. */
function toPaste({ credentials, settings, models, ...channel }: ProposedWire): string {
  return stringify({
    channels: [
      {
        ...channel,
        models: models.length === 0 ? ['<a model>'] : models,
        ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
        ...(Object.keys(settings).length === 0 ? {} : { settings }),
      },
    ],
  });
}
