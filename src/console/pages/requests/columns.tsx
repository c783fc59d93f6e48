import type { ItemOf } from '../../api/call.js';
import { dayOf } from '../../lib/days.js';
import { clock, duration } from '../../lib/format.js';
import { signOf } from '../../lib/verdict.js';
import { Count, Moment, Money, State, style } from '../../parts/values.js';
import type { Column } from '../../parts/table.js';
import { wp } from '../../words.js';

function When({ seconds }: { readonly seconds: number }) {
  // Of another day than today, the time alone says too little.
  const isToday = dayOf(seconds, style()) === dayOf(Date.now() / 1_000, style());
  return isToday ? (
    <time class="nowrap" title={new Date(seconds * 1000).toISOString()}>
      {clock(seconds, style())}
    </time>
  ) : (
    <Moment seconds={seconds} />
  );
}

/** A request of either log; operators are told more. */
export type Row = ItemOf<'listOwnRequests'> & Partial<ItemOf<'listRequests'>>;

/** The columns of both logs; of refused requests alone, what they were told and where they came from instead of what they used. */
export function columnsOf(admin: boolean, kind: Row['kind'] | undefined): Column<Row>[] {
  return kind === 'refused' ? refusedColumns(admin) : usageColumns(admin);
}

function outcomeColumn(): Column<Row> {
  return {
    title: wp().requests.outcome,
    narrow: true,
    major: true,
    cell: ({ kind, outcome, status, repeated, message }) => {
      const code = kind === 'refused' ? `${status} ${outcome}` : outcome;
      return (
        <State sign={signOf(outcome, kind === 'refused')}>
          <span title={message === null ? code : `${code}: ${message}`}>
            {code}
            {repeated === 0 ? '' : ` × ${repeated + 1}`}
          </span>
        </State>
      );
    },
    only: ({ outcome }) => ({ outcome }),
  };
}

/** A name that a request may lack; the filter of that name picks it. */
function nameColumn(title: string, name: 'model' | 'token_name'): Column<Row> {
  return {
    ...{ title, narrow: true },
    cell: ({ [name]: value }) => <span title={value ?? undefined}>{value ?? '–'}</span>,
    only: ({ [name]: value }) => (value === null ? undefined : { [name]: value }),
  };
}

function usageColumns(admin: boolean): Column<Row>[] {
  const { requests: words } = wp();
  return [
    { title: words.time, cell: ({ created_at }) => <When seconds={created_at} /> },
    outcomeColumn(),
    nameColumn(wp().kinds.model, 'model'),
    ...(admin
      ? [
          {
            title: wp().kinds.channel,
            minor: true,
            narrow: true,
            cell: ({ channel_id: id, channel, provider, tag }: Row) =>
              id == null ? (
                '–'
              ) : (
                <span title={tag == null ? (provider ?? '') : `${provider ?? ''} · ${tag}`}>
                  {channel ?? `#${id}`}
                </span>
              ),
            only: ({ channel_id: id }: Row) =>
              id == null ? undefined : { channel_id: String(id) },
          },
        ]
      : []),
    {
      title: words.attempts,
      numeric: true,
      minor: true,
      lesser: true,
      cell: ({ attempts }) => attempts,
    },
    {
      title: words.documents,
      numeric: true,
      minor: true,
      cell: ({ documents }) => <Count value={documents} />,
    },
    { title: words.duration, numeric: true, cell: ({ duration_ms }) => duration(duration_ms) },
    { title: words.cost, numeric: true, minor: true, cell: ({ quota }) => <Money units={quota} /> },
    nameColumn(wp().kinds.key, 'token_name'),
  ];
}

function refusedColumns(admin: boolean): Column<Row>[] {
  const { requests: words } = wp();
  return [
    { title: words.time, cell: ({ created_at }) => <When seconds={created_at} /> },
    outcomeColumn(),
    {
      title: words.message,
      narrow: true,
      cell: ({ message }) => <span title={message ?? undefined}>{message}</span>,
    },
    nameColumn(wp().kinds.model, 'model'),
    nameColumn(wp().kinds.key, 'token_name'),
    ...(admin
      ? [{ title: words.address, minor: true, cell: ({ address }: Row) => address ?? '–' }]
      : []),
  ];
}
