import { duration } from '../../lib/format.js';
import { Chip } from '../../parts/buttons.js';
import { FilterText, Segments } from '../../parts/fields.js';
import { FilterSelect } from '../../parts/form.js';
import { withoutOwnRange } from '../../parts/range.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import type { Row } from './columns.js';
import { KINDS, SPANS, type Filters } from './filters.js';

/** Filters that have no field, or not always. */
const CHIPS = ['channel_id', 'provider', 'tag', 'user_id', 'slower'] as const;

/** What the list is filtered by. */
export function FilterBar({
  query,
  kind,
  isOwnRange,
  hasTagField,
  first,
  set,
}: {
  readonly query: Filters;
  readonly kind: (typeof KINDS)[number] | undefined;
  readonly isOwnRange: boolean;
  readonly hasTagField: boolean;
  /** A row that was found, which has the names of what is picked by its number. */
  readonly first: Row | undefined;
  readonly set: (change: Partial<Filters>) => void;
}) {
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
      <FilterSelect
        label={wp().requests.anyOutcome}
        value={query.outcome}
        choices={outcomes().map((value) => ({
          value,
          label: value === 'failed' ? wp().requests.anyError : value,
        }))}
        onChange={(outcome) => set({ outcome })}
      />
      <FilterText
        label={wp().kinds.model}
        value={query.model}
        onChange={(model) => set({ model })}
      />
      <FilterText
        label={wp().kinds.key}
        value={query.token_name}
        onChange={(token_name) => set({ token_name })}
      />
      {hasTagField ? (
        <FilterText label={wp().kinds.tag} value={query.tag} onChange={(tag) => set({ tag })} />
      ) : null}
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
