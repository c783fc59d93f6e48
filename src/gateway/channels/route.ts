import {
  effectiveStatus,
  type Candidate,
  type Channel,
  type TagSwitch,
} from '../../core/channel.js';
import { createHash } from 'node:crypto';
import { limitsKeys, type KeyLimitName } from '../../core/channel-members.js';
import { apiKeysOf, keyHint } from '../../core/api-keys.js';
import type { Secret } from '../../core/secret.js';
import { placesOfKey, type Bounded } from './concurrency.js';
import {
  limitsOf,
  limitsOfKey,
  NO_TAG_BUDGETS,
  type Limit,
  type TagBudgets,
} from './declared-limits.js';
import { findProvider } from '../../providers/index.js';
import type {
  ComposedProvider,
  Endpoint,
  HttpProvider,
  Provider,
  SettingValue,
  UpstreamCall,
} from '../../providers/provider.js';
import {
  channelMistakes,
  defaultSettings,
  openSettings,
  publicAddress,
} from '../../providers/settings.js';

type PathOf = (target: Pick<UpstreamCall, 'model' | 'settings'>) => string;

/** A channel prepared for traffic: whatever is the same for each of its requests is computed here, once. */
export interface Route extends Candidate {
  readonly channel: Channel;
  readonly provider: Provider;
  readonly endpoint: Endpoint;
  /** The origin of the base URL; empty for a provider inside the process. */
  readonly origin: string;
  /** The whole path of a request. */
  readonly pathOf: PathOf;
  /** Names and values in turn: the provider's own, content type and accept. */
  readonly headers: readonly string[];
  readonly live: boolean;
  /** Limits that are kept for all nodes together. */
  readonly limits: readonly Limit[];
  /** Whether its tag is switched off: then nothing at all is sent to it, not even a probe. */
  readonly tagOff: boolean;
  /** Its keys, if it has several, or limits for each. */
  readonly keys?: readonly RouteKey[];
  /** Whether it belongs to one of several keys, whose faults are not the channel's. */
  readonly isOfKey?: true;
}

/** One of several keys of a channel, and the channel as it is reached with this key. */
export interface RouteKey {
  /** How people recognise it. */
  readonly hint: string;
  readonly secret: Secret;
  readonly route: Route;
  /** What all nodes together may send with it. */
  readonly limits: readonly Limit<KeyLimitName>[];
  /** How many calls all nodes together may have in flight with it. */
  readonly places: Bounded;
}

export type RouteResult =
  | { readonly kind: 'route'; readonly route: Route }
  | { readonly kind: 'unusable'; readonly why: string };

/** Finds the credentials of a configured channel by its name. */
export type DeclaredCredentials = Pick<
  ReadonlyMap<string, Readonly<Record<string, Secret>>>,
  'get'
>;

/**
 * Prepares a channel for traffic, or says why it cannot be used. `declared` holds the credentials of the configuration's
 * channels.
 */
export function makeRoute(
  channel: Channel,
  switches: ReadonlyMap<string, TagSwitch>,
  declared: DeclaredCredentials,
  tagBudgets: TagBudgets = NO_TAG_BUDGETS,
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
  const opened = openSettings(provider, { credentials, settings });
  const complete = { ...defaultSettings(provider), ...opened.settings };
  const keys = apiKeysOf(opened.credentials.apiKey);
  const baseUrl = channel.baseUrl ?? addressOf(provider, complete) ?? '';
  const endpointOf = (apiKey: Secret | undefined): Endpoint => ({
    baseUrl,
    credentials: apiKey === undefined ? opened.credentials : { ...opened.credentials, apiKey },
    settings: complete,
  });
  const endpoint = endpointOf(keys[0]);
  if (provider.transport !== 'process' && !URL.canParse(baseUrl)) {
    return unusable('its base URL is not valid');
  }
  const { origin, pathOf, headers } = reachedBy(provider, endpoint);
  // In one piece: V8 describes each object that is spread and then extended again, in a kilobyte.
  const route: Route = {
    id: channel.id,
    priority: channel.priority,
    weight: channel.weight,
    channel,
    provider,
    endpoint,
    origin,
    pathOf,
    headers,
    live: effectiveStatus(channel, switches).live,
    limits: limitsOf(channel, tagBudgets),
    tagOff: channel.tag !== undefined && switches.get(channel.tag)?.disabled === true,
  };
  if (provider.transport === 'process') return { kind: 'route', route };
  const areLimited = limitsKeys(channel);
  if (keys.length < (areLimited ? 1 : 2)) return { kind: 'route', route };
  const routeKeys = keys.map((secret): RouteKey => {
    const name = areLimited ? nameOfKey(secret) : '';
    const ofKey = endpointOf(secret);
    const headers = headerList(provider, ofKey);
    return {
      hint: keyHint(secret),
      secret,
      limits: areLimited ? limitsOfKey(channel, name) : [],
      places: placesOfKey(channel, name),
      route: { ...route, endpoint: ofKey, headers, isOfKey: true },
    };
  });
  return { kind: 'route', route: { ...route, keys: routeKeys } };
}

/** Where and how a channel is asked; the base URL is valid. */
function reachedBy(
  provider: Provider,
  endpoint: Endpoint,
): Pick<Route, 'origin' | 'pathOf' | 'headers'> {
  if (provider.transport === 'process') return { origin: '', pathOf: () => '', headers: [] };
  const url = new URL(endpoint.baseUrl);
  return {
    origin: url.origin,
    pathOf: pathsBelow(basePathOf(url, provider), provider),
    headers: headerList(provider, endpoint),
  };
}

/** What tells a key from the others of its channel, in the store too: it must not give the key away. */
function nameOfKey(secret: Secret): string {
  return createHash('sha256').update(secret.reveal()).digest('base64url').slice(0, 16);
}

function basePathOf(url: URL, { chatPath }: Pick<HttpProvider, 'chatPath'>): string {
  const path = url.pathname.replace(/\/+$/, '');
  return chatPath !== undefined && path.endsWith(chatPath) ? path.slice(0, -chatPath.length) : path;
}

function pathsBelow(basePath: string, provider: Pick<HttpProvider, 'path'>): PathOf {
  const { path } = provider;
  if (typeof path !== 'string') return (target) => joinPaths(basePath, path(target));
  const whole = joinPaths(basePath, path);
  return () => whole;
}

/** The path of a request; an operator's base URL may already end with the beginning of the provider's path. */
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

/** Names and values in turn of the headers that are the same for every request. */
export function headerList(
  provider: HttpProvider | ComposedProvider,
  endpoint: Endpoint,
): string[] {
  return Object.entries({
    'content-type': 'application/json',
    // Some servers choose the format of an error by it; compressed replies would cost more than they save here.
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

/**
 * Whether a request that the upstream may have served may be sent to it again: it is not billed twice, or the operator
 * accepts that.
 */
export function maySendTwice({ channel, provider }: Pick<Route, 'channel' | 'provider'>): boolean {
  const { billing, isRelay = false } = provider.profile;
  return channel.retryUnsafe || (billing === 'none' && !isRelay);
}
