import { useRead } from '../api/query.js';
import type { Seen } from '../lib/attention.js';
import { runningOut } from '../lib/running-out.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const SOON_S = 3 * DAY_S;
/** How exact the times in questions are, so that not every minute asks anew. */
const STEP_S = 300;
const MODELS_MS = 30_000;
const RARELY_MS = 5 * 60_000;
const NAMED = 4;
/** Whoever has least left runs out first: more than these need not be looked at. */
const LEAST = 100;

/** What an overview watches besides the range that it shows. */
export function useWatched(): Pick<Seen, 'models' | 'latency' | 'ending' | 'endingCount' | 'out'> {
  const now = Math.floor(Date.now() / 1_000 / STEP_S) * STEP_S;
  const lastHour = { start_timestamp: now - HOUR_S, end_timestamp: now };
  const yesterday = { start_timestamp: now - HOUR_S - DAY_S, end_timestamp: now - DAY_S };
  const rarely = { everyMs: RARELY_MS };
  const models = useRead('listChannelModels', {}, { everyMs: MODELS_MS });
  const recent = useRead('usageSeries', { query: { ...lastHour, group: 'outcome' } });
  const before = useRead('usageSeries', { query: { ...yesterday, group: 'outcome' } });
  const active = { status: 1 } as const;
  const ending = useRead(
    'searchTokens',
    {
      query: {
        ...active,
        ...{ expires_before: now + SOON_S, sort: 'expired_time', page_size: NAMED },
      },
    },
    rarely,
  );
  const day = { start_timestamp: now - DAY_S, end_timestamp: now };
  const spent = useRead('usageBreakdown', { query: { ...day, by: 'user', then: 'token' } }, rarely);
  const keys = useRead(
    'searchTokens',
    { query: { ...active, sort: 'remain_quota', page_size: LEAST } },
    rarely,
  );
  const accounts = useRead(
    'searchUsers',
    { query: { ...active, sort: 'quota', page_size: LEAST } },
    rarely,
  );
  return {
    models: models.data ?? [],
    latency: { now: wentWell(recent.data), before: wentWell(before.data) },
    ending: ending.data?.items ?? [],
    endingCount: ending.data?.total ?? 0,
    out: runningOut(spent.data?.rows ?? [], keys.data?.items ?? [], accounts.data?.items ?? []),
  };
}

type Summary = Seen['latency']['now'];

/** Refusals are quick, and say nothing about upstreams. */
function wentWell(
  data:
    { readonly series: readonly { readonly key: string; readonly total: Summary }[] } | undefined,
): Summary {
  return data?.series.find(({ key }) => key === 'ok')?.total ?? { requests: 0, p95: null };
}
