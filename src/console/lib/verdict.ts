/** Why a request ended as it did, according to the logs. Pure; other files put it into words. */
import { isFailing } from '../../core/attention.js';

export interface AuditFact {
  readonly id: number;
  readonly created_at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** A tag that was off when a request arrived. */
export interface SwitchedOff {
  readonly tag: string;
  readonly since: number;
  readonly by: string;
  readonly reason: string | undefined;
  /** When it was switched on again, if it was. */
  readonly until: number | undefined;
}

/** How a tag is switched now. */
export interface TagFact {
  readonly tag: string;
  readonly disabled: boolean;
  readonly changed_time: number;
  readonly changed_by: string | null;
  readonly reason: string | null;
}

/**
 * Which of these tags were off in a second, or in a part of it. `audit` may be in any order, and reach back just so far:
 * what is off since before that is in `now`.
 */
export function switchedOffAt(
  seconds: number,
  tags: readonly string[],
  audit: readonly AuditFact[],
  now: readonly TagFact[],
): SwitchedOff[] {
  return tags.flatMap((tag) => {
    const found = changeAt(seconds, audit, `tag:${tag}`, ['tag.disable', 'tag.enable']);
    if (found === 'never') return offSinceLong(seconds, tag, now);
    if (found === undefined) return [];
    const { change, until } = found;
    const { reason } = change.detail;
    return [
      {
        ...{ tag, since: change.created_at, by: change.actor, until },
        reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
      },
    ];
  });
}

/** A channel that the gateway had taken out when a request arrived. */
export interface TakenOut {
  readonly id: number;
  /** `undefined`: since before the audit log was asked for. */
  readonly since: number | undefined;
  /** What the upstream did, as the API names it; empty if that is not known. */
  readonly because: string;
  readonly message: string;
  readonly until: number | undefined;
}

/**
 * Which of these channels the gateway itself had taken out in a second, or in a part of it. `audit` may be in any order, and
 * reach back just so far: a channel that has been out since before that is out now.
 */
export function takenOutAt(
  seconds: number,
  channels: readonly { readonly id: number; readonly because: string | null }[],
  audit: readonly AuditFact[],
): TakenOut[] {
  return channels.flatMap(({ id, because: now }): TakenOut[] => {
    const found = changeAt(seconds, audit, `channel:${id}`, ['channel.disable', 'channel.return']);
    if (found === 'never' && now === 'auto_disabled') {
      return [{ id, since: undefined, because: '', message: '', until: undefined }];
    }
    if (found === undefined || found === 'never') return [];
    const { because, message } = found.change.detail;
    return [
      {
        ...{ id, since: found.change.created_at, until: found.until },
        because: typeof because === 'string' ? because : '',
        message: typeof message === 'string' ? message : '',
      },
    ];
  });
}

/** The change by which something was off in a second, and when it was undone; `never` if it was not changed at all. */
function changeAt(
  seconds: number,
  audit: readonly AuditFact[],
  target: string,
  [off, on]: readonly [off: string, on: string],
): { readonly change: AuditFact; readonly until: number | undefined } | 'never' | undefined {
  const changes = audit
    .filter((one) => one.target === target && (one.action === off || one.action === on))
    .sort((a, b) => a.created_at - b.created_at || a.id - b.id);
  if (changes.length === 0) return 'never';
  const untilOf = (index: number): number | undefined =>
    changes.slice(index + 1).find(({ action }) => action === on)?.created_at;
  const at = changes.findLastIndex(
    ({ action, created_at: since }, index) =>
      action === off && since <= seconds && (untilOf(index) ?? Infinity) >= seconds,
  );
  const change = changes[at];
  return change && { change, until: untilOf(at) };
}

function offSinceLong(seconds: number, tag: string, now: readonly TagFact[]): SwitchedOff[] {
  const found = now.find((one) => one.tag === tag);
  if (found?.disabled !== true || found.changed_time > seconds) return [];
  const { changed_time: since, changed_by: by, reason } = found;
  return [{ tag, since, by: by ?? '', reason: reason ?? undefined, until: undefined }];
}

/** Who can do something about an error. */
export type Side = 'caller' | 'operator' | 'upstream' | 'nobody';

const SIDES: Readonly<Record<Exclude<Side, 'nobody'>, readonly string[]>> = {
  caller: [
    ...['invalid_json', 'invalid_request', 'invalid_query', 'invalid_documents'],
    ...['missing_api_key', 'invalid_api_key', 'invalid_signature', 'payload_too_large'],
    ...['too_many_documents', 'rate_limited', 'too_many_concurrent_requests'],
    'client_closed_request',
  ],
  operator: [
    ...['token_expired', 'token_disabled', 'user_disabled', 'insufficient_user_quota'],
    ...['token_quota_exhausted', 'token_budget_exhausted', 'user_budget_exhausted'],
    ...['ip_not_allowed', 'model_not_allowed', 'tag_not_allowed', 'model_not_found'],
    ...['no_channel_available', 'overloaded', 'store_unavailable'],
  ],
  upstream: ['upstream_error', 'upstream_invalid_response', 'upstream_timeout'],
};

export function sideOf(code: string): Side {
  const sides = ['caller', 'operator', 'upstream'] as const;
  return sides.find((side) => SIDES[side].includes(code)) ?? 'nobody';
}

const OFF_SIGNS: Readonly<Record<string, 'off' | 'bad'>> = {
  ...{ disabled: 'off', tag_disabled: 'off' },
  auto_disabled: 'bad',
};

/** What an overview says about channels. */
interface Overview {
  readonly channels: readonly {
    readonly key: string;
    readonly recent_requests: number;
    readonly recent_failed: number;
  }[];
  readonly nodes: {
    readonly nodes: readonly { readonly name: string; readonly channels: readonly Resting[] }[];
  };
}

interface Resting {
  /** Null for one that the gateway cannot use. */
  readonly id: number | null;
  readonly name: string;
  readonly until: number | null;
  readonly why: string;
}

/** What a live channel suffers from. */
export interface Trouble {
  /** The share of its last attempts that failed, if that needs a look. */
  readonly failing: number | undefined;
  /** The gateways that leave it alone; without `until`, those that cannot use it. */
  readonly pauses: readonly (Pick<Resting, 'until' | 'why'> & { readonly node: string })[];
}

export function troubleOf(
  { id, name: called }: { readonly id: number; readonly name: string },
  { channels, nodes }: Overview,
  now: number,
): Trouble {
  const traffic = channels.find(({ key }) => key === String(id));
  const { recent_requests: recent = 0, recent_failed: failed = 0 } = traffic ?? {};
  return {
    failing: isFailing(recent, failed) ? failed / recent : undefined,
    pauses: nodes.nodes.flatMap(({ name: node, channels: resting }) =>
      resting
        .filter((one) => (one.id === null ? one.name === called : one.id === id))
        .filter(({ until }) => until === null || until > now)
        .map(({ until, why }) => ({ node, until, why })),
    ),
  };
}

/** The sign of a channel, the same on all pages, by the first of these: why it takes no traffic, whether it fails, who leaves it alone. */
export function signOfChannel(
  { live, because }: { readonly live: boolean; readonly because: string | null },
  { failing, pauses }: Trouble,
): 'ok' | 'off' | 'bad' | 'warn' | 'busy' {
  if (!live) return OFF_SIGNS[because ?? ''] ?? 'warn';
  if (failing !== undefined) return 'bad';
  if (pauses.some(({ until }) => until === null)) return 'warn';
  return pauses.length === 0 ? 'ok' : 'busy';
}

/** The sign of an outcome: succeeded, refused, or failed. */
export function signOf(outcome: string, refused: boolean): 'ok' | 'hollow' | 'bad' {
  if (outcome === 'ok') return 'ok';
  return refused ? 'hollow' : 'bad';
}
