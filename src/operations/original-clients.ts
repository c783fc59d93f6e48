/**
 * What clients of the system from which these paths come send, put into our own words. What is left afterwards and unknown
 * is a mistake.
 */

/** Names that they send along and that mean nothing here, as do the read-only members of our own replies. */
const PASSED_OVER: ReadonlySet<string> = new Set([
  ...['key', 'key_hint', 'user_id', 'created_time', 'accessed_time', 'used_quota', 'request_count'],
  'old_key_until',
  'owner',
  'revision',
  ...[
    'redeemed_time',
    'used_user_id',
    'used_by',
    'last_login_time',
    'batch_id',
    'credential_names',
    'key_count',
    'effective',
    'origin',
    'version',
    'budget_spent',
    'budget_renews_at',
  ],
  ...['in_force', 'group', 'cross_group_retry', 'DeletedAt', 'turnstile', 'id_sort', 'tag_mode'],
]);

/** Fields of their forms, which they also send when these are empty. */
const FORM_FIELDS: ReadonlySet<string> = new Set([
  'username',
  'model_name',
  'channel',
  'request_id',
  'remark',
]);

/** Their names for ours. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['size', 'page_size'],
  ['ps', 'page_size'],
  ['model_name', 'model'],
  ['channel', 'channel_id'],
]);

/** Filters that let everything through, and the first page as they may count it. */
const LIKE_ABSENT: ReadonlyMap<string, string> = new Map([
  ['type', '0'],
  ['p', '0'],
]);

/** The members of a query or a body, by the names that the operation knows. */
export function inOurWords(given: unknown, known: readonly string[]): unknown {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const kept = Object.entries(given).flatMap(([name, value]): [string, unknown][] => {
    if (value === LIKE_ABSENT.get(name) && LIKE_ABSENT.has(name)) return [];
    if (known.includes(name)) return [[name, value]];
    if (PASSED_OVER.has(name)) return [];
    if (FORM_FIELDS.has(name) && (value === '' || value === null)) return [];
    const ours = OTHER_NAMES.get(name);
    const isOurs = ours !== undefined && known.includes(ours) && !Object.hasOwn(given, ours);
    return [[isOurs ? ours : name, value]];
  });
  return Object.fromEntries(kept);
}
