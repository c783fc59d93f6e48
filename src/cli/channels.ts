import { Option, type Command } from 'commander';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import {
  CHANNEL_AUTO_DISABLED,
  CHANNEL_DISABLED,
  CHANNEL_ENABLED,
  type ChannelStatus,
} from '../core/channel.js';
import { GatewayError } from '../core/errors.js';
import type { ProbeReport } from '../core/probe.js';
import { snakeCase } from '../core/records.js';
import { Secret } from '../core/secret.js';
import type { ChannelFilter, ChannelState, ChannelView } from '../management/channel-views.js';
import { allProviders, findProvider } from '../providers/index.js';
import { secretSettings } from '../providers/settings.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import { channelWire } from '../wire/channel.js';
import { inForceWire } from '../wire/in-force.js';
import { testedWire } from '../wire/tested.js';
import type { ChannelChanged } from './backend.js';
import { RefusedError, UsageError } from './errors.js';
import { givenMembers, memberFacts, withMembers } from './members.js';
import {
  confirm,
  onGateway,
  readSecret,
  withoutStore,
  type Session,
  type CliIo,
} from './session.js';
import { counted, facts, inForceText, names, table } from './text.js';
import { models, nameIn, pair, present } from './values.js';

interface ChannelOptions {
  readonly name?: string;
  readonly provider?: string;
  readonly models?: Readonly<Record<string, string>>;
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly credential?: Readonly<Record<string, string>>;
  readonly setting?: Readonly<Record<string, string>>;
  readonly tag?: string;
}

interface CreateOptions extends ChannelOptions {
  readonly name: string;
  readonly provider: string;
  readonly models: Readonly<Record<string, string>>;
  readonly disabled?: true;
}

const STATUS: Readonly<Record<ChannelStatus, string>> = {
  [CHANNEL_ENABLED]: 'enabled',
  [CHANNEL_DISABLED]: 'disabled',
  [CHANNEL_AUTO_DISABLED]: 'disabled automatically',
};
const CHANNEL_ARGUMENT = 'id or name';

