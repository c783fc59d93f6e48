import { GatewayError } from '../core/errors.js';
import { cohere } from './cohere.js';
import type { IngressDialect } from './dialect.js';
import * as dialects from './dialects.js';
import type { ListPlace } from '../bytes/index.js';
import type { IngressRequest, RequestHeaders } from './read.js';

/** Every form that callers may use, by their names. On shared paths, the first that claims a request reads it. */
export const DIALECTS: readonly IngressDialect[] = Object.values(dialects);

/** The gateway's default form: it answers unless another is meant. */
const MAIN_DIALECT = cohere;

/** A route for rerank requests: the dialects used there, and the path's parameters. */
export interface IngressRoute {
  /** The path's own first, with its guests; or all that share the path. */
  readonly dialects: readonly IngressDialect[];
  /** As they are in the path, still encoded. */
  readonly params: Readonly<Record<string, string>>;
}

const NO_PARAMS = {};
const SHARED: IngressRoute = {
  dialects: DIALECTS.filter(({ claim }) => claim !== undefined),
  params: NO_PARAMS,
};
const SHARED_LISTS = listsOf(SHARED.dialects);
const MAIN_LIST = MAIN_DIALECT.claim?.list;
const BY_HEADERS = SHARED.dialects.filter(({ claim }) => claim?.byHeaders !== undefined);

/** With a version before the path, even two: a client's base URL has one and its code adds another. */
const SHARED_PATH = /^(?:\/+v[12])*\/+rerank\/*$/i;
const COMMON_PATHS = new Set(['/v1/rerank', '/rerank', '/v2/rerank']);

/** Those without parameters come first: they are more specific. */
const OWN_PATHS = DIALECTS.flatMap((dialect) =>
  [...dialect.paths, ...(dialect.hostPaths ?? [])].map((path) => ({
    pattern: patternOf(path),
    places: path.split('{').length,
    route:
      dialect === MAIN_DIALECT
        ? SHARED
        : { dialects: [dialect, ...guestsAt(path)], params: NO_PARAMS },
  })),
).sort((a, b) => a.places - b.places);
const BY_ID = new Map(DIALECTS.map((dialect) => [dialect.id, dialect]));
/** Under its own name a dialect needs no claim: `/infinity/v1/rerank`. */
const NAMED_PATH = /^\/+(?<id>[\w-]+)(?<rest>\/.+)$/;

/** Where the documents of these dialects may be; of lists with one name, the first. */
function listsOf(dialects: readonly IngressDialect[]): readonly ListPlace[] {
  const lists = dialects.flatMap((dialect) => dialect.lists);
  const names = lists.map(({ name }) => name);
  return lists.filter(({ name }, index) => names.indexOf(name) === index);
}

/**
 * The same for a request on a route; the array is the same each time.
 * @param setting the key's.
 */
export function listsAt(route: IngressRoute, setting = ''): readonly ListPlace[] {
  const { dialects } = route;
  const fixed = BY_ID.get(setting);
  const [only] = dialects;
  if (only !== undefined && dialects.length === 1 && fixed === undefined) return only.lists;
  const key = fixed?.id ?? '';
  let bySetting = KNOWN_LISTS.get(dialects);
  if (bySetting === undefined) {
    bySetting = new Map();
    KNOWN_LISTS.set(dialects, bySetting);
  }
  let lists = bySetting.get(key);
  if (lists === undefined) {
    lists = listsOf(fixed === undefined ? dialects : [fixed, ...dialects]);
    bySetting.set(key, lists);
  }
  return lists;
}

const KNOWN_LISTS = new WeakMap<readonly IngressDialect[], Map<string, readonly ListPlace[]>>();

/** Dialects that some servers speak on another's path. */
function guestsAt(path: string): readonly IngressDialect[] {
  return DIALECTS.filter(({ guestPaths }) => guestPaths?.includes(path) === true);
}

