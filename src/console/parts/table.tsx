import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Reading } from '../api/query.js';
import { setQuery, useRoute } from '../router.js';
import { settings } from '../settings.js';
import { w } from '../words.js';
import { Button } from './buttons.js';
import { ErrorNotice, Skeleton } from './notices.js';
import { Ago, Count } from './values.js';
import { isTyping, usePageKeys } from './keys.js';

export interface Column<T> {
  readonly title: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly numeric?: boolean;
  /** What the API sorts by when the head is clicked; with a minus where the greatest comes first. */
  readonly sort?: string;
  /** Whether the column is hidden on a narrow page. */
  readonly minor?: boolean;
  /** Whether the column is shown on a wide page only: the drawer has it too. */
  readonly lesser?: boolean;
  /** The filter that leaves rows with the same value alone. */
  readonly only?: (row: T) => Readonly<Record<string, string>> | undefined;
  /** Whether long text is truncated, so that the columns after it stay visible. */
  readonly narrow?: boolean;
  /** Whether it gets more of the room than others whose text is truncated. */
  readonly major?: boolean;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly idOf: (row: T) => string | number;
  readonly onOpen?: (row: T) => void;
  readonly openId?: string | number | undefined;
  readonly actions?: (row: T) => ComponentChildren;
  readonly selection?: {
    readonly ids: ReadonlySet<string | number>;
    readonly onChange: (ids: ReadonlySet<string | number>) => void;
  };
  /** Takes the filter of a cell that is clicked with Alt. */
  readonly onFilter?: (filter: Readonly<Record<string, string>>) => void;
  /** A heading above the first row of each group. */
  readonly groupOf?: (row: T) => string;
}

function classOf<T>({ numeric = false, minor, narrow, lesser, major }: Column<T>): string {
  const kinds = { minor, narrow, lesser, major };
  const names = Object.entries(kinds).flatMap(([name, is]) => (is === true ? [name] : []));
  return [numeric ? 'num' : 'clip', ...names].join(' ');
}

/** The head of a column; a click on one that can be sorted by sorts, the other way round, and no longer. */
function Head<T>({ column }: { readonly column: Column<T> }) {
  const { title, numeric = false, lesser = false, sort } = column;
  const picked = useRoute().query.get('sort') ?? '';
  const is = sort !== undefined && barred(picked) === barred(sort) ? picked : '';
  const next = is === '' ? sort : is === sort ? reversed(is) : '';
  return (
    <th
      class={[...(numeric ? ['num'] : []), ...(lesser ? ['lesser'] : [])].join(' ')}
      scope="col"
      aria-sort={is === '' ? undefined : is.startsWith('-') ? 'descending' : 'ascending'}
    >
      {next === undefined ? (
        title
      ) : (
        <button
          type="button"
          class="sort"
          onClick={() => setQuery({ sort: next, p: '' }, { replace: true })}
        >
          {title}
          <span aria-hidden="true">{is === '' ? '' : is.startsWith('-') ? ' ↓' : ' ↑'}</span>
        </button>
      )}
    </th>
  );
}

function barred(sort: string): string {
  return sort.replace('-', '');
}

function reversed(sort: string): string {
  return sort.startsWith('-') ? barred(sort) : `-${sort}`;
}

