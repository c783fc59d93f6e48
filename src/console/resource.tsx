import type { ComponentChildren, ComponentType } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Reading } from './api/query.js';
import { Link } from './parts/buttons.js';
import type { Closable } from './parts/dialog.js';
import { Facts } from './parts/facts.js';
import { isTyping } from './parts/keys.js';
import { List, useListQuery, type Listed, type ListQuery } from './parts/list.js';
import { ListHead } from './parts/list-head.js';
import { Empty, type Making } from './parts/notices.js';
import { KINDS, Record, recordAddress, type RecordKind } from './parts/record.js';
import type { Shown } from './parts/shown.js';
import { setQuery, useRoute } from './router.js';
import { w } from './words.js';

type Id = string | number;

interface ResourceSpec<Row, One extends Row, F extends string, More> {
  readonly kind: RecordKind;
  /** The parameter of the address that names the record that is open. */
  readonly openBy?: string;
  readonly filters: readonly F[];
  readonly useList: (list: ListQuery<F>) => Reading<Listed<Row>>;
  readonly useOne: (id: string) => Reading<One>;
  /** Reads what is shown with all rows; of a record at its own address, `rows` has none. */
  readonly useMore?: (rows: readonly Row[], open: string | undefined) => More;
  readonly idOf: (row: Row) => Id;
  readonly titleOf: (one: One) => string;
  readonly shows?: (more: More, nameOf: NameOf) => readonly Shown<Row, One>[];
  /** Shows a record as a card, in place of the list’s row and the facts beside it. */
  readonly Card?: ComponentType<{ readonly of: Row; readonly more: More; readonly open: boolean }>;
  readonly Filters?: ComponentType<ListQuery<F> & { readonly rows: readonly Row[] }>;
  /** Whether the filters get a line of their own. */
  readonly filtersBelow?: boolean;
  readonly make?: () => Making | undefined;
  /** The form for a new one, shown while `new` is in the address. */
  readonly Make?: ComponentType<Closable>;
  readonly empty: () => Omit<Parameters<typeof Empty>[0], 'make'>;
  readonly Above?: ComponentType<{ readonly filtered: boolean }>;
  readonly Below?: ComponentType<{ readonly rows: readonly Row[]; readonly more: More }>;
  readonly Actions?: ComponentType<{ readonly of: Row }>;
  /** What can be done with all that are chosen, for those who may. */
  readonly Chosen?: ComponentType<{ readonly rows: readonly Row[]; readonly onDone: () => void }>;
  readonly mayChoose?: () => boolean;
  /** What stands beside the actions of one record. */
  readonly Head?: ComponentType<{ readonly of: One; readonly more: More }>;
  readonly Details?: ComponentType<{ readonly of: One; readonly more: More }>;
  /** Takes the place of a record beside the list while `edit` is in the address. */
  readonly Editor?: ComponentType<Closable & { readonly of: One }>;
  readonly mayEdit?: (one: One) => boolean;
}

/** The name of a row: a plain click opens its drawer as the row does; the link is that of its page. */
type NameOf = (id: Id, name: string, title?: string) => ComponentChildren;

/** What `edit` and `test` say is of one record, and not of the next. */
const OF_ONE = { edit: '', test: '' };

interface Of<Row, One extends Row, F extends string, More> {
  readonly spec: ResourceSpec<Row, One, F, More>;
}

/** The page of a kind of record: its list with filters and a form for a new one, and each record beside it or at its own address. */
export function resource<Row, One extends Row, F extends string, More = undefined>(
  spec: ResourceSpec<Row, One, F, More>,
): ComponentType {
  return () => {
    const { path } = useRoute();
    return path[1] === undefined ? <Listing spec={spec} /> : <One spec={spec} id={path[1]} />;
  };
}

function useMoreOf<Row, One extends Row, F extends string, More>(
  { useMore }: ResourceSpec<Row, One, F, More>,
  rows: readonly Row[],
  open: string | undefined,
): More {
  // Without it, there is nothing more.
  return useMore === undefined ? (undefined as More) : useMore(rows, open);
}

/** The rows that are chosen; those of another page keep their names. */
function useChosen<Row, One extends Row, F extends string, More>(
  { idOf, Chosen, mayChoose }: ResourceSpec<Row, One, F, More>,
  rows: readonly Row[],
) {
  const [ids, onChange] = useState<ReadonlySet<Id>>(new Set());
  const seen = useRef(new Map<Id, Row>());
  for (const row of rows) seen.current.set(idOf(row), row);
  return {
    choosing:
      Chosen === undefined || mayChoose?.() === false ? {} : { selection: { ids, onChange } },
    picked: [...ids].flatMap((id) => seen.current.get(id) ?? []),
    clear: () => onChange(new Set()),
  };
}

