const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/**
 * What is added up, in buckets of which length, and how long it is kept. Traffic is about the gateway: by channel, model and
 * outcome, including refused requests. Spending is about who asked: by account, key, model and channel, for admitted
 * requests.
 */
export const ROLLUPS = {
  traffic_minute: { stepMs: MINUTE_MS, keepMs: 6 * HOUR_MS },
  traffic_5_minutes: { stepMs: 5 * MINUTE_MS, keepMs: 3 * DAY_MS },
  traffic_hour: { stepMs: HOUR_MS, keepMs: 35 * DAY_MS },
  /** Hours are split where a day begins within them somewhere: see `bucketOf`. */
  spend_hour: { stepMs: HOUR_MS, keepMs: 400 * DAY_MS },
  /** The spending of all accounts in one row: a chart of it need not read those of each. */
  total_hour: { stepMs: HOUR_MS, keepMs: 400 * DAY_MS },
  /** As long as the settings say. Days are UTC. */
  spend_day: { stepMs: DAY_MS, keepMs: Infinity },
  /** No sums: the labels of deleted keys and accounts, in one bucket. */
  labels_gone: { stepMs: 36_525 * DAY_MS, keepMs: Infinity },
} as const;

export type RollupName = keyof typeof ROLLUPS;
export type TrafficRollup = Extract<RollupName, `traffic_${string}`>;

/**
 * Earlier releases kept hours of spending for so long: those further back may be missing, or lack what a gateway of such a
 * release counted.
 */
export const SURE_HOURS_MS = 35 * DAY_MS;

/** The minutes of the UTC day, besides full hours, at which a day begins in some time zone; those of one hour ascend. */
const DAYS_BEGIN_AT: readonly number[] = [
  ...[150, 210, 570, 615, 675, 810, 870],
  ...[915, 1_050, 1_095, 1_110, 1_170, 1_230],
];

/** The step that contains a moment, by its start. */
export function stepOf(name: RollupName, atMs: number): number {
  const { stepMs } = ROLLUPS[name];
  return Math.floor(atMs / stepMs) * stepMs;
}

/**
 * The start of the bucket that contains a moment. An hour of spending has more than one bucket if a day begins within it in some
 * time zone, so that days and months add up to the unit everywhere.
 */
export function bucketOf(name: RollupName, atMs: number): number {
  return splitsIn(name, stepOf(name, atMs)).findLast((startMs) => startMs <= atMs) ?? atMs;
}

/** The starts of all buckets that begin in a span, both ends included. */
export function bucketsIn(name: RollupName, fromMs: number, toMs: number): number[] {
  const starts: number[] = [];
  for (let at = stepOf(name, fromMs); at <= toMs; at += ROLLUPS[name].stepMs) {
    starts.push(...splitsIn(name, at).filter((startMs) => startMs >= fromMs && startMs <= toMs));
  }
  return starts;
}

/** The starts of the buckets of a step. */
function splitsIn(name: RollupName, startMs: number): number[] {
  if (name !== 'spend_hour' && name !== 'total_hour') return [startMs];
  const dayMs = stepOf('spend_day', startMs);
  const within = DAYS_BEGIN_AT.map((minute) => dayMs + minute * MINUTE_MS).filter(
    (atMs) => stepOf(name, atMs) === startMs,
  );
  return [startMs, ...within];
}

/** What a row of traffic is about. An attempt has no model; a refused request has no channel. */
export interface TrafficKey {
  readonly of: 'request' | 'attempt';
  readonly channelId: number | undefined;
  readonly provider: string | undefined;
  readonly tag: string | undefined;
  readonly model: string | undefined;
  /** For a request `ok` or an error code; for an attempt `ok`, `cancelled` or a kind of fault. */
  readonly outcome: string;
}

/** What a row of spending is about, besides the account. */
export interface SpendKey {
  readonly tokenId: number;
  readonly model: string;
  readonly channelId: number | undefined;
  readonly provider: string | undefined;
  readonly tag: string | undefined;
}

/** Counts what arrives once a bucket has too many rows to take another one. */
const OTHERS = '*';

export function writeTrafficKey({
  of,
  channelId,
  provider,
  tag,
  model,
  outcome,
}: TrafficKey): string {
  return write([of === 'request' ? 'r' : 'a', channelId, provider, tag, model, outcome]);
}

/** The row of traffic for whatever does not fit its bucket: what it was and how it ended are kept. */
export function otherTrafficKey({ of, outcome }: TrafficKey): string {
  return write([
    of === 'request' ? 'r' : 'a',
    undefined,
    undefined,
    undefined,
    of === 'request' ? OTHERS : undefined,
    outcome,
  ]);
}

export function readTrafficKey(text: string): TrafficKey {
  const [of, channelId, provider, tag, model, outcome] = read(text);
  return {
    of: of === 'r' ? 'request' : 'attempt',
    channelId: numberOf(channelId),
    provider: textOf(provider),
    tag: textOf(tag),
    model: textOf(model),
    outcome: textOf(outcome) ?? '',
  };
}

export function writeSpendKey({ tokenId, model, channelId, provider, tag }: SpendKey): string {
  return write([tokenId, model, channelId, provider, tag]);
}

/** The row of spending for whatever does not fit its bucket: the account is kept. */
export function otherSpendKey(): string {
  return write([0, OTHERS, undefined, undefined, undefined]);
}

export function readSpendKey(text: string): SpendKey {
  const [tokenId, model, channelId, provider, tag] = read(text);
  return {
    tokenId: numberOf(tokenId) ?? 0,
    model: textOf(model) ?? '',
    channelId: numberOf(channelId),
    provider: textOf(provider),
    tag: textOf(tag),
  };
}

function write(parts: readonly (string | number | undefined)[]): string {
  return JSON.stringify(parts.map((part) => part ?? 0));
}

/** 0 stands for an absent value: no id is 0, and no text is a number. */
function read(text: string): readonly unknown[] {
  return JSON.parse(text) as unknown[];
}

function numberOf(part: unknown): number | undefined {
  return typeof part === 'number' && part !== 0 ? part : undefined;
}

function textOf(part: unknown): string | undefined {
  return typeof part === 'string' ? part : undefined;
}
