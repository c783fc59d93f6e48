import type { ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { duration, percent } from '../../lib/format.js';
import { summedBy } from '../../lib/series.js';
import { minuteEnd } from '../../parts/troubles.js';
import { Bars, Count } from '../../parts/values.js';
import { wp } from '../../words.js';

type Traffic = ReplyOf<'usageSeries'>['series'][number];
type TrafficOf = (id: number) => Traffic | undefined;

const HOUR_S = 3_600;
const EVERY_MS = 15_000;
/** Minutes that one bar covers. */
const MINUTES_A_BAR = 5;

/** The traffic of channels in the last hour, over all nodes, in one call for the whole page. */
export function useTraffic(ids: readonly number[]): TrafficOf {
  const end = minuteEnd();
  const { data } = useRead(
    'usageSeries',
    {
      query: {
        ...{ start_timestamp: end - HOUR_S, end_timestamp: end },
        ...{ group: 'channel', keys: ids.join(',') },
      },
    },
    { enabled: ids.length > 0, everyMs: EVERY_MS },
  );
  return (id) => data?.series.find(({ key }) => key === String(id));
}

/** A channel’s attempts in the last hour: how many over time, how many failed, how long they took. */
export function LastHour({ traffic }: { readonly traffic: Traffic | undefined }) {
  if (traffic === undefined) return <span class="muted">–</span>;
  const { requests, failed, p50, p95 } = traffic.total;
  if (requests === 0) return <span class="muted">–</span>;
  const share = failed / requests;
  const slow = p95 === null ? '' : `p95 ${duration(p95)}`;
  const title = wp().channels.traffic(
    requests,
    failed,
    p50 === null ? '–' : duration(p50),
    p95 === null ? '–' : duration(p95),
  );
  return (
    <span class="last-hour" title={title}>
      <Bars values={summedBy(MINUTES_A_BAR, traffic.requests)} />
      <span>
        <Count value={requests} />
        <span class="small muted"> {slow}</span>
        {failed === 0 ? null : (
          <span class="small bad">
            {' '}
            {percent(share)} {wp().requests.failed.toLowerCase()}
          </span>
        )}
      </span>
    </span>
  );
}
