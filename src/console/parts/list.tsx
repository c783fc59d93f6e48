import type { ComponentChildren } from 'preact';
import type { Reading } from '../api/query.js';
import { setQuery, useRoute } from '../router.js';
import { w } from '../words.js';
import { Button } from './buttons.js';
import { ErrorNotice, Skeleton } from './notices.js';
import { CLEARED, useOwnRange } from './range.js';
import { Table, type TableProps } from './table.js';
import { Count } from './values.js';

export interface Listed<T> {
  readonly items: readonly T[];
  readonly total: number;
  readonly page: number;
  readonly page_size: number;
}

/** Whether a list has entries beyond its page. */
export function hasMore(listed: Omit<Listed<unknown>, 'items'> | undefined): boolean {
  return listed !== undefined && listed.total > listed.page * listed.page_size;
}

interface ListProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly reading: Reading<Listed<T>>;
  readonly filtered: boolean;
  /** Clears the filters. */
  readonly clear: () => void;
  /** What the next page begins after, for a log: its pages then stay as they are while entries arrive. */
  readonly cursorOf?: (row: T) => number | string;
  /** Shows a row as a card; a table shows them otherwise. */
  readonly card?: ((row: T) => ComponentChildren) | undefined;
  /** Shown before anything has been made. */
  readonly empty: ComponentChildren;
}

/** A page of a list with its states (loading, empty, no match, error) and its pager. */
export function List<T>(props: ListProps<T>) {
  const { reading, filtered, clear, empty, cursorOf, card, ...table } = props;
  const { data, error, loading, again } = reading;
  return (
    <>
      <ErrorNotice error={error} onAgain={again} />
      {loading && error === undefined ? (
        <div class="card">
          <Skeleton lines={8} />
        </div>
      ) : null}
      {data === undefined ? null : data.items.length > 0 ? (
        <>
          {card === undefined ? (
            <Table {...table} rows={data.items} />
          ) : (
            <ul class="stack">{data.items.map(card)}</ul>
          )}
          {cursorOf === undefined ? (
            <Pager total={data.total} page={data.page} size={data.page_size} />
          ) : (
            <LogPager last={hasMore(data) ? data.items.at(-1) : undefined} cursorOf={cursorOf} />
          )}
        </>
      ) : (
        <div class="card">
          {filtered || data.total > 0 ? (
            <div class="empty">
              <strong>{w().noneMatch}</strong>
              <Button onClick={clear}>{w().clearFilters}</Button>
            </div>
          ) : (
            empty
          )}
        </div>
      )}
    </>
  );
}

function Pager({
  total,
  page,
  size,
}: {
  readonly total: number;
  readonly page: number;
  readonly size: number;
}) {
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1) return null;
  return (
    <nav class="row end" aria-label={w().pages}>
      <span class="muted small">
        {w().pageOf(page, pages)} · <Count value={total} />
      </span>
      <Button disabled={page <= 1} onClick={() => setQuery({ p: page - 1 <= 1 ? '' : page - 1 })}>
        ‹ {w().previous}
      </Button>
      <Button disabled={page >= pages} onClick={() => setQuery({ p: page + 1 })}>
        {w().next} ›
      </Button>
    </nav>
  );
}

/** The pages of a log, from the newest entries to older ones. */
function LogPager<T>({
  last,
  cursorOf,
}: {
  /** The last row of the page; undefined if there are no older ones. */
  readonly last: T | undefined;
  readonly cursorOf: (row: T) => number | string;
}) {
  const isFirst = !useRoute().query.has('before');
  if (isFirst && last === undefined) return null;
  return (
    <nav class="row end" aria-label={w().pages}>
      <Button disabled={isFirst} onClick={() => setQuery({ before: '' })}>
        « {w().newest}
      </Button>
      <Button
        disabled={last === undefined}
        onClick={() => {
          if (last !== undefined) setQuery({ before: cursorOf(last) });
        }}
      >
        {w().older} ›
      </Button>
    </nav>
  );
}

/** The page and the filters of a list, kept in the address. */
export interface ListQuery<N extends string> {
  readonly query: Readonly<Record<N, string>>;
  readonly page: number;
  /** In a log: the entry after which the page begins. */
  readonly before: string | undefined;
  readonly filtered: boolean;
  readonly set: (change: Partial<Record<N, string>>) => void;
  readonly clear: () => void;
}

export function useListQuery<const N extends string>(names: readonly N[]): ListQuery<N> {
  const { query } = useRoute();
  const own = useOwnRange();
  const values = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Record<
    N,
    string
  >;
  return {
    query: values,
    page: Math.max(1, Number(query.get('p') ?? 1) || 1),
    before: query.get('before') ?? undefined,
    filtered: own !== undefined || names.some((name) => name !== 'sort' && values[name] !== ''),
    set: (change) => setQuery({ ...change, p: '', before: '' }, { replace: true }),
    clear: () => setQuery({ ...Object.fromEntries(names.map((name) => [name, ''])), ...CLEARED }),
  };
}
