import { useRead } from '../../api/query.js';
import { duration, moment, percent } from '../../lib/format.js';
import { Link } from '../../parts/buttons.js';
import { Segments } from '../../parts/fields.js';
import { ErrorNotice } from '../../parts/notices.js';
import { priceMarks } from '../../parts/price.js';
import { RangeSteps, useOwnRange, withoutOwnRange } from '../../parts/range.js';
import { minuteEnd, overviewQuery } from '../../parts/troubles.js';
import { Tile } from '../../parts/tile.js';
import { Count, Money, style } from '../../parts/values.js';
import { setQuery, useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import { Latency, Traffic } from './charts.js';
import { Channels, rate, Spending, Switches } from './lists.js';
import { countOf, latencyOf, Verdict, type Series } from './verdict.js';

const MINUTE_S = 60;
const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const SPANS = {
  '1h': HOUR_S,
  '6h': 6 * HOUR_S,
  '24h': DAY_S,
  '7d': 7 * DAY_S,
  '30d': 30 * DAY_S,
} as const;
type SpanName = keyof typeof SPANS;
const SPAN_NAMES = Object.keys(SPANS) as SpanName[];
const SOON_MS = 5_000;
const LATER_MS = 30_000;

/** The range that is shown, and how often it is read again. */
function useShownRange() {
  const asked = useRoute().query.get('span');
  const span = SPAN_NAMES.find((name) => name === asked) ?? '1h';
  const own = useOwnRange();
  const now = minuteEnd();
  const shown = own ?? { start: now - SPANS[span], end: now };
  const seconds = shown.end - shown.start;
  // What is over does not change.
  const isOver = shown.end < now - MINUTE_S;
  const everyMs = isOver ? (false as const) : seconds <= HOUR_S ? SOON_MS : LATER_MS;
  return { shown, seconds, everyMs, picked: own === undefined ? span : ('' as const) };
}

/** Whether everything is all right, in one sentence, and the evidence for it. */
export function Overview() {
  const { shown, seconds, everyMs, picked } = useShownRange();
  const query = overviewQuery(shown);
  const { data, error, again } = useRead('getOverview', { query }, { everyMs });
  // The shell rereads them, for its bars.
  const { data: tags = [] } = useRead('listTags');
  const nodes = data?.nodes.nodes ?? [];
  return (
    <>
      <div class="head">
        <h1>{w().nav.overview}</h1>
        <Segments
          label={wp().requests.span}
          value={picked}
          choices={SPAN_NAMES.map((value) => ({ value, label: wp().requests.spans(value) }))}
          onChange={(value) =>
            setQuery(withoutOwnRange(value === '1h' ? '' : value), { replace: true })
          }
        />
        <RangeSteps shown={shown} />
      </div>
      <ErrorNotice error={error} onAgain={again} />
      {data && (
        <>
          <Verdict overview={data} tags={tags} seconds={seconds} />
          <Tiles series={data.traffic} seconds={seconds} />
          <Since series={data.traffic} />
          <div class="halves">
            <Traffic series={data.traffic} marks={priceMarks(data.price_changes)} />
            <Latency series={data.traffic} />
          </div>
        </>
      )}
      <Channels channels={data?.channels ?? []} nodes={nodes} seconds={seconds} />
      <div class="halves">
        <Switches tags={tags} nodes={nodes} />
        <Spending today={data?.today} />
      </div>
    </>
  );
}

/** Since when the numbers lack nothing, if that is not all of the range. */
function Since({ series: { complete_from: from, start_timestamp: start } }: { series: Series }) {
  if (from === null || from <= start) return null;
  return <p class="small muted">{wp().overview.since(moment(from, style()))}</p>;
}

function Tiles({ series, seconds }: { readonly series: Series; readonly seconds: number }) {
  const words = wp().overview;
  const { requests, quota } = series.total;
  const { p50, p95, p99 } = latencyOf(series);
  const share = (count: number): string => (requests === 0 ? '–' : percent(count / requests));
  return (
    <div class="cards">
      <Tile title={w().home.requests} note={words.perSecond(rate(requests / seconds))}>
        <Count value={requests} />
      </Tile>
      <Tile
        title={wp().requests.failed}
        note={requests === 0 ? '' : words.refusedShare(share(countOf(series, 'refused')))}
      >
        {share(countOf(series, 'failed'))}
      </Tile>
      <Tile
        title="p95"
        note={p50 === null || p99 === null ? '' : `p50 ${duration(p50)} · p99 ${duration(p99)}`}
      >
        {p95 === null ? '–' : duration(p95)}
      </Tile>
      <Tile title={w().home.spent} note={<Link to="spend">{w().nav.spend}</Link>}>
        <Money units={quota} />
      </Tile>
    </div>
  );
}
