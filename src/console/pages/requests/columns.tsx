import type { ItemOf } from '../../api/call.js';
import { clock, duration } from '../../lib/format.js';
import { signOf } from '../../lib/verdict.js';
import { Count, Moment, Money, State, style } from '../../parts/basic.js';
import type { Column } from '../../parts/table.js';
import { wp } from '../../words.js';

function When({ seconds }: { readonly seconds: number }) {
  const now = Date.now() / 1000;
  return now - seconds < 86_400 ? (
    <time class="nowrap" title={new Date(seconds * 1000).toISOString()}>
      {clock(seconds, style())}
    </time>
  ) : (
    <Moment seconds={seconds} />
  );
}

export type Usage = ItemOf<'listOwnUsage'> & Partial<ItemOf<'listUsage'>>;

export function usageColumns(admin: boolean): Column<ItemOf<'listOwnUsage'>>[] {
  const { requests: words } = wp();
  return [
    { title: words.time, cell: ({ created_at }) => <When seconds={created_at} /> },
    {
      title: words.outcome,
      cell: ({ outcome }) => <State sign={signOf(outcome, false)}>{outcome}</State>,
      only: ({ outcome }) => ({ outcome }),
    },
    {
      title: words.model,
      narrow: true,
      cell: ({ model }) => <span title={model}>{model}</span>,
      only: ({ model }) => ({ model }),
    },
    ...(admin
      ? [
          {
            title: words.channel,
            minor: true,
            narrow: true,
            cell: ({ channel_id: id, channel, provider, tag }: Usage) =>
              id == null ? (
                '–'
              ) : (
                <span title={tag == null ? (provider ?? '') : `${provider ?? ''} · ${tag}`}>
                  {channel ?? `#${id}`}
                </span>
              ),
            only: ({ channel_id: id }: Usage) =>
              id == null ? undefined : { channel_id: String(id) },
          },
        ]
      : []),
    { title: words.attempts, numeric: true, minor: true, cell: ({ attempts }) => attempts },
    {
      title: words.documents,
      numeric: true,
      minor: true,
      cell: ({ documents }) => <Count value={documents} />,
    },
    { title: words.duration, numeric: true, cell: ({ duration_ms }) => duration(duration_ms) },
    { title: words.cost, numeric: true, minor: true, cell: ({ quota }) => <Money units={quota} /> },
    {
      title: words.key,
      narrow: true,
      cell: ({ token_name }) => <span title={token_name}>{token_name}</span>,
      only: ({ token_name }) => ({ token_name }),
    },
  ];
}

export function refusedColumns(admin: boolean): Column<ItemOf<'listOwnRefusals'>>[] {
  const { requests: words } = wp();
  return [
    { title: words.time, cell: ({ created_at }) => <When seconds={created_at} /> },
    {
      title: words.outcome,
      cell: ({ outcome, status, repeated }) => (
        <State sign="hollow">
          {status} {outcome}
          {repeated === 0 ? '' : ` × ${repeated + 1}`}
        </State>
      ),
      only: ({ outcome }) => ({ outcome }),
    },
    {
      title: words.message,
      narrow: true,
      cell: ({ message }) => <span title={message}>{message}</span>,
    },
    {
      title: words.model,
      narrow: true,
      cell: ({ model }) => model ?? '–',
      only: ({ model }) => (model === null ? undefined : { model }),
    },
    {
      title: words.key,
      cell: ({ token_name }) => token_name ?? '–',
      only: ({ token_name: name }) => (name === null ? undefined : { token_name: name }),
    },
    ...(admin
      ? [
          {
            title: words.address,
            minor: true,
            cell: (row: ItemOf<'listOwnRefusals'> & Partial<ItemOf<'listRefusals'>>) =>
              row.address ?? '–',
          },
        ]
      : []),
  ];
}
