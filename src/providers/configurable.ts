import { Json } from '../core/json.js';
import type { JsonBody } from '../bytes/index.js';
import type { UpstreamRanking, UpstreamRow } from '../core/rerank.js';
import {
  findRows,
  objectsOf,
  readAnyRows,
  readMeta,
  readPositional,
  readRows,
  readUsage,
} from './dialects.js';
import {
  headerMistake,
  textSetting,
  type Endpoint,
  type HttpProvider,
  type SettingSpec,
  type UpstreamCall,
} from './provider.js';
import { MAX_DOCUMENTS, pathSetting } from './self-hosted.js';

/** The names that a wire form uses; omitted members keep the defaults of the most common form. */
export interface WireNames {
  readonly path?: string;
  readonly modelKey?: string;
  readonly documentsKey?: string;
  readonly topNKey?: string;
  readonly echoKey?: string;
  readonly positional?: boolean;
}

type Settings = UpstreamCall['settings'];

const KEY = 'dots go into nested objects, an empty value leaves it out';

function specs(names: WireNames): Record<string, SettingSpec> {
  return {
    modelKey: text(names.modelKey ?? 'model', `request: key of the model; ${KEY}`),
    queryKey: text('query', 'request: key of the query; dots go into nested objects'),
    documentsKey: text(
      names.documentsKey ?? 'documents',
      'request: key of the documents; dots go into nested objects',
    ),
    documentTextKey: text(
      '',
      'request: each document is an object with its text under this key; empty: a string',
    ),
    topNKey: text(names.topNKey ?? 'top_n', `request: key of the number of rows; ${KEY}`),
    echoKey: text(
      names.echoKey ?? 'return_documents',
      `request: key of the flag for returning documents, which is sent as false; ${KEY}`,
    ),
    instructionKey: text('', `request: key of an instruction, if the caller gives one; ${KEY}`),
    constants: {
      ...text('', 'request: a JSON object whose members are sent with every request'),
      secret: true,
    },
    resultsKey: text(
      '',
      'reply: where the list is, such as output.results or artifacts.0.value; "." is the reply itself, empty finds the usual names',
    ),
    positional: {
      type: 'boolean',
      default: names.positional ?? false,
      describe: 'reply: one row per document in the order of the documents, without an index',
    },
    indexKey: text('index', "reply: key of a row's index"),
    indexBase: { type: 'number', default: 0, describe: 'reply: the index of the first document' },
    scoreKey: text('', "reply: key of a row's score; empty finds the usual names"),
    tokensKey: text('', 'reply: where the number of tokens is; empty finds the usual names'),
    authorizationHeader: text('authorization', 'header that carries the API key'),
    authorizationScheme: text('Bearer', 'word before the API key; empty: the key alone'),
  };
}

function text(value: string, describe: string): SettingSpec {
  return { type: 'string', default: value, describe };
}

/** A wire form that a channel describes with its settings, for servers without a provider here. */
export function configurableWire(
  names: WireNames,
): Pick<HttpProvider, 'path' | 'settings' | 'headers' | 'body' | 'decode' | 'mistakes'> {
  const route = pathSetting(names.path ?? '/v1/rerank');
  return {
    path: route.path,
    settings: { ...route.settings, ...specs(names), ...MAX_DOCUMENTS },
    headers: authorization,
    body: requestOf,
    decode: readRanking,
    mistakes,
  };
}

function authorization({ credentials, settings }: Endpoint): Record<string, string> {
  const key = credentials.apiKey?.reveal();
  if (key === undefined) return {};
  const scheme = textSetting(settings, 'authorizationScheme');
  const header = textSetting(settings, 'authorizationHeader').toLowerCase();
  return { [header]: scheme === '' ? key : `${scheme} ${key}` };
}

