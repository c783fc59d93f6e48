import { forecastBy } from '../../core/forecast.js';
import { seesAll } from '../about.js';
import { download, type ReplyOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { moment, percent } from '../lib/format.js';
import { byDay, calendarAt, spanBeside, spanOf, type Span, type SpanName } from '../lib/spans.js';
import { Segments } from '../parts/fields.js';
import { Filter } from '../parts/filter.js';
import { Empty, ErrorNotice, Skeleton } from '../parts/notices.js';
import { NumberTable } from '../parts/number-table.js';
import { Count, Meter, Money, money, style } from '../parts/values.js';
import { Chart } from '../parts/chart.js';
import { CsvButton } from '../parts/csv-button.js';
import { usePriceMarks } from '../parts/price.js';
import { pickRange, RangeSteps, useOwnRange, withoutOwnRange } from '../parts/range.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';

type Breakdown = ReplyOf<'usageBreakdown'>;
type Row = Breakdown['rows'][number];
type Group = 'user' | 'token' | 'model' | 'channel' | 'tag' | 'provider' | 'label';

const SPAN_NAMES: readonly SpanName[] = ['this_month', 'last_month', '7d', '30d'];
const HOUR_S = 3_600;
const GROUPS: readonly Group[] = ['user', 'token', 'model', 'channel', 'tag', 'provider', 'label'];
const OWN_GROUPS: readonly Group[] = ['token', 'model', 'label'];
/** What teams label their keys with most often. */
const FIRST_LABEL = 'team';

/** What the address asks for; what it lacks, or the account may not see, is as the page begins. */
function useGrouping() {
  const { query } = useRoute();
  const groups = seesAll() ? GROUPS : OWN_GROUPS;
  const by = groups.find((group) => group === query.get('by')) ?? (seesAll() ? 'user' : 'token');
  return {
    groups,
    by,
    span: SPAN_NAMES.find((name) => name === query.get('span')) ?? 'this_month',
    then: groups.find((group) => group === query.get('then') && group !== by),
    label: query.get('label') ?? FIRST_LABEL,
  };
}

/** Who spent what: a table whose rows add up to its total, and agree with the balances. */
export function Spend() {
  const { span, groups, by, then, label } = useGrouping();
  const picked = useOwnRange();
  const { start, end } = picked ?? spanOf(span, new Date());
  const range = { start_timestamp: start, end_timestamp: end };
  const labelled = by === 'label' || then === 'label';
  const asked = {
    ...{ ...range, by, ...(then === undefined ? {} : { then }) },
    ...(labelled ? { label } : {}),
  };
  // Others group by what they see alone.
  const operation = seesAll() ? 'usageBreakdown' : ('ownUsageBreakdown' as 'usageBreakdown');
  const { data, error, loading, again } = useRead(operation, { query: asked });
  const words = wp().spend;
  const shown = then === undefined ? [by] : [by, then];
  const grouping = {
    query: { by, then: then ?? '', label },
    set: (change: Readonly<Record<string, string>>) => setQuery(change, { replace: true }),
  };
  const choices = groups.map((value) => ({ value, label: words.groups[value] }));
  return (
    <>
      <div class="head">
        <h1>{w().nav.spend}</h1>
        <Segments
          label={wp().requests.span}
          value={picked === undefined ? span : ''}
          choices={SPAN_NAMES.map((value) => ({ value, label: words.spans[value] }))}
          onChange={(value) =>
            setQuery(withoutOwnRange(value === 'this_month' ? '' : value), { replace: true })
          }
        />
        <RangeSteps shown={{ start, end }} />
        <CsvButton save={() => download(operation, { query: asked }, 'spend.csv')} />
      </div>
      <ErrorNotice error={error} onAgain={again} />
      <Days start={start} end={end} />
      {picked === undefined && span === 'this_month' ? <Forecast end={end} /> : null}
      <div class="row">
        <Filter of={grouping} name="by" label={words.by} choices={choices} />
        <Filter
          of={grouping}
          name="then"
          label={words.then}
          choices={choices.filter(({ value }) => value !== by)}
        />
        {labelled ? <Filter of={grouping} name="label" label={words.groups.label} /> : null}
      </div>
      {loading ? <Skeleton lines={8} /> : null}
      {data && (
        <>
          <Sums of={data} by={shown} />
          <Reach of={data} start={start} end={end} />
        </>
      )}
    </>
  );
}

/** The sums of each group, which add up to the total. */
function Sums({ of: data, by }: { readonly of: Breakdown; readonly by: readonly Group[] }) {
  const words = wp().spend;
  if (data.rows.length === 0) {
    return (
      <div class="card">
        <Empty title={words.none} />
      </div>
    );
  }
  return (
    <NumberTable
      label={w().nav.spend}
      names={by.map((group) => words.groups[group])}
      heads={[
        ...[w().home.requests, wp().requests.failed, wp().requests.documents],
        ...[wp().requests.tokens, w().home.spent],
        ...(data.total.cost === undefined ? [] : [words.cost, words.margin]),
        words.share,
      ]}
    >
      <tbody>
        {data.rows.map((row) => (
          <tr key={by.map((group) => idOf(row, group)).join(' ')}>
            {by.map((group) => (
              <td key={group} class="clip">
                {row.is_rest ? wp().overview.others : nameOf(row, group)}
              </td>
            ))}
            <Cells sums={row} />
            <td class="num">
              {data.total.quota === 0 ? '–' : percent(row.quota / data.total.quota)}{' '}
              <Meter share={data.total.quota === 0 ? 0 : row.quota / data.total.quota} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row" colSpan={by.length}>
            {words.total}
          </th>
          <Cells sums={data.total} />
          <td />
        </tr>
      </tfoot>
    </NumberTable>
  );
}

/** Of which time the sums are, where that is not all of the time that was asked for. */
function Reach({
  of: { complete_from: complete, start_timestamp: first, end_timestamp: last },
  start,
  end,
}: {
  readonly of: Breakdown;
  readonly start: number;
  readonly end: number;
}) {
  const at = (seconds: number): string => moment(seconds, style());
  const isMoved = Math.abs(first - start) >= HOUR_S || Math.abs(last - end) >= HOUR_S;
  return (
    <>
      {isMoved ? <p class="small muted">{wp().spend.inUtc(at(first), at(last))}</p> : null}
      {complete === null || complete <= start ? null : (
        <p class="small muted">{wp().overview.since(at(complete))}</p>
      )}
    </>
  );
}

function Cells({
  sums,
}: {
  readonly sums: Pick<
    Row,
    'requests' | 'failed' | 'documents' | 'tokens' | 'quota' | 'cost' | 'margin'
  >;
}) {
  return (
    <>
      {(['requests', 'failed', 'documents', 'tokens'] as const).map((name) => (
        <td key={name} class="num">
          <Count value={sums[name]} />
        </td>
      ))}
      {[sums.quota, sums.cost, sums.margin].map((units, at) =>
        units === undefined ? null : (
          <td key={at} class="num">
            <Money units={units} />
          </td>
        ),
      )}
    </>
  );
}

function idOf(row: Row, group: Group): string {
  const { user_id: user, token_id: token, channel_id: channel, model, tag, provider, label } = row;
  return `${{ user, token, channel, model, tag, provider, label }[group] ?? ''}`;
}

/** Its name, or its number if it no longer exists. */
function nameOf(row: Row, group: Group): string {
  const { username: user, token_name: token, channel, model, tag, provider, label } = row;
  const id = idOf(row, group);
  const name = { user, token, channel, model, tag, provider, label }[group];
  return name ?? (id === '' ? '–' : `#${id}`);
}

/** What was spent on each day of a span, in the reader's time zone; adds up to the total of the table. */
function useDays(span: Span) {
  const { data } = useByDay(span);
  return data && byDay(span, data.rows);
}

function useByDay(span: Span) {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const range = { start_timestamp: span.start, end_timestamp: span.end };
  // Others group by what they see alone.
  const operation = seesAll() ? 'usageBreakdown' : ('ownUsageBreakdown' as 'usageBreakdown');
  return useRead(operation, { query: { ...range, by: 'day', time_zone: timeZone } });
}

/** What this month will have cost at its end, at the rate of the last seven days. */
function Forecast({ end }: Pick<Span, 'end'>) {
  const nowMs = Date.now();
  const calendar = calendarAt(new Date(nowMs));
  const { data } = useByDay({ start: Math.min(calendar.monthMs, calendar.rateMs) / 1_000, end });
  if (data === undefined || data.total.quota === 0) return null;
  const days = data.rows.map(({ day, quota }) => ({ startMs: (day ?? 0) * 1_000, units: quota }));
  const knownFromMs = (data.complete_from ?? nowMs / 1_000) * 1_000;
  const { total } = forecastBy(days, nowMs, calendar, knownFromMs);
  return <p class="small muted">{wp().spend.forecast(money(total))}</p>;
}

/** Spending per day, and on the same days of the period before. */
function Days({ start, end }: Span) {
  const days = useDays({ start, end });
  const before = useDays(spanBeside({ start, end }, -1, Date.now() / 1_000))?.values;
  const marks = usePriceMarks({ start_timestamp: start, end_timestamp: end });
  if (days === undefined) return null;
  const { times, values } = days;
  const day = new Intl.DateTimeFormat(style().language === 'zh' ? 'zh-CN' : 'en-GB', {
    dateStyle: 'medium',
  });
  return (
    <Chart
      title={wp().spend.byDay}
      kind="bars"
      times={times}
      end={end}
      format={money}
      timeOf={(seconds) => day.format(seconds * 1_000)}
      before={before?.some((value) => value > 0) === true ? before : undefined}
      marks={marks}
      onPick={pickRange}
      series={[{ name: w().home.spent, color: 1, values }]}
    />
  );
}