export function addChannelCommands(program: Command, io: CliIo): void {
  const channels = program
    .command('channels')
    .alias('channel')
    .description('providers with an address and credentials');

  withFields(channels.command('create'), true)
    .description('add a channel')
    .option('--disabled', 'leave it switched off for now')
    .action(onGateway(io, create));

  channels
    .command('list')
    .description('list channels with their own and their effective status')
    .option('--tag <tag>', 'with this tag')
    .option('--provider <provider>', 'of this provider')
    .option('--model <name>', 'that serve this model, by the name that callers use')
    .action(onGateway(io, (session, command) => listAll(session, command.opts())));

  channels
    .command('show')
    .description('show everything about a channel except its credentials')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .action(
      onGateway(io, async (session, { args: [given] }) => {
        const channel = await resolveChannel(session, given);
        session.show(channelWire(channel), describe(channel));
      }),
    );

  for (const [verb, enabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    channels
      .command(verb)
      .description(enabled ? 'switch channels on' : 'switch channels off')
      .argument('<channel...>', CHANNEL_ARGUMENT)
      .action(
        onGateway(io, async (session, { args }) => {
          const found: { readonly id: number }[] = [];
          // A mistyped name switches nothing.
          for (const given of args) found.push(await resolveChannel(session, given));
          for (const { id } of found) {
            const write = await session.backend.updateChannel(id, {
              status: enabled ? CHANNEL_ENABLED : CHANNEL_DISABLED,
            });
            showWrite(session, write, `is ${STATUS[write.channel.status]}`);
          }
        }),
      );
  }

  withFields(channels.command('update'), false)
    .description('change what is given; the rest stays as it is')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .action(onGateway(io, update));

  channels
    .command('copy')
    .description('copy a channel without its credentials; set them with update')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .option('--name <name>', 'its name')
    .option('--disabled', 'leave it switched off for now')
    .action(
      onGateway(io, async (session, command) => {
        const { name, disabled } = command.opts<{ name?: string; disabled?: true }>();
        const { id } = await resolveChannel(session, command.args[0]);
        const status: ChannelStatus | undefined = disabled === true ? CHANNEL_DISABLED : undefined;
        const given = present({ name, status });
        const write = await session.backend.copyChannel(id, given);
        showWrite(session, write, 'is there');
      }),
    );

  channels
    .command('test')
    .description(
      'send a channel a real request with two documents, whether it is switched on or not',
    )
    .argument('<channel>', CHANNEL_ARGUMENT)
    .option('--model <name>', 'by the name that callers use (default: its first)')
    .action(onGateway(io, test));

  channels
    .command('upstream-models')
    .description("list the models of a channel's server, under its own names")
    .argument('<channel>', CHANNEL_ARGUMENT)
    .action(
      onGateway(io, async (session, { args: [given] }) => {
        const { id, name } = await resolveChannel(session, given);
        const listed = await session.backend.listUpstreamModels(id);
        session.show(
          listed,
          listed.length === 0 ? `The server of "${name}" lists none.` : listed.join('\n'),
        );
      }),
    );

  channels
    .command('delete')
    .description('delete a channel for good')
    .argument('<channel>', CHANNEL_ARGUMENT)
    .option('-y, --yes', 'do not ask for confirmation')
    .action(onGateway(io, remove));

  channels
    .command('providers')
    .description('list the providers and the credentials and settings that each takes')
    .argument('[provider]', 'show everything about one')
    .action(withoutStore(io, ({ show }, { args: [id] }) => showProviders(show, id)));
}

function withFields(command: Command, creating: boolean): Command {
  const required = (flags: string, text: string): Option =>
    new Option(flags, text).makeOptionMandatory(creating);
  const none = creating ? '' : '; none removes it';
  const described = command
    .addOption(required('--name <name>', 'its name, which must be unique'))
    .addOption(required('--provider <provider>', 'whose API it speaks; see "channels providers"'))
    .addOption(
      required(
        '--models <names>',
        "a,b=c: callers' names, and the upstream's where it differs",
      ).argParser(models),
    )
    .option('--base-url <url>', `its address, if not the provider's own${none}`)
    .option(
      '--api-key <secret>',
      'env:NAME for a variable, or - for standard input; several keys, one a line, take turns',
    )
    .option(
      '--credential <name=secret>',
      'another credential, as name=env:NAME or name=-; may be repeated',
      pair,
    )
    .option(
      '--setting <name=value>',
      `a setting of the provider; may be repeated${creating ? '' : '; an empty value removes it'}; one that may hold a secret as name=env:NAME or name=-`,
      pair,
    )
    .option('--tag <tag>', `its tag${none}`);
  return withMembers(described, CHANNEL_MEMBERS, creating);
}

async function create(session: Session, command: Command): Promise<void> {
  const options = command.opts<CreateOptions>();
  const provider = findProvider(options.provider);
  const write = await session.backend.createChannel({
    name: options.name,
    provider: options.provider,
    models: options.models,
    baseUrl: options.baseUrl,
    tag: options.tag,
    credentials: await credentialsOf(session, provider, options),
    settings: await settingsOf(session, provider, options.setting ?? {}),
    status: options.disabled === true ? CHANNEL_DISABLED : CHANNEL_ENABLED,
    ...givenMembers(command, CHANNEL_MEMBERS),
  });
  showWrite(session, write, 'is there');
}

async function update(session: Session, command: Command): Promise<void> {
  const options = command.opts<ChannelOptions>();
  const { baseUrl, tag, setting, name } = options;
  const current = await resolveChannel(session, command.args[0]);
  const provider = findProvider(options.provider ?? current.provider);
  const credentials = await credentialsOf(session, provider, options);
  const settings = await settingsOf(session, provider, setting ?? {});
  const edit = {
    ...present({ name, provider: options.provider, models: options.models }),
    ...givenMembers(command, CHANNEL_MEMBERS),
    ...(baseUrl === undefined ? {} : { baseUrl: baseUrl === 'none' ? undefined : baseUrl }),
    ...(tag === undefined ? {} : { tag: tag === 'none' ? undefined : tag }),
    ...(setting === undefined ? {} : { settings: emptyAsNull(settings) }),
    ...(Object.keys(credentials).length === 0 ? {} : { credentials }),
  };
  if (Object.keys(edit).length === 0) throw new UsageError('Name at least one thing to change.');
  const write = await session.backend.updateChannel(current.id, edit);
  showWrite(session, write, 'is changed');
}

async function listAll(session: Session, options: ChannelFilter): Promise<void> {
  const { tag, provider, model } = options;
  const channels = await session.backend.listChannels(present({ tag, provider, model }));
  const rows = channels.map((channel) => [
    String(channel.id),
    channel.name,
    channel.provider,
    channel.tag ?? '',
    String(channel.priority),
    String(channel.weight),
    STATUS[channel.status],
    inEffect(channel),
    channel.origin,
    modelsText(channel),
  ]);
  const heading = ['ID', 'NAME', 'PROVIDER', 'TAG', 'PRIORITY', 'WEIGHT', 'STATUS', 'IN EFFECT'];
  session.show(
    { items: channels.map(channelWire), total: channels.length },
    channels.length === 0
      ? `No such channels in ${session.backend.place}.`
      : table([...heading, 'ORIGIN', 'MODELS'], rows),
  );
}

async function remove(session: Session, command: Command): Promise<void> {
  const { yes } = command.opts<{ yes?: true }>();
  const { id, name, provider } = await resolveChannel(session, command.args[0]);
  const what = `Channel ${id} "${name}" (${provider}) will be deleted for good, with its credentials.`;
  await confirm(session, what, yes);
  const { version, inForce } = await session.backend.deleteChannel(id);
  session.show(
    { id, name, deleted: true, ...inForceWire(version, inForce) },
    `Channel ${id} "${name}" is deleted. ${inForceText(inForce)}`,
  );
}

async function test(session: Session, command: Command): Promise<void> {
  const { model } = command.opts<{ model?: string }>();
  const { id, name } = await resolveChannel(session, command.args[0]);
  const tested = await session.backend.testChannel(id, model);
  const { problem } = tested;
  session.show(
    {
      id,
      name,
      ...testedWire(tested),
    },
    describeTest(`Channel ${id} "${name}"`, tested),
  );
  // Scripts see it by the exit code; people have read it.
  if (problem !== undefined) throw new RefusedError(problem.message);
}

function describeTest(channel: string, tested: ProbeReport): string {
  const { ranking, usage, problem, warnings, upstreamModel } = tested;
  const model =
    tested.model === upstreamModel ? upstreamModel : `${tested.model} (${upstreamModel})`;
  const told = [
    ...(usage.inputTokens === undefined ? [] : [counted(usage.inputTokens, 'token')]),
    ...(usage.searchUnits === undefined ? [] : [counted(usage.searchUnits, 'search unit')]),
  ];
  const rows: [string, string][] = [
    ['model', model],
    ['sent to', tested.url ?? 'nowhere'],
    ['status', tested.status === undefined ? 'none' : String(tested.status)],
    ['latency', `${tested.durationMs} ms`],
  ];
  if (ranking !== undefined) {
    const { order, scores, scale } = ranking;
    rows.push(
      ['order', order],
      ['scores', `${scores.right} for the answer, ${scores.other} for the other`],
      ['scale', `${scale.observed}, expected ${scale.expected}`],
      ['usage told', names(told, 'none')],
    );
  }
  return [
    `${channel} ${problem === undefined ? 'works' : 'does not work'}.`,
    facts(rows),
    ...warnings,
  ].join('\n');
}

function showWrite(
  session: Session,
  { channel, version, inForce }: ChannelChanged,
  what: string,
): void {
  session.show(
    { ...channelWire(channel), ...inForceWire(version, inForce) },
    `Channel ${channel.id} "${channel.name}" ${what}; it is ${effective(channel.state)}. ${inForceText(inForce)}`,
  );
}

/** The channel with this name, or else with this id. */
async function resolveChannel({ backend }: Session, given = ''): Promise<ChannelView> {
  const named = (await backend.listChannels()).find(({ name }) => name === given);
  if (named !== undefined) return named;
  if (/^\d{1,15}$/.test(given)) return backend.getChannel(Number(given));
  throw new GatewayError('not_found', `There is no channel "${given}".`);
}

async function credentialsOf(
  { io }: Session,
  provider: Provider | undefined,
  { apiKey, credential = {} }: ChannelOptions,
): Promise<Record<string, Secret>> {
  const given = apiKey === undefined ? credential : { ...credential, apiKey };
  const secrets: Record<string, Secret> = {};
  for (const [name, text] of Object.entries(given)) {
    secrets[nameIn(provider?.credentials, name)] = new Secret(await readSecret(io, text));
  }
  return secrets;
}

/**
 * Settings as the provider reads them. Those that may hold secrets come from where secrets come from; what does not fit is
 * refused later, by name.
 */
async function settingsOf(
  { io }: Session,
  provider: Provider | undefined,
  given: Readonly<Record<string, string>>,
): Promise<Record<string, SettingValue>> {
  const sealed = provider === undefined ? [] : secretSettings(provider);
  const settings: Record<string, SettingValue> = {};
  for (const [written, text] of Object.entries(given)) {
    const name = nameIn(provider?.settings, written);
    const isSecret = sealed.includes(name) && text !== '';
    settings[name] = settingValue(provider, name, isSecret ? await readSecret(io, text) : text);
  }
  return settings;
}

function emptyAsNull(
  settings: Readonly<Record<string, SettingValue>>,
): Record<string, SettingValue | null> {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, value === '' ? null : value]),
  );
}

