import { someOf } from './figures.js';

/** Something that needs attention; the kinds are listed most urgent first. */
export type Attention =
  | {
      readonly kind: 'requests_fail';
      readonly name: '';
      readonly share: number;
      readonly minutes: number;
      readonly since: string;
    }
  | {
      readonly kind: 'requests_failed';
      readonly name: '';
      readonly share: number;
      readonly since: string;
      readonly until: string;
    }
  | { readonly kind: 'channel_fails'; readonly name: string; readonly share: number }
  | { readonly kind: 'tag_off'; readonly name: string; readonly since: number }
  | { readonly kind: 'channel_unusable'; readonly name: string; readonly why: string }
  | { readonly kind: 'models_dark'; readonly name: string; readonly count: number }
  | {
      readonly kind: 'slow';
      readonly name: '';
      readonly p95: number;
      readonly before: number;
    }
  | { readonly kind: 'node'; readonly name: string; readonly standing: 'behind' | 'silent' }
  | { readonly kind: 'settlements'; readonly name: string; readonly count: number }
  | { readonly kind: 'keys_end'; readonly name: string; readonly count: number }
  | ({ readonly kind: 'runs_out' } & RunsOut)
  | { readonly kind: 'outbox'; readonly name: '' };

/** A key or an account that will soon have spent what it has. */
interface RunsOut {
  readonly of: 'key' | 'account';
  readonly id: number;
  readonly name: string;
  readonly hours: number;
}

export interface Seen {
  /** Admitted requests of each minute that is shown; those that were refused are for their callers to fix. */
  readonly requests: readonly Minute[];
  /** Whether the last of them is going on. */
  readonly isNow: boolean;
  readonly timeOf: (seconds: number) => string;
  /** Whether people may register while no mail is delivered. */
  readonly unheardRegistration: boolean;
  /** Traffic of the last minutes. */
  readonly channels: readonly {
    readonly name: string;
    readonly requests: number;
    readonly failed: number;
  }[];
  readonly tags: readonly {
    readonly tag: string;
    readonly disabled: boolean;
    readonly changed_time: number;
  }[];
  readonly unusable: readonly { readonly name: string; readonly why: string }[];
  readonly nodes: readonly {
    readonly name: string;
    readonly standing: 'current' | 'behind' | 'silent';
    readonly pending_settlements: number | null;
  }[];
  /** Models that no live channel serves. */
  readonly dark: readonly string[];
  /** What went well in the last hour, and in the same one yesterday. */
  readonly latency: { readonly now: Latency; readonly before: Latency };
  /** Keys that expire within three days: the first of them, and how many there are. */
  readonly ending: { readonly names: readonly string[]; readonly total: number };
  /** Keys and accounts that will have spent what they have, the soonest first. */
  readonly out: readonly RunsOut[];
}

/** A step of the range, which is a minute unless the range is long. */
interface Minute {
  readonly start: number;
  readonly end: number;
  readonly admitted: number;
  readonly failed: number;
}

interface Latency {
  readonly requests: number;
  readonly p95: number | null;
}

/** What `GET /api/overview` replies, as far as it is judged. */
interface Overview {
  readonly traffic: {
    readonly start_timestamp: number;
    readonly step_s: number;
    readonly steps: number;
    readonly series: readonly { readonly key: string; readonly requests: readonly number[] }[];
  };
  readonly channels: readonly {
    readonly key: string;
    readonly name: string;
    readonly recent_requests: number;
    readonly recent_failed: number;
  }[];
  readonly nodes: {
    readonly nodes: readonly (Seen['nodes'][number] & {
      readonly channels: readonly {
        readonly name: string;
        readonly until: number | null;
        readonly why: string;
      }[];
    })[];
  };
  readonly dark_models: readonly string[];
  readonly last_hour: Latency;
  readonly day_before: Latency;
  readonly ending: Seen['ending'];
  readonly running_out: Seen['out'];
}

/** What an overview does not say, and the words of its reader. */
interface Reader extends Pick<Seen, 'tags' | 'timeOf' | 'unheardRegistration'> {
  readonly nowMs: number;
  readonly nameOf: (channel: { readonly key: string; readonly name: string }) => string;
  readonly whyOf: (why: string) => string;
}

const FEW_ATTEMPTS = 20;
/** From how many attempts on which share of failures is a failing channel: fewer attempts must say it more clearly. */
const FAILING = [
  [20, 0.2],
  [5, 0.5],
  [3, 1],
] as const;
const MUCH_SLOWER = 3;
const ENOUGH_TO_COMPARE = 100;
const TOO_MANY_FAIL = 0.05;
/** Steps that are judged together. */
const JUDGED = 5;
/** This many pending settlements mean that the store has trouble; a few are always in progress. */
const MANY_SETTLEMENTS = 100;

/** Whether so many failures of so many attempts need a look. */
export function isFailing(attempts: number, failed: number): boolean {
  return FAILING.some(([least, share]) => attempts >= least && failed / attempts >= share);
}

/** What of an overview an operator would want to know at once. */
export function attentionIn(
  overview: Overview,
  { nameOf, whyOf, nowMs, ...rest }: Reader,
): Attention[] {
  const { traffic, channels, nodes } = overview;
  return attentionTo({
    ...rest,
    requests: minutesOf(traffic),
    isNow: traffic.start_timestamp + traffic.steps * traffic.step_s > nowMs / 1_000,
    channels: channels.map((channel) => ({
      name: nameOf(channel),
      requests: channel.recent_requests,
      failed: channel.recent_failed,
    })),
    unusable: unusableOf(overview, whyOf),
    nodes: nodes.nodes,
    dark: overview.dark_models,
    latency: { now: overview.last_hour, before: overview.day_before },
    ending: overview.ending,
    out: overview.running_out,
  });
}

