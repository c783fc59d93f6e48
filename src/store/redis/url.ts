/** Where Redis is, according to the URL in the configuration. */
export type Target =
  | { readonly kind: 'single'; readonly node: NodeAddress; readonly login: Login }
  | {
      readonly kind: 'sentinel';
      readonly sentinels: readonly NodeAddress[];
      readonly master: string;
      readonly login: Login;
    }
  | { readonly kind: 'cluster'; readonly nodes: readonly NodeAddress[]; readonly login: Login };

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

export interface Login {
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number;
  readonly tls: boolean;
}

/** The mistake in a Redis URL; never quotes it, since it may contain a password. */
export class RedisUrlError extends Error {
  override readonly name = 'RedisUrlError';
  /** The end of a sentence that begins with the name of the setting. */
  readonly mistake: string;

  constructor(mistake: string) {
    super(`The Redis URL ${mistake}.`);
    this.mistake = mistake;
  }
}

const REDIS_PORT = 6379;
const SENTINEL_PORT = 26_379;
const SCHEME = /^(rediss?)(\+sentinel|\+cluster)?:\/\//;

/**
 * `redis://[user:password@]host[:port][/db]`; `rediss://` for TLS; several, separated by commas, for the nodes of a Cluster
 * (`redis+cluster://` if only one node is given); `redis+sentinel://host:port,host:port/master[/db]`.
 * @throws RedisUrlError
 */
export function parseRedisUrl(url: string): Target {
  const match = SCHEME.exec(url);
  if (match === null) {
    throw new RedisUrlError(
      'must begin with redis://, rediss://, redis+sentinel:// or redis+cluster://',
    );
  }
  const [start, scheme = '', variant] = match;
  const tls = scheme === 'rediss';
  // Each part after the first may repeat the scheme; any part may have the login and the path.
  const parts = url
    .slice(start.length)
    .split(',')
    .map((part) => parsePart(part.trim().replace(SCHEME, '')));
  const credentials = parts.find(({ password }) => password !== undefined);
  const path = parts.flatMap(({ path }) => path);
  const login = (db: string | undefined): Login => ({
    username: credentials?.username,
    password: credentials?.password,
    db: databaseNumber(db),
    tls,
  });
  const addresses = (defaultPort: number): NodeAddress[] =>
    parts.map(({ host, port }) => ({ host, port: port ?? defaultPort }));

  if (variant === '+sentinel') {
    const [master, db] = path;
    if (master === undefined) {
      throw new RedisUrlError('must name the master: redis+sentinel://host:port,host:port/master');
    }
    return {
      kind: 'sentinel',
      sentinels: addresses(SENTINEL_PORT),
      master: decoded(master),
      login: login(db),
    };
  }
  const nodes = addresses(REDIS_PORT);
  const [node] = nodes;
  if (nodes.length > 1 || variant === '+cluster' || node === undefined) {
    const cluster = login(path[0]);
    if (cluster.db !== 0) {
      throw new RedisUrlError(
        'must not name a database other than 0: several servers are a Redis Cluster, which has no other',
      );
    }
    return { kind: 'cluster', nodes, login: cluster };
  }
  return { kind: 'single', node, login: login(path[0]) };
}

function parsePart(text: string): {
  readonly host: string;
  readonly port: number | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly path: readonly string[];
} {
  const url = URL.canParse(`redis://${text}`) ? new URL(`redis://${text}`) : undefined;
  if (url === undefined || url.hostname === '') {
    throw new RedisUrlError(
      'names a server that cannot be read; write host or host:port, and %2C, %2F, %3A or %40 for a comma, slash, colon or @ in a password',
    );
  }
  const { hostname, port, username, password, pathname } = url;
  return {
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? undefined : Number(port),
    username: username === '' ? undefined : decoded(username),
    password: password === '' ? undefined : decoded(password),
    path: pathname.split('/').filter((part) => part !== ''),
  };
}

function databaseNumber(text: string | undefined): number {
  if (text === undefined) return 0;
  if (!/^\d{1,5}$/.test(text)) {
    throw new RedisUrlError('must end with a database number, such as /0, or with none');
  }
  return Number(text);
}

/** A name or password with its percent-encoding decoded. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new RedisUrlError(
      'has a % that does not start an escape; write a percent sign in a user, a password or a master as %25',
    );
  }
}