function settingValue(provider: Provider | undefined, name: string, text: string): SettingValue {
  const type = provider?.settings?.[name]?.type;
  if (type === 'number' && text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function describe(channel: ChannelView): string {
  const settings = Object.entries(channel.settings).map(
    ([name, value]) => `${snakeCase(name)}=${String(value)}`,
  );
  const credentials =
    channel.origin === 'config'
      ? 'in the configuration'
      : names(channel.credentialNames.map(snakeCase), 'none');
  return facts([
    ['id', String(channel.id)],
    ['name', channel.name],
    ['provider', channel.provider],
    ['base URL', channel.baseUrl ?? "the provider's"],
    ['credentials', credentials],
    ...((channel.keyCount ?? 0) > 1 ? [keyFact(channel.keyCount)] : []),
    ['settings', names(settings, 'none')],
    ['models', modelsText(channel)],
    ['tag', channel.tag ?? 'none'],
    ...memberFacts(CHANNEL_MEMBERS, channel),
    ['status', STATUS[channel.status]],
    ['in effect', inEffect(channel)],
    ...pauseFacts(channel),
    ['origin', channel.origin],
  ]);
}

function keyFact(count = 0): [string, string] {
  return ['API keys', `${count}, which take turns`];
}

/** Whether it takes traffic, and how many gateways leave it alone for now. */
function inEffect({ state, sighted }: ChannelView): string {
  const { pauses, nextTryMs } = sighted;
  const next = nextTryMs === undefined ? '' : `, next try at ${timeText(nextTryMs)}`;
  const whole = pauses.filter(({ key }) => key === undefined);
  if (!state.live || pauses.length === 0) return effective(state) + next;
  if (whole.length === 0)
    return `live, ${pauses.length === 1 ? 'one key rests' : 'some keys rest'}`;
  const gateways = whole.length === 1 ? 'one gateway' : `${whole.length} gateways`;
  return `live, left alone by ${gateways}`;
}

function pauseFacts({ sighted: { pauses } }: ChannelView): [string, string][] {
  return pauses.map(({ node, key, state, reason, sinceMs, untilMs }) => [
    key === undefined ? `on ${node}` : `key ${key} on ${node}`,
    `${state.replace('_', '-')} since ${timeText(sinceMs)} (${reason}), until ${timeText(untilMs)}`,
  ]);
}

function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function effective(state: ChannelState): string {
  if (state.live) return 'live';
  switch (state.because) {
    case 'disabled':
      return 'off: disabled';
    case 'auto_disabled':
      return `off: disabled automatically${state.reason === undefined ? '' : `, ${state.reason}`}`;
    case 'tag_disabled':
      return `off: its tag is switched off${state.reason === undefined ? '' : ` (${state.reason})`}`;
    case 'credentials_locked':
      return 'off: its credentials cannot be read with this encryption key';
    case 'unusable':
      return `off: ${state.reason}`;
  }
}

function modelsText({ models: served }: ChannelView): string {
  return Object.entries(served)
    .map(([name, upstream]) => (name === upstream ? name : `${name}=${upstream}`))
    .join(', ');
}

function showProviders(show: Session['show'], id: string | undefined): void {
  if (id === undefined) {
    const providers = allProviders();
    const rows = providers.map((provider) => [
      provider.id,
      provider.title,
      addressOf(provider),
      names(Object.keys(provider.credentials ?? {}), ''),
      names(Object.keys(provider.settings ?? {}), ''),
    ]);
    show(
      { items: providers.map(providerJson), total: providers.length },
      `${table(['PROVIDER', 'NAME', 'ADDRESS', 'CREDENTIALS', 'SETTINGS'], rows)}\n${counted(providers.length, 'provider')}; "channels providers <provider>" tells more.`,
    );
    return;
  }
  const provider = findProvider(id);
  if (provider === undefined) {
    throw new GatewayError('not_found', `There is no provider "${id}"; see "channels providers".`);
  }
  show(providerJson(provider), describeProvider(provider));
}

function describeProvider(provider: Provider): string {
  const credentials = Object.entries(provider.credentials ?? {});
  const settings = Object.entries(provider.settings ?? {});
  return [
    facts([
      ['provider', provider.id],
      ['name', provider.title],
      ['address', addressOf(provider)],
      ['models such as', names(provider.exampleModels, 'any')],
    ]),
    ...credentials.map(
      ([name, { required, describe: text }]) =>
        `credential ${name}${required ? '' : ' (optional)'}: ${text}`,
    ),
    ...settings.map(([name, spec]) => {
      const fallback =
        spec.default === undefined ? '' : `, ${JSON.stringify(spec.default)} if not set`;
      const needed = spec.required === true ? '' : ' (optional)';
      const kept = spec.secret === true ? '; kept like a credential' : '';
      return `setting ${name}${needed}: ${spec.describe} [${spec.type}${fallback}${kept}]`;
    }),
    ...(provider.notes ?? []),
  ].join('\n');
}

function addressOf(provider: Provider): string {
  if (provider.transport === 'process') return 'inside the gateway';
  return provider.baseUrl ?? 'yours: --base-url';
}

function providerJson(provider: Provider): Record<string, unknown> {
  return {
    id: provider.id,
    title: provider.title,
    transport: provider.transport,
    base_url: provider.transport === 'http' ? (provider.baseUrl ?? null) : null,
    credentials: provider.credentials ?? {},
    settings: provider.settings ?? {},
    example_models: provider.exampleModels,
    notes: provider.notes ?? [],
  };
}
