import { quoted } from './shell.js';

/** Code to paste, with this gateway's address. It reads the key from a variable unless a key is passed in. */
export interface RerankCode {
  readonly address: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key?: string | undefined;
  /** Whether it uses a login instead of a key, as a request to one channel must. */
  readonly asLogin?: boolean | undefined;
}

export type CodeLanguage = 'curl' | 'typescript' | 'python';

export const EXAMPLE_BODY = {
  query: 'Which planet has the most moons?',
  documents: [
    'Mercury has no moons at all.',
    'Saturn is the planet with the most moons: well over a hundred.',
    'Olive oil keeps best in the dark.',
  ],
};

/** What a key says of the models that its requests may name. */
export interface NamesModels {
  readonly model_limits_enabled: boolean;
  readonly model_limits: readonly string[];
  readonly default_model: string | null;
  /** It is served by channels with one of these alone, if there are any. */
  readonly tags: readonly string[];
}

/** What holds for a key without limits. */
export const ANY_KEY: NamesModels = {
  ...{ model_limits_enabled: false, model_limits: [], default_model: null, tags: [] },
};

/** Whether requests with a key must name a model: the gateway has none for them, or one that is not for this key. */
export function needsModel(
  { model_limits_enabled: limited, model_limits: models, default_model: own }: NamesModels,
  gatewayDefault: string | null,
): boolean {
  const taken = own ?? gatewayDefault;
  return taken === null || (limited && !models.includes(taken));
}

/** The example for a key; if it must name a model, one that it may name of `live`, the models that are served for it. */
export function bodyFor(
  key: NamesModels,
  gatewayDefault: string | null,
  live: readonly string[],
): Readonly<Record<string, unknown>> {
  const isServed =
    key.tags.length === 0 || live.includes(key.default_model ?? gatewayDefault ?? '');
  if (isServed && !needsModel(key, gatewayDefault)) return EXAMPLE_BODY;
  const allowed = key.model_limits_enabled ? key.model_limits : live;
  const model = allowed.find((name) => live.includes(name)) ?? allowed[0];
  return model === undefined ? EXAMPLE_BODY : { model, ...EXAMPLE_BODY };
}

export function codeFor(language: CodeLanguage, code: RerankCode): string {
  return WRITERS[language](code, callOf(code));
}

interface Call {
  readonly url: string;
  /** The variable that holds the secret, unless it is passed in. */
  readonly env: 'KEY' | 'ACCESS_TOKEN';
  /** Path of the ranking in the reply. */
  readonly at: readonly string[];
}

const BY_KEY: Omit<Call, 'url'> = { env: 'KEY', at: ['results'] };
const BY_LOGIN: Omit<Call, 'url'> = { env: 'ACCESS_TOKEN', at: ['data', 'results'] };

function callOf({ address, asLogin = false }: RerankCode): Call {
  return asLogin
    ? { url: `${address}/api/playground/rank`, ...BY_LOGIN }
    : { url: `${address}/v1/rerank`, ...BY_KEY };
}

const WRITERS: Readonly<Record<CodeLanguage, (code: RerankCode, call: Call) => string>> = {
  curl: ({ body, key }, { url, env }) =>
    [
      `curl ${url} \\`,
      `  -H "Authorization: Bearer ${key ?? `$${env}`}" \\`,
      "  -H 'Content-Type: application/json' \\",
      `  -d ${quoted(JSON.stringify(body, null, 2))}`,
    ].join('\n'),
  typescript: ({ body, key }, { url, env, at }) =>
    [
      `const reply = await fetch('${url}', {`,
      "  method: 'POST',",
      '  headers: {',
      `    Authorization: ${key === undefined ? `\`Bearer \${process.env.${env}}\`` : `'Bearer ${key}'`},`,
      "    'Content-Type': 'application/json',",
      '  },',
      `  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), '  ')}),`,
      '});',
      'if (!reply.ok) throw new Error(await reply.text());',
      'const body = await reply.json();',
      `for (const { index, relevance_score } of body.${at.join('.')}) {`,
      '  console.log(index, relevance_score);',
      '}',
    ].join('\n'),
  python: ({ body, key }, { url, env, at }) =>
    [
      'import json, os, urllib.request',
      '',
      'request = urllib.request.Request(',
      `    "${url}",`,
      `    data=json.dumps(json.loads(${pythonText(JSON.stringify(body))})).encode(),`,
      '    headers={',
      `        "Authorization": ${key === undefined ? `"Bearer " + os.environ["${env}"]` : `"Bearer ${key}"`},`,
      '        "Content-Type": "application/json",',
      '    },',
      ')',
      'with urllib.request.urlopen(request) as reply:',
      `    for result in json.load(reply)${at.map((name) => `["${name}"]`).join('')}:`,
      '        print(result["index"], result["relevance_score"])',
    ].join('\n'),
};

/** A JSON string literal is also a Python string literal. */
function pythonText(text: string): string {
  return JSON.stringify(text);
}

function indented(text: string, by: string): string {
  return text.replaceAll('\n', `\n${by}`);
}
