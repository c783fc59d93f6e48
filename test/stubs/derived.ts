import { findProvider } from '../../src/providers/index.js';
import {
  fixtureIds,
  FIXTURE_DOCUMENTS,
  FIXTURE_QUERY,
  readFixture,
  type ProviderCase,
  type ProviderFixture,
} from '../support/provider-fixtures.js';
import { anything, isObject, list, Refusal, valueAt, type Members } from './checks.js';
import { errorObject } from './errors.js';
import { type Stub, type StubCall, type StubReply } from './stub.js';
import { plainText, wireStub, type ListedError, type WireRow } from './wire.js';

type Sent = NonNullable<ProviderCase['sent']>;

/**
 * A stub made of a provider's fixture alone, for one that has none of its own: it takes what the fixture sends and
 * answers in the form of the fixture's first ranking. `undefined` where the fixture shows no such pair.
 */
export function derivedStub(id: string): Stub | undefined {
  if (!fixtureIds().includes(id)) return undefined;
  const fixture = readFixture(id);
  const sent = fixture.cases.flatMap((example) =>
    example.sent === undefined ? [] : [example.sent],
  );
  const [shown] = sent;
  const success = fixture.cases.find(
    ({ result, reply }) => result !== undefined && reply?.json !== undefined,
  );
  if (shown === undefined || success?.reply === undefined) return undefined;
  const { body } = shown;
  const showing = fixture.cases.find((example) => example.sent === shown);
  const channel = { ...fixture.channel, ...showing?.channel };
  const query = pathTo(body, (value) => value === FIXTURE_QUERY);
  const documents = pathTo(
    body,
    (value) =>
      Array.isArray(value) &&
      value.length === FIXTURE_DOCUMENTS.length &&
      value.every((item, at) =>
        JSON.stringify(item).includes(JSON.stringify(FIXTURE_DOCUMENTS[at])),
      ),
  );
  if (query === undefined || documents === undefined) return undefined;
  const reply = success.reply.json;
  return wireStub({
    paths: [...new Set(sent.map(({ path }) => path.split('?', 1)[0] ?? ''))],
    auth: sameAuthorization(shown),
    required: requiredMembers(body, documents),
    optional: knownMembers(sent),
    unknown: 'refused',
    names: {
      query,
      documents,
      model: pathTo(body, (value) => value === modelOf(id)) ?? 'model',
      topN: topNPath(fixture, body) ?? '\u0000',
    },
    textOf: (document) => plainText(document) || textInside(document),
    ...(isPositional(reply) ? { order: 'input' as const, indexed: false } : {}),
    reply: rowsInPlaceOf(reply, success),
    error: errorObject(),
    errors: listedErrors(fixture),
    channel: {
      credentials: channel.credentials ?? { apiKey: 'test-key' },
      settings: () => channel.settings ?? {},
    },
  });
}

function modelOf(id: string): string | undefined {
  return findProvider(id)?.exampleModels[0];
}

/** The names to the first value that fits, dots between. */
function pathTo(value: unknown, fits: (value: unknown) => boolean, at = ''): string | undefined {
  if (fits(value)) return at;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = pathTo(member, fits, at === '' ? name : `${at}.${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where a request that asks for fewer rows than documents says so. */
function topNPath(fixture: ProviderFixture, body: unknown): string | undefined {
  const example = fixture.cases.find(
    ({ request, sent }) => request?.top_n !== undefined && sent !== undefined,
  );
  if (example === undefined) {
    return pathTo(body, (value) => value === FIXTURE_DOCUMENTS.length);
  }
  const asked = example.request?.top_n;
  return pathTo(example.sent?.body, (value) => value === asked);
}

function sameAuthorization({ headers }: Sent): (call: StubCall) => void {
  const wanted = Object.entries(headers ?? {}).filter(([, value]) => !/signature/i.test(value));
  return (call) => {
    for (const [name, value] of wanted) {
      if (call.headers[name] === undefined) throw new Refusal('no-key', name, `${name} is missing`);
      if (call.headers[name] !== value) throw new Refusal('key', name, `${name} is wrong`);
    }
  };
}

function requiredMembers(body: unknown, documents: string): Members {
  if (!isObject(body)) return {};
  const [first = ''] = documents.split('.');
  return { [first]: documents === first ? list(anything) : anything };
}

function knownMembers(sent: readonly Sent[]): Members {
  const names = sent.flatMap(({ body }) => (isObject(body) ? Object.keys(body) : []));
  return Object.fromEntries(names.map((name) => [name, anything]));
}

function textInside(document: unknown): string {
  const path = pathTo(document, (value) => typeof value === 'string' && value.includes(' '));
  return path === undefined ? '' : String(valueAt(document, path));
}

/** Writes rows as the fixture's reply has them: its first row is the pattern for all. */
function rowsInPlaceOf(reply: unknown, { result }: ProviderCase) {
  const best = result?.rows[0];
  const inList = (value: unknown): boolean =>
    Array.isArray(value) && value.length > 0 && (value.every(isObject) || value.every(isNumber));
  const path = pathTo(reply, inList) ?? '';
  const pattern: unknown =
    path === '' && inList(reply) ? valueAt(reply, '0') : valueAt(reply, `${path}.0`);
  const scores = new Set(result?.rows.map(({ score }) => score));
  const entries = isObject(pattern) ? Object.entries(pattern) : [];
  const scoreKey =
    entries.find(([, value]) => scores.has(Number(value)))?.[0] ??
    entries.find(([name]) => /score|logit/i.test(name))?.[0];
  const indexKey = entries.find(
    ([name, value]) => name !== scoreKey && Number(value) === best?.index,
  )?.[0];
  return (rows: readonly WireRow[]): unknown => {
    const written = rows.map(({ index, score }) =>
      isObject(pattern)
        ? {
            ...pattern,
            ...(scoreKey === undefined ? {} : { [scoreKey]: score }),
            ...(indexKey === undefined
              ? {}
              : { [indexKey]: typeof pattern[indexKey] === 'string' ? String(index) : index }),
          }
        : score,
    );
    return placeAt(reply, path === '' ? [] : path.split('.'), written);
  };
}

/** Whether rows are bare scores, which belong to documents by their place. */
function isPositional(reply: unknown): boolean {
  const numbers = (value: unknown): boolean =>
    Array.isArray(value) && value.length > 0 && value.every(isNumber);
  return pathTo(reply, numbers) !== undefined;
}

const isNumber = (value: unknown): boolean => typeof value === 'number';

function placeAt(value: unknown, path: readonly string[], list: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return list;
  if (Array.isArray(value)) {
    return value.map((item, at) =>
      at === Number(name) ? placeAt(item, rest, list) : (item as unknown),
    );
  }
  return isObject(value) ? { ...value, [name]: placeAt(value[name], rest, list) } : value;
}

function listedErrors({ cases }: ProviderFixture): Readonly<Record<string, ListedError>> {
  const errors: Record<string, ListedError> = {};
  cases.forEach(({ failure, reply }, at) => {
    if (failure === undefined || reply === undefined) return;
    const told: StubReply = { status: 200, ...reply };
    errors[`case-${at}`] = {
      status: told.status,
      message: '',
      reply: told,
      blames: failure.kind === 'caller' || failure.kind === 'rejected' ? 'caller' : 'channel',
    };
  });
  return errors;
}