/** Channels that some node cannot use at all, without duplicates. */
function unusableOf({ nodes }: Overview, whyOf: Reader['whyOf']): Seen['unusable'] {
  const found = new Map(
    nodes.nodes
      .flatMap(({ channels }) => channels)
      .filter(({ until }) => until === null)
      .map(({ name, why }) => [name, whyOf(why)]),
  );
  return Array.from(found, ([name, why]) => ({ name, why }));
}

/** Requests admitted in each step, and how many of them failed. */
function minutesOf({
  series,
  start_timestamp: start,
  step_s: step,
  steps,
}: Overview['traffic']): Minute[] {
  const of = (outcome: string, at: number): number =>
    series.find(({ key }) => key === outcome)?.requests[at] ?? 0;
  return Array.from({ length: steps }, (_, at) => ({
    start: start + at * step,
    end: start + (at + 1) * step,
    admitted: of('ok', at) + of('failed', at),
    failed: of('failed', at),
  }));
}

/** What an operator would want to know at once, by fixed rules and without guessing. */
export function attentionTo(seen: Seen): Attention[] {
  const failing = seen.channels.flatMap(({ name, requests: all, failed: bad }): Attention[] =>
    isFailing(all, bad) ? [{ kind: 'channel_fails', name, share: bad / all }] : [],
  );
  return [
    ...failuresOf(seen),
    ...failing,
    ...seen.tags
      .filter(({ disabled }) => disabled)
      .map(({ tag, changed_time: since }): Attention => ({ kind: 'tag_off', name: tag, since })),
    ...darkOf(seen.dark),
    ...slowOf(seen.latency),
    ...seen.unusable.map(({ name, why }): Attention => ({ kind: 'channel_unusable', name, why })),
    ...seen.nodes.flatMap(({ name, standing, pending_settlements: count }): Attention[] => [
      ...(standing === 'current' ? [] : [{ kind: 'node' as const, name, standing }]),
      ...(count === null || count < MANY_SETTLEMENTS
        ? []
        : [{ kind: 'settlements' as const, name, count }]),
    ]),
    ...endingOf(seen.ending),
    ...seen.out.map((one) => ({ kind: 'runs_out' as const, ...one })),
    ...(seen.unheardRegistration ? [{ kind: 'outbox', name: '' } as const] : []),
  ];
}

/** Whether too many of some steps failed, taken together. */
function isBad(steps: readonly Minute[]): boolean {
  const { admitted, failed } = sumOf(steps);
  return admitted >= FEW_ATTEMPTS && failed / admitted >= TOO_MANY_FAIL;
}

function sumOf(steps: readonly Minute[]): { readonly admitted: number; readonly failed: number } {
  return steps.reduce(
    (sum, step) => ({ admitted: sum.admitted + step.admitted, failed: sum.failed + step.failed }),
    { admitted: 0, failed: 0 },
  );
}

/** The last time that too many requests failed, judged by five minutes or a longer step: since when, and until when if it is over. */
function failuresOf({ requests: steps, isNow, timeOf }: Seen): Attention[] {
  const [first] = steps;
  const judged = first !== undefined && first.end - first.start <= 60 ? JUDGED : 1;
  const bad = steps.map((_, at) => isBad(steps.slice(Math.max(0, at - judged + 1), at + 1)));
  const last = bad.lastIndexOf(true);
  if (first === undefined || last < 0) return [];
  const from = Math.max(0, bad.lastIndexOf(false, last) + 2 - judged);
  const failing = steps.slice(from, last + 1).filter(({ failed }) => failed > 0);
  const since = timeOf(failing[0]?.start ?? 0);
  const shareOf = (some: readonly Minute[]): number => sumOf(some).failed / sumOf(some).admitted;
  if (isNow && last === steps.length - 1) {
    const minutes = Math.round((judged * (first.end - first.start)) / 60);
    return [
      { kind: 'requests_fail', name: '', share: shareOf(steps.slice(-judged)), minutes, since },
    ];
  }
  const end = failing.at(-1)?.end ?? 0;
  const whole = steps.filter((one) => one.start >= (failing[0]?.start ?? 0) && one.end <= end);
  return [{ kind: 'requests_failed', name: '', share: shareOf(whole), since, until: timeOf(end) }];
}

function darkOf(dark: Seen['dark']): Attention[] {
  return dark.length === 0 ? [] : [{ kind: 'models_dark', name: someOf(dark), count: dark.length }];
}

function endingOf({ names, total }: Seen['ending']): Attention[] {
  const name = names.join(', ') + (total > names.length ? '…' : '');
  return total === 0 ? [] : [{ kind: 'keys_end', count: total, name }];
}

function slowOf({ now, before }: Seen['latency']): Attention[] {
  const isEnough = [now, before].every(({ requests }) => requests >= ENOUGH_TO_COMPARE);
  if (!isEnough || now.p95 === null || before.p95 === null) return [];
  return now.p95 > MUCH_SLOWER * before.p95
    ? [{ kind: 'slow', name: '', p95: now.p95, before: before.p95 }]
    : [];
}
