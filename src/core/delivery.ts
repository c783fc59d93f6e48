/** What messages to receivers elsewhere are about; the part of an event's type before the dot. */
export const EVENT_KINDS = [
  ...['channel', 'budget', 'quota', 'key', 'code', 'node', 'store', 'backup', 'login'],
  ...['settlement', 'audit'],
] as const;

/** Something that targets are sent. */
export interface OutgoingEvent {
  /** Sent as `webhook-id`. Of two events with the same id, each target gets the first. */
  readonly id: string;
  /** What happened, such as `channel.disabled`. */
  readonly type: string;
  readonly atMs: number;
  /** A sentence for people. */
  readonly summary: string;
  /** For programs; without secrets. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** What an event is about. */
export function kindOf(type: string): string {
  return type.slice(0, Math.max(0, type.indexOf('.')));
}

/** The body by the Standard Webhooks convention, and beside it the members that former releases sent. */
export function webhookBody(event: OutgoingEvent, node: string): string {
  const { id, type, atMs, summary, data } = event;
  return JSON.stringify({
    ...(kindOf(type) === 'channel' ? data : {}),
    ...{ id, type, node, time: Math.floor(atMs / 1_000) },
    timestamp: new Date(atMs).toISOString(),
    data: { ...data, summary, node },
  });
}

/** The body of an incoming webhook of Slack. */
export function slackBody({ type, summary, data }: OutgoingEvent, node: string): string {
  const facts = Object.entries(data)
    .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
    .map(([name, value]) => `*${escaped(name)}* ${escaped(String(value))}`);
  const context = [escaped(type), `from ${escaped(node)}`, ...facts].join(' · ');
  return JSON.stringify({
    text: escaped(summary),
    blocks: [
      { type: 'section', text: { type: 'mrkdwn', text: block(escaped(summary)) } },
      { type: 'context', elements: [{ type: 'mrkdwn', text: block(context) }] },
    ],
  });
}

/** Slack refuses longer ones. */
const MAX_BLOCK = 2_900;

function block(text: string): string {
  return text.length <= MAX_BLOCK ? text : text.slice(0, MAX_BLOCK).replace(/&[a-z]*$/, '');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** A mail's subject and text as JSON. */
export function mailBody({ type, atMs, summary, data }: OutgoingEvent, node: string): string {
  const facts = Object.entries(data).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return JSON.stringify({
    subject: `rerank-gateway: ${summary}`.slice(0, 200),
    text: [summary, '', `${type}, ${new Date(atMs).toISOString()}, ${node}`, ...facts, ''].join(
      '\n',
    ),
  });
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** A receiver that is down for a day loses nothing. */
const WAITS_MS = [
  ...[SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  ...[30 * MINUTE, 2 * HOUR, 6 * HOUR, 12 * HOUR],
];
/** A `Retry-After` beyond this is not honoured. */
const LONGEST_MS = 24 * HOUR;

/** How long to wait after that many failed tries; `undefined`: give up. */
export function deliveryWaitMs(
  tries: number,
  retryAfterMs: number,
  random: () => number,
): number | undefined {
  const ms = WAITS_MS[tries - 1];
  if (ms === undefined) return undefined;
  return Math.max(Math.round(ms * (0.5 + 0.5 * random())), Math.min(retryAfterMs, LONGEST_MS));
}
