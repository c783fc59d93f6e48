import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { stringify } from 'yaml';
import { allProviders } from '../../src/providers/index.js';
import type {
  ByModel,
  CredentialSpec,
  Provider,
  ProviderProfile,
  SettingSpec,
  SettingValue,
} from '../../src/providers/provider.js';
import { fixtureIds, readFixture, type ProviderFixture } from './provider-fixtures.js';

const INTRODUCTION = `# Providers

Every provider that a channel can name in \`provider\`, with what is known about it. This page is generated from the providers
themselves: after a change there, run \`npm run docs:providers\`.

To use one, paste its channel into \`config/gateway.yaml\`, put the key into the environment variable that it names, and start
the gateway. \`models\` can name any upstream model: as a list of names, or as \`{ name for callers: name upstream }\`.

What the columns say:

- **documents**: the maximum in one request. Requests with more go to channels that take them.
- **order**: whether rows come back best first. The gateway sorts in any case.
- **top n**: whether the provider honours it, ignores it, does not know it, or requires it. Callers always get exactly as many
  rows as they request.
- **echo**: whether it sends documents back. The gateway never asks for that, and rebuilds documents from the request.
- **objects**, **images**: whether its wire format has documents that are objects, and images. A document that is only an
  image goes to channels that take images, and gets a 400 if there are none; one with a text is ranked by that elsewhere.
- **blanks**: what happens to a document of white space: it is accepted, sent as one space, or refused (then the gateway holds it
  back and ranks it last).
- **scores**: \`probability\` 0..1, \`logit\` any number (\`scores: normalized\` on the channel makes it a probability), \`cosine\` -1..1,
  \`unbounded\` any number, \`order\` falls from 1 and shows only the place.
- **ranking**: \`pointwise\` scores depend on one document alone; \`listwise\` ones on the whole list.
- **billing**: what the provider counts.

A star marks what differs by model; see the provider's section.`;

/** Which providers suit a need, the first choices alone, and what to know about them. */
const NEEDS: readonly (readonly [need: string, ids: readonly string[], note: string])[] = [
  [
    'no account',
    ['local', 'llama'],
    '`local` compares words; `llama` runs a model file in the gateway',
  ],
  [
    'my own GPU',
    ['tei', 'infinity', 'vllm', 'sglang', 'nim'],
    'nothing is billed; they are checked every minute',
  ],
  [
    'the lowest bill',
    ['tei', 'voyage', 'jina'],
    'your own server, or for short lists a provider that counts tokens; for long documents one that counts search units',
  ],
  [
    'many languages',
    ['cohere', 'voyage', 'jina', 'tei'],
    'choose a multilingual model, such as `BAAI/bge-reranker-v2-m3` on your own server',
  ],
  ['on AWS', ['bedrock', 'bedrock-invoke', 'jina-sagemaker'], ''],
  ['on Azure', ['azure-foundry', 'azure-serverless', 'azure-data-ai'], ''],
  ['on Google Cloud', ['google'], ''],
  [
    'data stays in the EU',
    ['tei', 'scaleway', 'bedrock', 'azure-foundry'],
    'your own server, a European host, or a European region; check the contract',
  ],
  [
    'long documents',
    ['voyage', 'jina', 'cohere'],
    'any other with `long_documents: chunk` on its channel',
  ],
  ['images', ['jina', 'gitee-multimodal', 'vllm', 'nim'], 'with a model that reads images'],
];

/** Where the page is kept. */
export const PROVIDER_PAGE = new URL('../../docs/providers.md', import.meta.url);