function requestOf({ model, query, documents, topN, options, settings }: UpstreamCall): JsonBody {
  const name = (setting: string): string => textSetting(settings, setting);
  const textKey = name('documentTextKey');
  const members: readonly (readonly [key: string, value: JsonBody])[] = [
    [name('modelKey'), model],
    [name('queryKey'), query],
    [name('documentsKey'), textKey === '' ? documents.texts() : objectsOf(documents, textKey)],
    [name('topNKey'), topN],
    [name('echoKey'), false],
    [name('instructionKey'), options.instruction],
  ];
  return members.reduce<JsonObject>(
    (body, [key, value]) =>
      key === '' || value === undefined ? body : place(body, key.split('.'), value),
    constants(settings),
  );
}

type JsonObject = Readonly<Record<string, JsonBody>>;

/** `body` with `value` at a path; missing objects on the way are created. */
function place(body: JsonObject, path: readonly string[], value: JsonBody): JsonObject {
  const [head = '', ...rest] = path;
  if (rest.length === 0) return { ...body, [head]: value };
  const inner = new Json(body).field(head);
  // Constants and earlier members are the only objects here, and both are plain JSON.
  return {
    ...body,
    [head]: place(inner.isObject() ? (inner.value as JsonObject) : {}, rest, value),
  };
}

function constants(settings: Settings): JsonObject {
  const json = textSetting(settings, 'constants');
  return json === '' ? {} : (parseObject(json) ?? {});
}

function parseObject(json: string): JsonObject | undefined {
  try {
    const parsed = new Json(JSON.parse(json));
    return parsed.isObject() ? (parsed.value as JsonObject) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function readRanking(reply: Json, { documents, settings }: UpstreamCall): UpstreamRanking {
  const key = textSetting(settings, 'resultsKey');
  const list = key === '' ? findRows(reply) : at(reply, key);
  const tokensKey = textSetting(settings, 'tokensKey');
  const meta = readMeta(reply);
  const tokens =
    tokensKey === '' ? readUsage(reply).inputTokens : at(reply, tokensKey).optionalNumber();
  return {
    rows: rowsOf(list, documents.count, settings),
    usage: { ...meta, inputTokens: tokens ?? meta.inputTokens },
  };
}

function rowsOf(list: Json, count: number, settings: Settings): UpstreamRow[] {
  const indexKey = textSetting(settings, 'indexKey');
  const scoreKey = textSetting(settings, 'scoreKey');
  if (settings.positional === true) {
    const first = list.array()[0];
    if (typeof first !== 'object' || first === null) return readPositional(list, count);
    const usual = ['relevance_score', 'score', 'logit'] as const;
    const scores = list.map((row) => row.firstOf(...(scoreKey === '' ? usual : [scoreKey])).value);
    return readPositional(new Json(scores), count);
  }
  const rows =
    scoreKey === '' ? readAnyRows(list, count, indexKey) : readRows(list, indexKey, scoreKey);
  const base = Number(settings.indexBase ?? 0);
  return base === 0 ? rows : rows.map(({ index, score }) => ({ index: index - base, score }));
}

/** The value at a path of names and positions; "." is the reply itself. */
function at(reply: Json, path: string): Json {
  if (path === '.') return reply;
  return path
    .split('.')
    .reduce(
      (json, name) =>
        json.isArray() && /^\d+$/.test(name) ? json.item(Number(name)) : json.maybe(name),
      reply,
    );
}

function mistakes({ settings }: Pick<Endpoint, 'settings'>): (string | false)[] {
  const json = textSetting(settings, 'constants');
  return [
    json !== '' &&
      parseObject(json) === undefined &&
      'settings.constants must be a JSON object, such as {"truncate": true}',
    ![0, 1].includes(Number(settings.indexBase ?? 0)) && 'settings.index_base must be 0 or 1',
    textSetting(settings, 'documentsKey') === '' && 'settings.documents_key must name a key',
    textSetting(settings, 'queryKey') === '' && 'settings.query_key must name a key',
    headerMistake(settings, 'authorizationHeader'),
  ];
}
