import { useEffect } from 'preact/hooks';
import { about, readAbout } from '../about.js';
import type { ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { clock, count, duration, percent } from '../lib/format.js';
import { Link } from '../parts/buttons.js';
import { Empty, ErrorNotice } from '../parts/notices.js';
import { Ago, Count, Meter, Money, State, style } from '../parts/values.js';
import { Chart } from '../parts/chart.js';
import { outcomesOf, timesOf } from '../parts/series.js';
import { Redeem } from '../parts/redeem.js';
import { Tile } from '../parts/tile.js';
import { useAtom } from '../state.js';
import { w, wp } from '../words.js';

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
const EVERY_MS = 30_000;
const FRESH_MS = 5_000;
const FEW = { p: 1, page_size: 5 };

/** When the balance was last read. */
let readAtMs = performance.now();
about.listen(() => {
  readAtMs = performance.now();
});

/** The application team's page: what is left and how long it lasts, what happened, and what failed. */
export function Home() {
  useEffect(() => {
    if (performance.now() - readAtMs > FRESH_MS) void readAbout().catch(() => undefined);
  }, []);
  const end = Math.ceil(Date.now() / 1_000 / HOUR_S) * HOUR_S;
  const day = useRead(
    'ownUsageSeries',
    { query: { start_timestamp: end - DAY_S, end_timestamp: end } },
    { everyMs: EVERY_MS },
  );
  const week = useRead('ownUsageBreakdown', {
    query: { start_timestamp: end - 7 * DAY_S, end_timestamp: end },
  });
  const words = wp().home;
  return (
    <>
      <div class="head">
        <h1>{w().nav.home}</h1>
      </div>
      <ErrorNotice error={day.error ?? week.error} onAgain={day.again} />
      <Tiles day={day.data} week={week.data} />
      {day.data === undefined ? null : (
        <Chart
          title={words.traffic}
          kind="bars"
          times={timesOf(day.data)}
          format={(value) => count(value, style())}
          timeOf={(seconds) => clock(seconds, style()).slice(0, 5)}
          series={outcomesOf(day.data.series)}
        />
      )}
      <div class="halves">
        <Keys />
        <Failures />
      </div>
    </>
  );
}

function Tiles({
  day,
  week,
}: {
  readonly day: ReplyOf<'ownUsageSeries'> | undefined;
  readonly week: ReplyOf<'ownUsageBreakdown'> | undefined;
}) {
  // The shell rereads it every minute, and a redeemed code does.
  const self = useAtom(about)?.self;
  const left = self?.quota ?? 0;
  const words = wp().home;
  const perDay = (week?.total.quota ?? 0) / 7;
  const total = day?.total;
  return (
    <div class="cards">
      <Tile
        title={w().home.balance}
        note={left <= 0 || perDay <= 0 ? '' : words.lasts(Math.floor(left / perDay))}
      >
        {self == null ? '–' : <Money units={self.quota} />}
      </Tile>
      <Tile title={words.lastDay} note={total && total.requests > 0 ? failuresOf(total) : ''}>
        {total ? <Count value={total.requests} /> : '–'}
      </Tile>
      <Tile title={w().home.spent} note={words.within24}>
        {total ? <Money units={total.quota} /> : '–'}
      </Tile>
      <Redeem />
    </div>
  );
}

function failuresOf({ requests, failed, p95 }: ReplyOf<'ownUsageSeries'>['total']): string {
  const share = wp().home.failed(percent(failed / requests));
  return p95 === null ? share : `${share} · p95 ${duration(p95)}`;
}

function Keys() {
  const { data } = useRead('listTokens', { query: FEW });
  const items = data?.items ?? [];
  return (
    <section class="card stack">
      <h2>
        <Link to="keys">{w().nav.keys}</Link>
      </h2>
      {data !== undefined && items.length === 0 ? (
        <Empty
          title={wp().keys.noneYet}
          action={
            <Link to="keys?new=1" class="button">
              {wp().keys.new}
            </Link>
          }
        />
      ) : null}
      <ul class="stack tight">
        {items.map((key) => {
          const granted = key.used_quota + key.remain_quota;
          return (
            <li key={key.id} class="row">
              <Link to={`keys?open=${key.id}`} class="grow clip">
                {key.name}
              </Link>
              {key.unlimited_quota ? (
                <span class="small muted">
                  <Money units={key.used_quota} />
                </span>
              ) : (
                <>
                  <Meter
                    share={granted === 0 ? 0 : key.remain_quota / granted}
                    low={key.remain_quota < granted / 20}
                  />
                  <span class="small muted">
                    <Money units={key.remain_quota} />
                  </span>
                </>
              )}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** The last requests that failed or were refused, newest first. */
function Failures() {
  const failed = useRead('listOwnUsage', { query: { ...FEW, outcome: 'failed' } });
  const refused = useRead('listOwnRefusals', { query: FEW });
  const rows = [...(failed.data?.items ?? []), ...(refused.data?.items ?? [])]
    .sort((a, b) => b.created_at - a.created_at)
    .slice(0, FEW.page_size);
  return (
    <section class="card stack">
      <h2>
        <Link to="requests?outcome=failed">{wp().home.failures}</Link>
      </h2>
      {rows.length === 0 ? <p class="muted">{wp().home.noFailures}</p> : null}
      <ul class="stack tight">
        {rows.map(({ request_id: id, outcome, created_at: at, model }) => (
          <li key={id} class="row">
            <span class="small muted nowrap">
              <Ago seconds={at} />
            </span>
            <Link to={`requests/${encodeURIComponent(id)}`} class="grow clip">
              <State sign="bad">{outcome}</State>
            </Link>
            <span class="small muted clip">{model}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