function Listing<Row, One extends Row, F extends string, More>({ spec }: Of<Row, One, F, More>) {
  const { kind, openBy = 'open', idOf } = spec;
  const { Actions, Card, Make, Chosen, Below } = spec;
  const { query: address } = useRoute();
  const list = useListQuery(spec.filters);
  const reading = spec.useList(list);
  const rows = reading.data?.items ?? [];
  const open = address.get(openBy) ?? undefined;
  // With the rows, so that what belongs to both is asked for once.
  const more = useMoreOf(spec, rows, reading.data === undefined ? undefined : open);
  const chosen = useChosen(spec, rows);
  const onOpen = (id: Id): void =>
    setQuery({ ...OF_ONE, [openBy]: id }, { replace: open !== undefined });
  const making = makingOf(spec);
  const label = w().nav[KINDS[kind].list];
  return (
    <>
      <Top spec={spec} list={list} rows={rows} total={reading.data?.total} />
      {Chosen && chosen.picked.length > 0 && <Chosen rows={chosen.picked} onDone={chosen.clear} />}
      <List
        reading={reading}
        filtered={list.filtered}
        clear={list.clear}
        empty={<Empty {...spec.empty()} {...making} />}
        label={label}
        idOf={idOf}
        openId={rows.map(idOf).find((id) => String(id) === open)}
        onOpen={(row) => onOpen(idOf(row))}
        {...chosen.choosing}
        columns={columnsOf(spec, more, onOpen)}
        card={
          Card &&
          ((row) => <Card key={idOf(row)} of={row} more={more} open={String(idOf(row)) === open} />)
        }
        {...(Actions && { actions: (row: Row) => <Actions of={row} /> })}
      />
      {Below && <Below rows={rows} more={more} />}
      {Make && <Made Make={Make} />}
      {open === undefined || Card !== undefined ? null : (
        <One
          key="open"
          spec={spec}
          id={open}
          read={{ more }}
          onClose={() => setQuery({ ...OF_ONE, [openBy]: '' }, { replace: true })}
        />
      )}
    </>
  );
}

/** The form for a new one, where the address asks for it. */
function Made({ Make }: { Make: ComponentType<Closable> }) {
  return useRoute().query.has('new') ? (
    <Make onClose={() => setQuery({ new: '' }, { replace: true })} />
  ) : null;
}

/** The columns; a name is a link that opens its row. */
function columnsOf<Row, One extends Row, F extends string, More>(
  { kind, shows }: ResourceSpec<Row, One, F, More>,
  more: More,
  onOpen: (id: Id) => void,
): readonly Shown<Row, One>[] {
  const nameOf: NameOf = (id, name, title) => (
    <Link to={recordAddress(kind, id)} title={title} onOpen={() => onOpen(id)}>
      {name}
    </Link>
  );
  return shows === undefined ? [] : shows(more, nameOf).filter(({ factOnly }) => factOnly !== true);
}

function makingOf<Row, One extends Row, F extends string, More>({
  make,
}: ResourceSpec<Row, One, F, More>): { make?: Making } {
  const made = make?.();
  return made === undefined ? {} : { make: made };
}

/** The title with the filters, and what stands above the list. */
function Top<Row, One extends Row, F extends string, More>({
  spec,
  list,
  rows,
  total,
}: Of<Row, One, F, More> & {
  readonly list: ListQuery<F>;
  readonly rows: readonly Row[];
  readonly total: number | undefined;
}) {
  const { kind, Filters, Above, filtersBelow = false } = spec;
  const filters = Filters && <Filters {...list} rows={rows} />;
  return (
    <>
      <ListHead title={w().nav[KINDS[kind].list]} total={total} {...makingOf(spec)}>
        {filtersBelow ? null : filters}
      </ListHead>
      {filtersBelow ? <div class="row">{filters}</div> : null}
      {Above && <Above filtered={list.filtered} />}
    </>
  );
}

interface OneProps<More> {
  readonly id: string;
  /** What the list has read; at an own address, it is read again. */
  readonly read?: { readonly more: More } | undefined;
  readonly onClose?: () => void;
}

/** One record: beside the list if it can be closed, else as a page. */
function One<Row, One extends Row, F extends string, More>({
  spec,
  id,
  read,
  onClose,
}: Of<Row, One, F, More> & OneProps<More>) {
  const { query } = useRoute();
  const { Editor } = spec;
  const reading = spec.useOne(id);
  const { data } = reading;
  const isEdited = data !== undefined && query.has('edit') && spec.mayEdit?.(data) === true;
  const close = onClose ?? (() => setQuery(OF_ONE, { replace: true }));
  const editor =
    Editor && isEdited ? <Editor key={`edit ${id}`} of={data} onClose={close} /> : null;
  // Of two drawers only one is seen.
  if (onClose !== undefined && editor !== null) return editor;
  return (
    <>
      <Record
        kind={spec.kind}
        id={id}
        reading={reading}
        title={data && spec.titleOf(data)}
        onClose={onClose}
        isCard={spec.Card !== undefined}
        onKey={(event) => {
          if (event.key !== 'e' || isTyping(event) || Editor === undefined) return;
          // Else the letter would be typed into the first field.
          event.preventDefault();
          setQuery({ edit: '1' });
        }}
      >
        {(one) => <Body key={spec.idOf(one)} spec={spec} of={one} read={read} />}
      </Record>
      {editor}
    </>
  );
}

function Body<Row, One extends Row, F extends string, More>({
  spec,
  of: one,
  read,
}: Of<Row, One, F, More> & { of: One; read: OneProps<More>['read'] | undefined }) {
  const own = useMoreOf(spec, [], read === undefined ? String(spec.idOf(one)) : undefined);
  const more = read === undefined ? own : read.more;
  const { Card, Head, Details, Actions, Below } = spec;
  return (
    <div class="stack wide">
      {Card && (
        <ul>
          <Card of={one} more={more} open />
        </ul>
      )}
      {Head === undefined && Actions === undefined ? null : (
        <div class="row">
          {Head && <Head of={one} more={more} />}
          <span class="grow" />
          {Actions && <Actions of={one} />}
        </div>
      )}
      <Facts
        of={(spec.shows?.(more, (_, name) => name) ?? [])
          .filter(({ fact }) => fact !== false)
          .map(({ title, label, cell, fact }) => [
            label?.(one) ?? title,
            fact ? fact(one) : cell(one),
          ])}
      />
      {Details && <Details of={one} more={more} />}
      {Card && Below && <Below rows={[one]} more={more} />}
    </div>
  );
}
