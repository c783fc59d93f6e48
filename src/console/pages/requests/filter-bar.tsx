import { duration } from '../../lib/format.js';
import { Chip } from '../../parts/buttons.js';
import { Segments } from '../../parts/fields.js';
import { Filter } from '../../parts/filter.js';
import { withoutOwnRange } from '../../parts/range.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import type { Row } from './columns.js';
import { KINDS, SPANS, type Filters } from './filters.js';

/** Filters that have no field, or not always. */
const CHIPS = ['channel_id', 'provider', 'tag', 'user_id', 'slower'] as const;

/** What the list is filtered by. */
export function FilterBar({
  of: list,
  kind,
  isOwnRange,
  hasTagField,
  first,
}: {
  readonly of: { readonly query: Filters; readonly set: (change: Partial<Filters>) => void };
  readonly kind: (typeof KINDS)[number] | undefined;
  readonly isOwnRange: boolean;
  readonly hasTagField: boolean;
  /** A row that was found, which has the names of what is picked by its number. */
  readonly first: Row | undefined;
}) {
  const { query, set } = list;
  return (
    <div class="row">
      <Segments
        label={wp().requests.which}
        value={kind ?? 'all'}
        choices={[
          { value: 'all', label: w().all },
          ...KINDS.map((value) => ({ value, label: wp().requests[value] })),
        ]}
        onChange={(value) => set({ log: value === 'all' ? '' : value })}
      />
      <Segments
        label={wp().requests.span}
        value={isOwnRange ? '' : query.span === '' ? 'all' : query.span}
        choices={[
          ...Object.keys(SPANS).map((value) => ({ value, label: wp().requests.spans(value) })),
          { value: 'all', label: wp().requests.allTime },
        ]}
        onChange={(value) =>
          setQuery(withoutOwnRange(value === 'all' ? '' : value), { replace: true })
        }
      />
      <Filter
        of={list}
        name="outcome"
        label={wp().requests.anyOutcome}
        choices={outcomes().map((value) => ({
          value,
          label: value === 'failed' ? wp().requests.anyError : value,
        }))}
      />
      <Filter of={list} name="model" label={wp().kinds.model} />
      <Filter of={list} name="token_name" label={wp().kinds.key} />
      {hasTagField ? <Filter of={list} name="tag" label={wp().kinds.tag} /> : null}
      {CHIPS.map((name) =>
        query[name] === '' || (name === 'tag' && hasTagField) ? null : (
          <Chip key={name} onRemove={() => set({ [name]: '' })}>
            {wp().requests.filters[name]}: {named(name, query[name], first)}
          </Chip>
        ),
      )}
    </div>
  );
}

/** What a request can end as; `failed` stands for all errors. */
function outcomes(): readonly string[] {
  const errors = Object.keys(wp().verdicts).filter((code) => code !== 'ok');
  return ['ok', 'failed', ...errors.sort()];
}

/** What a filter says in words: the name of what it picks, if a row has it. */
function named(filter: keyof Filters, value: string, row: Row | undefined): string {
  if (filter === 'channel_id' && String(row?.channel_id) === value) return row?.channel ?? value;
  return filter === 'slower' ? duration(Number(value)) : value;
}
