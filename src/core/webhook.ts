/** The report of one change, once per node that sees it. */
export interface Alert {
  readonly type:
    'channel.circuit_opened' | 'channel.circuit_closed' | 'channel.disabled' | 'channel.returned';
  readonly channelId: number;
  readonly channel: string;
  /** The kind of failure, or the certain fault; empty once a circuit is closed. */
  readonly reason: string;
  /** The upstream's words; may be empty. */
  readonly message: string;
  /** Since when the channel is, or was, paused; 0 if unknown. */
  readonly sinceMs: number;
  /** Until when nothing is sent; 0 if unknown. */
  readonly untilMs: number;
}

/** The body of one call of a webhook. */
export function alertBody(alert: Alert, id: string, node: string, atMs: number): string {
  const seconds = (ms: number): number | null => (ms === 0 ? null : Math.floor(ms / 1_000));
  return JSON.stringify({
    id,
    type: alert.type,
    time: seconds(atMs),
    node,
    channel: { id: alert.channelId, name: alert.channel },
    reason: alert.reason === '' ? null : alert.reason,
    message: alert.message === '' ? null : alert.message,
    since: seconds(alert.sinceMs),
    until: seconds(alert.untilMs),
  });
}

/** The signed text: a receiver that also checks id and time is not fooled by a copy. */
export function signedText(id: string, atMs: number, body: string): string {
  return `${id}.${Math.floor(atMs / 1_000)}.${body}`;
}

const FIRST_RETRY_MS = 1_000;
const MAX_TRIES = 6;

/** How long to wait after that many failed tries; `undefined`: give up. */
export function alertRetryMs(tries: number, random: () => number): number | undefined {
  if (tries >= MAX_TRIES) return undefined;
  return FIRST_RETRY_MS * 2 ** (tries - 1) * (0.5 + 0.5 * random());
}
