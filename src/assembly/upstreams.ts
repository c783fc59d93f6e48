import type { Config } from '../config/values.js';
import type { Secret } from '../core/secret.js';
import { createProbe } from '../gateway/look/probe.js';
import type { Probe } from '../core/probe.js';
import { AccessTokens } from '../gateway/transport/access-tokens.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { createVectorMemory } from '../gateway/transport/vector-memory.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import type { RankerTools } from '../providers/provider.js';
import { LlamaEngine, loadLlama as loadPackage, type LlamaModule } from '../rankers/llama.js';
import { loadPrompts } from './prompts.js';

/** What ranks: servers elsewhere, and models in this process. */
export interface Upstreams {
  readonly upstream: Upstream;
  readonly tokens: AccessTokens;
  readonly neural: LlamaEngine;
  readonly tools: RankerTools;
  /** Credentials of the channels that the configuration declares, by channel name. */
  readonly declared: Map<string, Readonly<Record<string, Secret>>>;
  readonly probe: Probe;
}

export function createUpstreams(
  config: Config,
  now: () => number,
  loadLlama: () => Promise<LlamaModule> = loadPackage,
): Upstreams {
  const { gateway: settings } = config;
  const upstream = new Upstream({
    maxReplyBytes: settings.maxReplyBytes,
    maxReplyBytesInFlight: settings.maxReplyBytesInFlight,
    judgeAddress: judgeUpstreamAddress(settings),
  });
  const tokens = new AccessTokens({
    now,
    fetchToken: (request, signal) => upstream.fetchToken(request, signal),
  });
  const neural = new LlamaEngine({ load: loadLlama });
  const tools = {
    vectors: createVectorMemory(settings.vectorMemoryBytes),
    prompts: loadPrompts(settings.promptsDir),
  };
  const declared = new Map(credentialsIn(config));
  const probe = createProbe({
    ...{ upstream, neural, declared, now },
    // A test must reach the upstream, so it remembers nothing.
    tools: { ...tools, vectors: undefined },
    get attemptTimeoutMs() {
      return settings.attemptTimeoutMs;
    },
  });
  return { upstream, tokens, neural, tools, declared, probe };
}

/** The credentials of the declared channels, by channel name. */
export function credentialsIn({
  channels = [],
}: Pick<Config, 'channels'>): (readonly [name: string, Readonly<Record<string, Secret>>])[] {
  return channels.map(({ declared: { name }, credentials }) => [name, credentials] as const);
}
