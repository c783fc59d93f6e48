import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Choice, Choosing } from './fields.js';
import { Choices } from './form.js';
import type { ListQuery } from './list.js';

/** A filter of a list by its name in the address: one of some choices, or else a text. */
export function Filter<N extends string>({
  of: { query, set },
  name,
  label,
  choices,
}: {
  readonly of: Pick<ListQuery<N>, 'query' | 'set'>;
  readonly name: N;
  readonly label: string;
  readonly choices?: readonly Choice<string>[];
}) {
  const shared = {
    ...{ label, value: query[name] },
    onChange: (value: string) => set({ [name]: value } as Partial<Record<N, string>>),
  };
  return choices === undefined ? (
    <FilterText {...shared} />
  ) : (
    <FilterSelect {...shared} choices={choices} />
  );
}

const PAUSE_MS = 250;

/** A text; it takes effect after a pause in typing. */
function FilterText({ label, value, onChange }: Omit<Choosing<string>, 'choices'>) {
  const [typed, setTyped] = useState(value);
  // What comes back is what was told, and somebody may have typed on since.
  const told = useRef(value);
  useLayoutEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = typed;
      onChange(typed);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <input
      class="input filter"
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      spellcheck={false}
      onInput={(event) => setTyped(event.currentTarget.value)}
    />
  );
}

/** One value; the empty value stands for all. */
function FilterSelect({ label, value, choices, onChange }: Choosing<string>) {
  return (
    <select
      class="input filter"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">{label}</option>
      <Choices choices={choices} />
    </select>
  );
}
