import { loadPrompts } from '../assembly/prompts.js';
import type { Upstreams } from '../assembly/upstreams.js';
import { loadCredentials } from '../config/load-config.js';
import type { ConfigSources } from '../config/load-groups.js';
import type { Config } from '../config/values.js';
import { createDiscover } from '../gateway/look/discover.js';
import { createProbe } from '../gateway/look/probe.js';
import { createListUpstreamModels } from '../gateway/look/upstream-models.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import type { OperationDeps } from '../operations/operation.js';
import { LlamaEngine, loadLlama } from '../rankers/llama.js';

/** What asks servers elsewhere; each call opens its connections and closes them. */
export function asking(
  sources: ConfigSources,
  settings: Config['gateway'],
  now: () => number,
): Pick<OperationDeps, 'probe' | 'discover' | 'listUpstreamModels'> {
  const { maxReplyBytes, attemptTimeoutMs, promptsDir } = settings;
  const declared = { get: (name: string) => loadCredentials(sources, name) };
  async function withUpstream<T>(
    ask: (parts: Pick<Upstreams, 'upstream' | 'neural' | 'tools'>) => Promise<T>,
  ): Promise<T> {
    const upstream = new Upstream({ maxReplyBytes, judgeAddress: judgeUpstreamAddress(settings) });
    const neural = new LlamaEngine({ load: loadLlama });
    try {
      return await ask({
        upstream,
        neural,
        tools: { vectors: undefined, prompts: loadPrompts(promptsDir) },
      });
    } finally {
      await upstream.close();
      await neural.close();
    }
  }
  return {
    probe: (...ask) =>
      withUpstream((parts) => createProbe({ ...parts, declared, now, attemptTimeoutMs })(...ask)),
    discover: (server) => withUpstream((parts) => createDiscover({ ...parts, now })(server)),
    listUpstreamModels: (channel) =>
      withUpstream(({ upstream }) => createListUpstreamModels({ upstream, declared })(channel)),
  };
}
