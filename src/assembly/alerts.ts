import { Webhook } from 'standardwebhooks';
import type { AlertTarget } from '../config/alert-targets.js';
import type { Config } from '../config/values.js';
import { kindOf, mailBody, slackBody, webhookBody } from '../core/delivery.js';
import { parseRetryAfter } from '../core/retry.js';
import type { Secret } from '../core/secret.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import type { SendMail } from '../management/mail.js';
import type { Sent, Target } from '../telemetry/sender.js';

const TIMEOUT_MS = 10_000;
/** Nobody reads the answer of a receiver. */
const MAX_REPLY_BYTES = 65_536;
const GONE = 410;

export interface TargetParts {
  /** The name that people know this gateway by. */
  readonly node: string;
  readonly now: () => number;
  readonly sendMail: SendMail;
}

/** The receivers that the configuration names, ready to be sent to. */
export function createTargets(
  { alerts, gateway }: Pick<Config, 'alerts' | 'gateway'>,
  parts: TargetParts,
): { readonly targets: readonly Target[]; close(): Promise<void> } {
  // Its own connections: channels come and go, and their pools with them.
  const upstream = new Upstream({
    maxReplyBytes: MAX_REPLY_BYTES,
    judgeAddress: judgeUpstreamAddress(gateway),
  });
  const targets = alerts.targets.map((target): Target => {
    const { name, form, kinds } = target;
    const bodyOf = { webhook: webhookBody, slack: slackBody, mail: mailBody }[form];
    return {
      name,
      takes: (type) => kinds.includes(kindOf(type)),
      bodyOf: (event) => bodyOf(event, parts.node),
      send: form === 'mail' ? mailTo(target, parts) : postTo(upstream, target, parts),
    };
  });
  return { targets, close: () => upstream.close() };
}

function postTo(
  upstream: Upstream,
  { url: address, secret }: AlertTarget,
  { now }: TargetParts,
): Target['send'] {
  const url = new URL(address?.reveal() ?? '');
  return async (body, messageId) => {
    const headers = {
      'user-agent': 'rerank-gateway',
      'content-type': 'application/json',
      'webhook-id': messageId,
      'webhook-timestamp': String(Math.floor(now() / 1_000)),
      ...(secret === undefined
        ? {}
        : { 'webhook-signature': sign(secret, messageId, now(), body) }),
    };
    try {
      const { status, headers: replied } = await upstream.send({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers: Object.entries(headers).flat(),
        ...{ body, timeoutMs: TIMEOUT_MS, stillWanted: () => true },
      });
      if (status >= 200 && status < 300) return { kind: 'sent' };
      const why = `the receiver answered with status ${status}`;
      if (status === GONE) return { kind: 'refused', why };
      return { kind: 'failed', why, retryAfterMs: parseRetryAfter(replied, now()) ?? 0 };
    } catch (error) {
      return failed(error);
    }
  };
}

function mailTo({ to }: AlertTarget, { sendMail }: TargetParts): Target['send'] {
  return async (body, messageId) => {
    const { subject, text } = JSON.parse(body) as Record<'subject' | 'text', string>;
    try {
      for (const address of to) await sendMail({ to: address, subject, text, id: messageId });
      return { kind: 'sent' };
    } catch (error) {
      return failed(error);
    }
  };
}

function failed(error: unknown): Sent {
  const why = error instanceof Error ? error.message : String(error);
  return { kind: 'failed', why, retryAfterMs: 0 };
}

/** Secrets that begin with `whsec_` are base64, others are used as they are. */
function sign(secret: Secret, id: string, nowMs: number, body: string): string {
  const value = secret.reveal();
  const key = value.startsWith('whsec_')
    ? Buffer.from(value.slice('whsec_'.length), 'base64')
    : Buffer.from(value);
  return new Webhook(key, { format: 'raw' }).sign(id, new Date(nowMs), body);
}
