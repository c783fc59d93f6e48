/** Why a request ended as it did, according to the logs. Pure; other files put it into words. */

export interface AuditFact {
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

/** Which of these tags were off at a moment. `audit` may be in any order, and must cover the time from before it until now. */
export function switchedOffAt(
  seconds: number,
  tags: readonly string[],
  audit: readonly AuditFact[],
): SwitchedOff[] {
  return tags.flatMap((tag) => {
    const changes = audit
      .filter(
        ({ target, action }) =>
          target === `tag:${tag}` && (action === 'tag.disable' || action === 'tag.enable'),
      )
      .sort((a, b) => a.created_at - b.created_at);
    const before = changes.findLast(({ created_at }) => created_at <= seconds);
    if (before?.action !== 'tag.disable') return [];
    const after = changes.find(
      ({ created_at, action }) => created_at > before.created_at && action === 'tag.enable',
    );
    const { reason } = before.detail;
    return [
      {
        tag,
        since: before.created_at,
        by: before.actor,
        reason: typeof reason === 'string' && reason !== '' ? reason : undefined,
        until: after?.created_at,
      },
    ];
  });
}

/** Who can do something about an error. */
export type Side = 'caller' | 'operator' | 'upstream' | 'nobody';

const SIDES: Readonly<Record<string, Side>> = {
  ok: 'nobody',
  invalid_json: 'caller',
  invalid_request: 'caller',
  invalid_query: 'caller',
  invalid_documents: 'caller',
  missing_api_key: 'caller',
  invalid_api_key: 'caller',
  token_expired: 'operator',
  token_disabled: 'operator',
  user_disabled: 'operator',
  insufficient_user_quota: 'operator',
  token_quota_exhausted: 'operator',
  token_budget_exhausted: 'operator',
  user_budget_exhausted: 'operator',
  invalid_signature: 'caller',
  ip_not_allowed: 'operator',
  model_not_allowed: 'operator',
  tag_not_allowed: 'operator',
  model_not_found: 'operator',
  payload_too_large: 'caller',
  too_many_documents: 'caller',
  rate_limited: 'caller',
  too_many_concurrent_requests: 'caller',
  client_closed_request: 'caller',
  no_channel_available: 'operator',
  overloaded: 'operator',
  store_unavailable: 'operator',
  upstream_error: 'upstream',
  upstream_invalid_response: 'upstream',
  upstream_timeout: 'upstream',
};

export function sideOf(code: string): Side {
  return SIDES[code] ?? 'nobody';
}

/** The sign of an outcome: succeeded, refused, or failed. */
export function signOf(outcome: string, refused: boolean): 'ok' | 'hollow' | 'bad' {
  if (outcome === 'ok') return 'ok';
  return refused ? 'hollow' : 'bad';
}
