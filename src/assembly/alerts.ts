import { createHash, randomUUID } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import type { AlertTarget } from '../config/alert-targets.js';
import { backupMark } from '../config/data-files.js';
import type { Config } from '../config/values.js';
import { kindOf, mailBody, slackBody, webhookBody } from '../core/delivery.js';
import { messageOf, systemCode } from '../core/errors.js';
import { parseRetryAfter } from '../core/retry.js';
import type { Secret } from '../core/secret.js';
import type { Background } from '../gateway/background.js';
import type { Observe } from '../gateway/events.js';
import { Upstream } from '../gateway/transport/upstream.js';
import { judgeUpstreamAddress } from '../management/addresses.js';
import { watchAlerts, type AlertWatchDeps } from '../management/alert-watch.js';
import type { SendMail } from '../management/mail.js';
import type { Alerting } from '../operations/operation.js';
import type { Store } from '../store/store.js';
import { sendNow, Sender, type Sent, type Target } from '../telemetry/sender.js';
import { StoreAlerts } from '../telemetry/store-alerts.js';

const TIMEOUT_MS = 10_000;
/** The answer of a receiver is not read. */
const MAX_REPLY_BYTES = 65_536;
const GONE = 410;
/** Characters of a reason: a mail server may say more. */
const MAX_WHY = 500;

export interface TargetParts {
  /** The name that people know this gateway by. */
  readonly node: string;
  readonly now: () => number;
  readonly sendMail: SendMail;
}

export interface AlertParts extends TargetParts {
  readonly store: Store;
  readonly observe: Observe;
  readonly random: () => number;
  readonly background: Background;
}

type AlertConfig = Pick<Config, 'alerts' | 'gateway' | 'log' | 'store'>;

/** What alerts people, and whom. */
export interface Alerts {
  readonly sender: Sender;
  /** For operations. */
  readonly alerting: Alerting;
  start(): void;
  /** Switches to the targets and rules of another configuration. */
  reload(config: AlertConfig): void;
  close(): Promise<void>;
}

const WATCH_MS = 15_000;
const DAY_MS = 24 * 3_600_000;

/** Builds the sender and what watches for it. Nothing is sent before `start`. */
export function createAlerts(first: AlertConfig, parts: AlertParts): Alerts {
  const { store, observe, now, random, background, node } = parts;
  let config = first;
  let receivers = createTargets(config, parts);
  const sender = new Sender({ store, observe, now, random }, receivers.targets);
  const storeAlerts = new StoreAlerts({ ...{ store, sender, node, now }, mark: storeMark(config) });
  const watch: AlertWatchDeps = {
    ...{ store, now, statsDays: first.log.statsDays },
    rules: () => ({
      endingDays: config.alerts.endingDays,
      backupMaxMs: config.alerts.backupMaxDays * DAY_MS,
    }),
    lastBackupMs: () => lastBackup(config),
    deliver: (facts, condition) => {
      sender.deliver({ id: `msg_${randomUUID()}`, atMs: now(), ...facts }, condition);
    },
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    sender,
    alerting: {
      get targets() {
        return sender.targets.map(({ name }) => name);
      },
      test: (names, by) => testTargets(sender.targets, names, by, now()),
      deliver: (event) => sender.deliver(event),
      wake: () => sender.wake(),
    },
    start() {
      sender.start();
      storeAlerts.start();
      timer = setInterval(() => {
        // Without targets there is nobody to alert, and a first one is told what holds by then.
        if (sender.targets.length > 0) background.run('alerts', () => watchAlerts(watch));
      }, WATCH_MS).unref();
    },
    reload(next) {
      const former = receivers;
      config = next;
      receivers = createTargets(next, parts);
      sender.replaceTargets(receivers.targets);
      background.run('closing former targets of alerts', () => former.close());
    },
    async close() {
      clearInterval(timer);
      storeAlerts.close();
      await sender.close();
      await receivers.close();
    },
  };
}

/** Names a store, the same on all gateways that use it; it reveals neither its address nor its password. */
function storeMark({ store: { redisUrl, redisPrefix, dataDir } }: AlertConfig): string {
  const address = redisUrl?.reveal().replace(/\/\/[^@/]*@/g, '//');
  const place = address === undefined ? [hostname(), dataDir] : [address, redisPrefix];
  return createHash('sha256').update(JSON.stringify(place)).digest('hex').slice(0, 12);
}

/** Sends a test message to targets at once; resolves to why it was not taken, by target, '' if it was. */
export function testTargets(
  targets: readonly Target[],
  names: readonly string[],
  by: string,
  nowMs: number,
): Promise<ReadonlyMap<string, string>> {
  const event = {
    ...{ id: `msg_${randomUUID()}`, type: 'test.sent', atMs: nowMs, data: { by } },
    summary: `This is a test, which ${by} has sent`,
  };
  return sendNow(
    targets.filter(({ name }) => names.includes(name)),
    event,
  );
}

/** When `backup` last ran on the embedded store, or something was last written to the folder of backups. */
async function lastBackup({ alerts, store }: AlertConfig): Promise<number | undefined> {
  const { backupDir } = alerts;
  const entries =
    backupDir === undefined
      ? [backupMark(store.dataDir)]
      : (await readdir(backupDir)).map((name) => join(backupDir, name));
  const times = await Promise.all(
    entries.map(async (path) => {
      try {
        return (await stat(path)).mtimeMs;
      } catch (error) {
        // There was none yet, or it was removed meanwhile.
        if (systemCode(error) === 'ENOENT') return 0;
        throw error;
      }
    }),
  );
  const last = Math.max(0, ...times);
  return last === 0 ? undefined : last;
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
  return { kind: 'failed', why: messageOf(error).slice(0, MAX_WHY), retryAfterMs: 0 };
}

/** Secrets that begin with `whsec_` are base64, others are used as they are. */
function sign(secret: Secret, id: string, nowMs: number, body: string): string {
  const value = secret.reveal();
  const key = value.startsWith('whsec_')
    ? Buffer.from(value.slice('whsec_'.length), 'base64')
    : Buffer.from(value);
  return new Webhook(key, { format: 'raw' }).sign(id, new Date(nowMs), body);
}
