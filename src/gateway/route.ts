import { effectiveStatus, type Candidate, type Channel, type TagSwitch } from '../core/channel.js';
import type { Secret } from '../core/secret.js';
import { findProvider } from '../providers/index.js';
import type {
  Endpoint,
  HttpProvider,
  Provider,
  SettingValue,
  UpstreamCall,
} from '../providers/provider.js';
import { channelMistakes, defaultSettings, publicAddress } from '../providers/settings.js';

type PathOf = (target: Pick<UpstreamCall, 'model' | 'settings'>) => string;

/** A channel made ready for traffic: whatever is the same for each of its requests is computed here, once. */
export interface Route extends Candidate {
  readonly channel: Channel;
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** Of the base URL; empty for a provider inside the process. */
  readonly origin: string;
  /** The whole path of a request. */
  readonly pathOf: PathOf;
  /** Name and value in turn: the provider's own, content type and accept. */
  readonly headers: readonly string[];
  readonly live: boolean;
}

export type RouteResult =
  | { readonly kind: 'route'; readonly route: Route }
  | { readonly kind: 'unusable'; readonly why: string };

/** Makes a channel ready, or says why it cannot be used. `declared` holds the credentials of the configuration's channels. */
export function makeRoute(
  channel: Channel,
  switches: ReadonlyMap<string, TagSwitch>,
  declared: ReadonlyMap<string, Readonly<Record<string, Secret>>>,
): RouteResult {
  const provider = findProvider(channel.provider);
  if (provider === undefined) return unusable(`unknown provider "${channel.provider}"`);
  const credentials =
    channel.origin === 'config' ? declared.get(channel.name) : channel.credentials;
  if (credentials === undefined) {
    return unusable('declared in a configuration that this node does not have');
  }
  const settings = channel.settings as Record<string, SettingValue>;
  const mistakes = channelMistakes(provider, { credentials, settings });
  if (mistakes.length > 0) return unusable(mistakes.join('; '));
  const complete = { ...defaultSettings(provider), ...settings };
  const endpoint: Endpoint = {
    baseUrl: (channel.baseUrl ?? addressOf(provider, complete) ?? '').replace(/\/+$/, ''),
    credentials,
    settings: complete,
  };
  const common = {
    id: channel.id,
    priority: channel.priority,
    weight: channel.weight,
    channel,
    provider,
    endpoint,
    live: effectiveStatus(channel, switches).live,
  };
  if (provider.transport === 'process') {
    return { kind: 'route', route: { ...common, origin: '', pathOf: () => '', headers: [] } };
  }
  if (!URL.canParse(endpoint.baseUrl)) return unusable('it has no valid base URL');
  const url = new URL(endpoint.baseUrl);
  return {
    kind: 'route',
    route: {
      ...common,
      origin: url.origin,
      pathOf: pathsBelow(basePathOf(url, provider), provider),
      headers: headerList(provider, endpoint),
    },
  };
}

function basePathOf(url: URL, { chatPath }: HttpProvider): string {
  const path = url.pathname.replace(/\/+$/, '');
  return chatPath !== undefined && path.endsWith(chatPath) ? path.slice(0, -chatPath.length) : path;
}

function pathsBelow(basePath: string, provider: HttpProvider): PathOf {
  const { path } = provider;
  if (typeof path !== 'string') return (target) => joinPaths(basePath, path(target));
  const whole = joinPaths(basePath, path);
  return () => whole;
}

/** The path of a request, where an operator's base URL may already end with how the provider's path begins. */
export function joinPaths(basePath: string, path: string): string {
  if (basePath === '') return path;
  const [pathname = '', query] = path.split('?', 2);
  const segments = pathname.split('/').slice(1);
  for (let count = segments.length; count > 0; count -= 1) {
    const head = `/${segments.slice(0, count).join('/')}`;
    if (basePath.endsWith(head)) {
      const rest = segments.slice(count).join('/');
      const joined = rest === '' ? basePath : `${basePath}/${rest}`;
      return query === undefined ? joined : `${joined}?${query}`;
    }
  }
  return basePath + path;
}

function headerList(provider: HttpProvider, endpoint: Endpoint): string[] {
  return Object.entries({
    'content-type': 'application/json',
    // Some servers choose the format of an error by it; compressed replies cost more than they save here.
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'rerank-gateway',
    ...provider.headers(endpoint),
  }).flat();
}

function addressOf(provider: Provider, settings: Endpoint['settings']): string | undefined {
  return provider.transport === 'http' ? publicAddress(provider, settings) : undefined;
}

function unusable(why: string): RouteResult {
  return { kind: 'unusable', why };
}