/** What a section has to offer for pasting, and values for the environment variables in it that make it valid. */
export interface ReadyChannel {
  readonly yaml: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The page as it should be, in the style of all files here. */
export async function renderProviders(): Promise<string> {
  const providers = allProviders();
  const page = [
    ...[INTRODUCTION, '## Which one do I want?', needsTable(providers)],
    ...['## All of them', table(providers), ...providers.map(section)],
  ];
  const style = await resolveConfig(fileURLToPath(PROVIDER_PAGE));
  return format(page.join('\n\n'), { ...style, parser: 'markdown' });
}

/** A channel of the provider with everything that it needs and nothing else. */
export function readyChannel(provider: Provider): ReadyChannel {
  const { channel } = fixtureOf(provider) ?? {};
  const env: Record<string, string> = {};
  const variable = (name: string, value: string): string => {
    const id = provider.id.replace(/^(?=\d)/, '_').toUpperCase();
    const whole = `${id}_${snakeCase(name).toUpperCase()}`.replace(/\W/g, '_');
    env[whole] = value;
    return `\${${whole}}`;
  };

  const given = channel?.credentials ?? {};
  const needed = Object.entries(provider.credentials ?? {}).filter(
    ([name, { required }]) => required || given[name] !== undefined,
  );
  const credentials = needed.map(([name]) => [
    snakeCase(name),
    variable(name, given[name] ?? 'a-key'),
  ]);
  const settings = Object.entries(provider.settings ?? {}).flatMap(([name, spec]) => {
    const value = channel?.settings?.[name];
    if (value === undefined && spec.required !== true) return [];
    const literal = spec.default !== undefined || spec.type !== 'string';
    return [
      [snakeCase(name), literal ? value : variable(name, String(value ?? 'a-value'))] as const,
    ];
  });
  const yaml = stringify({
    channels: [
      {
        name: provider.id,
        provider: provider.id,
        ...addressOf(provider, channel?.baseUrl, variable),
        models: provider.exampleModels.slice(0, 1),
        ...(credentials.length > 0
          ? { credentials: Object.fromEntries(credentials) as object }
          : {}),
        ...(settings.length > 0 ? { settings: Object.fromEntries(settings) as object } : {}),
      },
    ],
  });
  return { yaml, env };
}

/** Where a provider has no public address: a server next to the gateway, or one that only its customer can name. */
function addressOf(
  provider: Provider,
  example: string | undefined,
  variable: (name: string, value: string) => string,
): { base_url?: string } {
  if (provider.transport === 'process' || provider.baseUrl !== undefined) return {};
  const isOwnServer = provider.profile.billing === 'none' && example === undefined;
  return {
    base_url: isOwnServer
      ? 'http://127.0.0.1:8000'
      : variable('url', example ?? 'https://rerank.example.com'),
  };
}

function fixtureOf({ id }: Provider): ProviderFixture | undefined {
  return fixtureIds().includes(id) ? readFixture(id) : undefined;
}

function needsTable(providers: readonly Provider[]): string {
  const linked = (id: string): string => {
    const provider = providers.find((one) => one.id === id);
    if (provider === undefined) throw new Error(`no provider has the id ${id}`);
    return `[\`${id}\`](#${anchor(provider)})`;
  };
  const rows = NEEDS.map(
    ([need, ids, note]) => `| ${need} | ${ids.map(linked).join(', ')} | ${note} |`,
  );
  return ['| I need | Try | Note |', '| --- | --- | --- |', ...rows].join('\n');
}

function table(providers: readonly Provider[]): string {
  const head = [
    ...['id', 'provider', 'documents', 'order', 'top n', 'echo', 'objects', 'images', 'blanks'],
    ...['scores', 'ranking', 'billing', 'authentication'],
  ];
  const rows = providers.map((provider) => {
    const { profile } = provider;
    return [
      `[\`${provider.id}\`](#${anchor(provider)})`,
      provider.title,
      profile.limits.documents === undefined ? '' : starred(profile.limits.documents),
      profile.sorted ? 'sorted' : 'unsorted',
      profile.topN,
      profile.echo,
      yesNo(profile.documents.objects),
      starred(profile.documents.images),
      profile.blanks.replace('_', ' '),
      starred(profile.scoreScale),
      starred(profile.ranking),
      profile.billing.replace('_', ' '),
      authentication(provider),
    ];
  });
  return markdownTable(head, rows);
}

function section(provider: Provider): string {
  const fixture = fixtureOf(provider);
  const parts = [
    `## ${heading(provider)}`,
    address(provider),
    `\`\`\`yaml\n${readyChannel(provider).yaml}\`\`\``,
    otherModels(provider),
    facts(provider.profile),
    credentialTable(provider.credentials ?? {}),
    settingTable(provider.settings ?? {}),
    bullets('Good to know:', provider.notes ?? []),
    bullets('Not settled by any source, and what the gateway does meanwhile:', [
      ...(fixture?.uncertain ?? []),
    ]),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function otherModels({ exampleModels }: Provider): string {
  const others = exampleModels.slice(1).map((model) => `\`${model}\``);
  return others.length === 0 ? '' : `Also: ${others.join(', ')}.`;
}

function heading({ id, title }: Provider): string {
  return `${title} (${id})`;
}

/** How sites that show Markdown name a heading in an address. */
function anchor(provider: Provider): string {
  return heading(provider)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function address(provider: Provider): string {
  if (provider.transport === 'process') return 'Ranks inside the gateway.';
  const { baseUrl } = provider;
  return baseUrl === undefined
    ? 'No public address: `base_url` names the server.'
    : `Address: \`${baseUrl.replace(/\{(\w+)\}/g, (_, name: string) => `{${snakeCase(name)}}`)}\``;
}

function facts({ limits, truncates, ...profile }: ProviderProfile): string {
  const lines = [
    fact('Documents in one request', limits.documents),
    fact('Documents in one request with images', limits.imageDocuments),
    limits.bodyBytes !== undefined && `Bytes of a request: ${counted(limits.bodyBytes)}`,
    fact('Tokens of a request', limits.requestTokens),
    fact('Tokens of query and document', limits.pairTokens),
    fact('Tokens of a document', limits.documentTokens),
    limits.documentCharacters !== undefined &&
      `Characters of a document: ${counted(limits.documentCharacters)}`,
    limits.queryCharacters !== undefined &&
      `Characters of the query: ${counted(limits.queryCharacters)}`,
    limits.requestCharacters !== undefined &&
      `Characters of a request: ${counted(limits.requestCharacters)}`,
    truncates ? 'Longer texts are cut.' : 'Longer texts are refused.',
    profile.documents.images.models !== undefined && fact('Images', profile.documents.images),
    profile.scoreScale.models !== undefined && fact('Scores', profile.scoreScale),
    profile.ranking.models !== undefined && fact('Ranking', profile.ranking),
  ];
  return lines.flatMap((line) => (line === false || line === '' ? [] : [`- ${line}`])).join('\n');
}

function fact(name: string, value: ByModel<number | boolean | string> | undefined): string {
  if (value === undefined) return '';
  const byModel = (value.models ?? []).map(
    ({ match, value: own }) => `${said(own)} for models like \`${match.source}\``,
  );
  return `${name}: ${[said(value.default), ...byModel].join('; ')}`;
}

function starred(value: ByModel<number | boolean | string>): string {
  return value.models === undefined ? said(value.default) : `${said(value.default)} \\*`;
}

function said(value: number | boolean | string): string {
  if (typeof value === 'boolean') return yesNo(value);
  return typeof value === 'number' ? counted(value) : value;
}

function counted(value: number): string {
  return value.toLocaleString('en-US');
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}

function authentication(provider: Provider): string {
  const specs = Object.values(provider.credentials ?? {});
  if (specs.length === 0) return 'none';
  const ways =
    provider.transport === 'process'
      ? []
      : [
          ...(provider.credentials?.apiKey === undefined ? [] : ['key']),
          ...(provider.sign === undefined ? [] : ['signature']),
          ...(provider.token === undefined ? [] : ['token']),
        ];
  const optional = !specs.some(({ required }) => required) && ways.length === 1;
  return ways.join(' or ') + (optional ? ', optional' : '');
}

function credentialTable(specs: Readonly<Record<string, CredentialSpec>>): string {
  const rows = Object.entries(specs).map(([name, { required, describe }]) => [
    `\`${snakeCase(name)}\``,
    required ? 'required' : 'optional',
    describe,
  ]);
  return rows.length === 0 ? '' : markdownTable(['credential', '', 'meaning'], rows);
}

function settingTable(specs: Readonly<Record<string, SettingSpec>>): string {
  const rows = Object.entries(specs).map(([name, spec]) => [
    `\`${snakeCase(name)}\``,
    spec.type,
    spec.required === true ? 'required' : defaultOf(spec.default),
    spec.secret === true ? `${spec.describe}; kept like a credential` : spec.describe,
  ]);
  return rows.length === 0 ? '' : markdownTable(['setting', 'type', 'default', 'meaning'], rows);
}

function defaultOf(value: SettingValue | undefined): string {
  return value === undefined || value === '' ? 'none' : `\`${value}\``;
}

function bullets(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${title}\n\n${lines.map((line) => `- ${line}`).join('\n')}`;
}

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