/** Rows with their actions on the right; arrows, `j` and `k` move between rows, Enter opens, `x` selects. */
export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, idOf, onOpen, openId, actions, selection, groupOf, onFilter } =
    props;
  // Its id, because rows that come and go move it.
  const at = useRef<{ readonly id: string | number; readonly index: number }>(undefined);
  const body = useRef<HTMLTableSectionElement>(null);

  usePageKeys((event) => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector('dialog[open]:not(.drawer), [popover].menu') !== null) return;
    const letters = settings.get().letterKeys;
    const open = rows.findIndex((row) => idOf(row) === openId);
    const here = rows.findIndex((row) => idOf(row) === at.current?.id);
    const gone = (at.current?.index ?? 0) - 1;
    const from = open >= 0 ? open : here >= 0 ? here : gone;
    // Arrows pick one of a group of radio buttons.
    const arrows = !(event.target instanceof HTMLInputElement && event.target.type === 'radio');
    const down = (arrows && event.key === 'ArrowDown') || (letters && event.key === 'j');
    const up = (arrows && event.key === 'ArrowUp') || (letters && event.key === 'k');
    if (down || up) {
      const next = Math.max(0, Math.min(rows.length - 1, from + (down ? 1 : -1)));
      const row = rows[next];
      if (row === undefined) return;
      event.preventDefault();
      at.current = { id: idOf(row), index: next };
      if (open >= 0) onOpen?.(row);
      else body.current?.querySelectorAll<HTMLElement>('tr.item')[next]?.focus();
      return;
    }
    const row = rows[here];
    if (row === undefined) return;
    if (letters && event.key === 'x' && selection !== undefined) toggle(idOf(row));
    if (letters && (event.key === '.' || (event.key === 'f' && onFilter !== undefined))) {
      event.preventDefault();
      body.current
        ?.querySelectorAll('tr.item')
        [here]?.querySelector<HTMLElement>('[aria-haspopup]')
        ?.click();
    }
  });

  function toggle(id: string | number): void {
    if (selection === undefined) return;
    const ids = new Set(selection.ids);
    if (!ids.delete(id)) ids.add(id);
    selection.onChange(ids);
  }

  let group: string | undefined;
  return (
    <div class="tablebox" role="region" aria-label={label} tabIndex={0}>
      <table class="cardlist">
        <thead>
          <tr>
            {selection === undefined ? null : (
              <th>
                <input
                  type="checkbox"
                  aria-label={w().selectAll}
                  checked={rows.length > 0 && rows.every((row) => selection.ids.has(idOf(row)))}
                  onChange={(event) =>
                    selection.onChange(
                      new Set(event.currentTarget.checked ? rows.map((row) => idOf(row)) : []),
                    )
                  }
                />
              </th>
            )}
            {columns.map((column) => (
              <Head key={column.title} column={column} />
            ))}
            {actions === undefined ? null : (
              <th class="actions" scope="col">
                <span class="hidden">{w().actions}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row, index) => {
            const id = idOf(row);
            const heading = groupOf?.(row);
            const isNew = heading !== undefined && heading !== group;
            group = heading;
            return [
              isNew ? (
                <tr class="group" key={`group ${heading}`}>
                  <th colSpan={columns.length + 2} scope="colgroup">
                    {heading}
                  </th>
                </tr>
              ) : null,
              <tr
                key={id}
                class={onOpen === undefined ? 'item' : 'item open-row-able'}
                aria-selected={openId === id ? 'true' : undefined}
                tabIndex={onOpen === undefined ? undefined : -1}
                onFocus={() => {
                  at.current = { id, index };
                }}
                onClick={(event) => {
                  const { target } = event;
                  if (target instanceof Element && target.closest('a,button,input,label') !== null)
                    return;
                  if (String(getSelection() ?? '') !== '') return;
                  onOpen?.(row);
                }}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.target !== event.currentTarget) return;
                  // Else the same press would go on to the drawer, and close it by its first button.
                  event.preventDefault();
                  onOpen?.(row);
                }}
              >
                {selection === undefined ? null : (
                  <td>
                    <input
                      type="checkbox"
                      aria-label={w().select(String(id))}
                      checked={selection.ids.has(id)}
                      onChange={() => toggle(id)}
                    />
                  </td>
                )}
                {columns.map((column) => (
                  <td
                    key={column.title}
                    class={classOf(column)}
                    // A number alone says nothing where the heads are not shown.
                    data-title={column.numeric === true ? column.title : undefined}
                    onClick={(event) => {
                      const filter = event.altKey ? column.only?.(row) : undefined;
                      if (filter === undefined) return;
                      event.stopPropagation();
                      onFilter?.(filter);
                    }}
                  >
                    {column.cell(row)}
                  </td>
                ))}
                {actions === undefined ? null : <td class="actions">{actions(row)}</td>}
              </tr>,
            ];
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The creation time of a row, as the last column of a list. */
export function createdColumn<T extends { readonly created_time: number }>(): Column<T> {
  return {
    title: w().created,
    minor: true,
    sort: '-created_time',
    cell: ({ created_time: at }) => <Ago seconds={at} />,
  };
}

/** The row whose id is in `open` in the address, and functions to open another one and to close it. */
export function useOpenRow(): {
  readonly openId: number | undefined;
  readonly onOpen: (row: { readonly id: number }) => void;
  readonly close: () => void;
} {
  const open = useRoute().query.get('open');
  return {
    openId: open === null ? undefined : Number(open),
    onOpen: ({ id }) => setQuery({ open: id, edit: '' }, { replace: open !== null }),
    close: () => setQuery({ open: '' }, { replace: true }),
  };
}

interface Listed<T> {
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
  /** Shown before anything has been made. */
  readonly empty: ComponentChildren;
}

/** A page of a list with its states (loading, empty, no match, error) and its pager. */
export function List<T>(props: ListProps<T>) {
  const { reading, filtered, clear, empty, cursorOf, ...table } = props;
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
          <Table {...table} rows={data.items} />
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
export function useListQuery<const N extends string>(
  names: readonly N[],
): {
  readonly query: Readonly<Record<N, string>>;
  readonly page: number;
  /** In a log: the entry after which the page begins. */
  readonly before: string | undefined;
  readonly filtered: boolean;
  readonly set: (change: Partial<Record<N, string>>) => void;
  readonly clear: () => void;
} {
  const { query } = useRoute();
  const values = Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Record<
    N,
    string
  >;
  return {
    query: values,
    page: Math.max(1, Number(query.get('p') ?? 1) || 1),
    before: query.get('before') ?? undefined,
    filtered: names.some((name) => name !== 'sort' && values[name] !== ''),
    set: (change) => setQuery({ ...change, p: '', before: '' }, { replace: true }),
    clear: () => setQuery(Object.fromEntries([...names, 'p', 'before'].map((name) => [name, '']))),
  };
}