const ANY_PATH = [SHARED_PATH, ...OWN_PATHS.map(({ pattern }) => pattern)]
  .map(({ source }) => source.slice(1, -1).replaceAll(/\(\?<\w+>/g, '(?:'))
  .join('|');
const ANY_NAME = [...BY_ID.keys()].join('|');
/** Matches every path for rerank requests. It also matches some below a dialect's name that `ingressRoute` does not know. */
export const RERANK_PATHS = new RegExp(String.raw`^(?:\/+(?:${ANY_NAME}))??(?:${ANY_PATH})$`, 'i');

/** The dialects of a path; `undefined` if the path is not for rerank requests. */
export function ingressRoute(pathname: string): IngressRoute | undefined {
  if (COMMON_PATHS.has(pathname) || SHARED_PATH.test(pathname)) return SHARED;
  return ownRoute(pathname) ?? namedRoute(pathname);
}

function ownRoute(pathname: string): IngressRoute | undefined {
  for (const { pattern, route } of OWN_PATHS) {
    const found = pattern.exec(pathname);
    if (found !== null)
      return found.groups === undefined ? route : { ...route, params: found.groups };
  }
  return undefined;
}

function namedRoute(pathname: string): IngressRoute | undefined {
  const { id = '', rest = '' } = NAMED_PATH.exec(pathname)?.groups ?? {};
  const dialect = BY_ID.get(id.toLowerCase());
  if (dialect === undefined) return undefined;
  const inner = SHARED_PATH.test(rest) ? SHARED : ownRoute(rest);
  if (inner === undefined) return undefined;
  const { dialects, params } = inner;
  return dialects.includes(dialect) || inner === SHARED
    ? { dialects: [dialect], params }
    : undefined;
}

/** `{name}` is one segment, `{name+}` one or more; a leading version may be missing or repeated. */
function patternOf(path: string): RegExp {
  const versioned = /^\/v[12](?=\/)/.test(path);
  const rest = (versioned ? path.slice('/v1'.length) : path)
    .replace(/^\//, '')
    .replaceAll(/[.:]/g, String.raw`\$&`)
    .replaceAll(/\{(\w+)\+\}/g, '(?<$1>.+?)')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  return new RegExp(String.raw`^${versioned ? String.raw`(?:\/+v[12])*` : ''}\/+${rest}\/*$`, 'i');
}

/** The dialect to answer in, judged by the headers alone: before the key is known and the body has arrived. */
export function dialectByHeaders(route: IngressRoute, headers: RequestHeaders): IngressDialect {
  if (route !== SHARED) return route.dialects[0] ?? MAIN_DIALECT;
  for (const dialect of BY_HEADERS)
    if (dialect.claim?.byHeaders?.(headers) === true) return dialect;
  return MAIN_DIALECT;
}

/**
 * The dialect of a request. `first` is the one that its headers suggest; `setting` is the key's, for clients that cannot be
 * told apart.
 * @throws GatewayError 400 if the members of the body belong to several.
 */
export function dialectOf(
  route: IngressRoute,
  first: IngressDialect,
  request: IngressRequest,
  setting?: string,
): IngressDialect {
  if (route !== SHARED) return byList(route.dialects, first, request);
  const fixed = setting === undefined ? undefined : BY_ID.get(setting);
  if (fixed !== undefined) return fixed;
  if (first !== MAIN_DIALECT) return first;
  const found = request.list;
  const members = request.members();
  if (found !== undefined && found.name === MAIN_LIST && request.isPlain()) return MAIN_DIALECT;
  const lists = SHARED_LISTS.map(({ name }) => name).filter(
    (name) => name === found?.name || isPresent(members[name]),
  );
  if (lists.length > 1) throw severalForms(lists);
  const claimants = route.dialects.filter(({ claim }) => claim?.list === lists[0]);
  return (
    claimants.find(({ claim }) => claim?.byMembers?.(members) === true) ??
    claimants.find((dialect) => dialect === MAIN_DIALECT) ??
    claimants.find(({ claim }) => claim?.byMembers === undefined) ??
    MAIN_DIALECT
  );
}

/** The dialect of the path, unless the body lacks its list and has that of a guest. */
function byList(
  dialects: readonly IngressDialect[],
  host: IngressDialect,
  request: IngressRequest,
): IngressDialect {
  if (dialects.length === 1) return host;
  const found = request.list;
  const members = request.members();
  const hasList = (dialect: IngressDialect) =>
    dialect.lists.some(({ name }) => name === found?.name || isPresent(members[name]));
  return dialects.find(hasList) ?? host;
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function severalForms(lists: readonly string[]): GatewayError {
  const forms = SHARED_LISTS.map(({ name }) => {
    const ids = SHARED.dialects.filter(({ claim }) => claim?.list === name).map(({ id }) => id);
    return `"${name}" (${ids.join(', ')})`;
  });
  return new GatewayError(
    'invalid_request',
    `The body has ${lists.join(' and ')}, which belong to different forms. Send one list of documents: ${forms.join(', ')}.`,
    { param: lists[1] ?? '' },
  );
}
