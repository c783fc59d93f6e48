import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { setQuery, useRoute } from '../router.js';
import { w } from '../words.js';
import { useRowKeys, type RowsProps } from './row-keys.js';

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

export interface TableProps<T> extends RowsProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly actions?: (row: T) => ComponentChildren;
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
  const { label, columns, rows, idOf, actions, selection } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  const toggle = (id: string | number): void => {
    if (selection === undefined) return;
    const ids = new Set(selection.ids);
    if (!ids.delete(id)) ids.add(id);
    selection.onChange(ids);
  };
  const onFocus = useRowKeys(props, body, toggle);
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
          {rows.map((row, index) => (
            <Row
              key={idOf(row)}
              {...props}
              row={row}
              onFocus={() => onFocus(idOf(row), index)}
              onToggle={() => toggle(idOf(row))}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row<T>({
  row,
  onFocus,
  onToggle,
  columns,
  idOf,
  onOpen,
  openId,
  actions,
  selection,
  onFilter,
}: TableProps<T> & {
  readonly row: T;
  readonly onFocus: () => void;
  readonly onToggle: () => void;
}) {
  const id = idOf(row);
  return (
    <tr
      class="item"
      aria-selected={openId === id ? 'true' : undefined}
      tabIndex={onOpen === undefined ? undefined : -1}
      onFocus={onFocus}
      onClick={({ target }) => {
        if (target instanceof Element && target.closest('a,button,input,label') !== null) return;
        if (String(getSelection() ?? '') === '') onOpen?.(row);
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
            onChange={onToggle}
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
            // With Alt, a browser saves what a link leads to.
            event.preventDefault();
            event.stopPropagation();
            onFilter?.(filter);
          }}
        >
          {column.cell(row)}
        </td>
      ))}
      {actions === undefined ? null : <td class="actions">{actions(row)}</td>}
    </tr>
  );
}
