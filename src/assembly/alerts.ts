import type { Config } from '../config/values.js';
import type { ReadEvents } from '../gateway/events.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import { Webhook, type WebhookDeps } from '../telemetry/webhook.js';

const TIMEOUT_MS = 10_000;
/** Nobody reads the answer of a receiver. */
const MAX_REPLY_BYTES = 65_536;

/** Tells the configured receiver what happens to channels; `undefined` if there is none. */
export function createWebhook(
  { alerts: { webhookUrl, webhookSecret }, gateway }: Pick<Config, 'alerts' | 'gateway'>,
  deps: Pick<WebhookDeps, 'node' | 'observe' | 'now' | 'random'>,
): { readonly read: ReadEvents; close(): Promise<void> } | undefined {
  if (webhookUrl === undefined) return undefined;
  const url = new URL(webhookUrl.reveal());
  // Its own connections: channels come and go, and their pools with them.
  const upstream = new Upstream({
    maxReplyBytes: MAX_REPLY_BYTES,
    judgeAddress: judgeUpstreamAddress(gateway),
  });
  const webhook = new Webhook({
    ...deps,
    secret: webhookSecret,
    post: async (body, headers) => {
      const { status } = await upstream.send({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: Object.entries({ 'user-agent': 'rerank-gateway', ...headers }).flat(),
        body,
        timeoutMs: TIMEOUT_MS,
        stillWanted: () => true,
      });
      return status;
    },
  });
  return {
    read: webhook.read,
    async close() {
      await webhook.close();
      await upstream.close();
    },
  };
}
