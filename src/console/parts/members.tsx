import type { ComponentChildren } from 'preact';
import type { MemberName, MemberRow, MemberTexts } from '../lib/members.js';
import { count } from '../lib/format.js';
import { w, wp } from '../words.js';
import type { DraftPart } from './form-dialog.js';
import { factOf, type Shown } from './shown.js';
import { money, style } from './values.js';
import { Check, TextField } from './fields.js';
import { fieldError } from './notices.js';
import { SelectField } from './form.js';

/** A field for each member, made from its row: one that is added to the table appears here. */
export function MemberFields<D extends { readonly members: MemberTexts }>({
  rows,
  draft,
  onChange,
  error,
}: DraftPart<D> & { readonly rows: readonly MemberRow[] }) {
  const { members } = draft;
  return (
    <>
      {rows.map((row) => (
        <MemberField
          key={row.name}
          row={row}
          value={members[row.name] ?? ''}
          onInput={(text) => onChange({ ...draft, members: { ...members, [row.name]: text } })}
          error={fieldError(error, row.name)}
        />
      ))}
    </>
  );
}

function MemberField({
  row,
  value,
  onInput,
  error,
}: {
  readonly row: MemberRow;
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly error: string | undefined;
}) {
  const { label, help } = wp().members[row.name];
  switch (row.type) {
    case 'boolean':
      return (
        <Check
          label={label}
          checked={(value === '' ? String(row.preset) : value) === 'true'}
          onChange={(checked) => onInput(String(checked))}
        />
      );
    case 'choice': {
      const choices: readonly string[] = row.choices;
      return (
        <SelectField
          label={label}
          help={help}
          value={value === '' ? row.preset : value}
          choices={choices.map((one) => ({ value: one, label: choiceLabel(row.name, one) }))}
          onChange={onInput}
          error={error}
        />
      );
    }
    case 'time_zone':
      return (
        <TextField
          label={label}
          help={help}
          value={value}
          onInput={onInput}
          error={error}
          placeholder={row.preset}
          options={timeZones()}
        />
      );
    case 'labels':
      return <TextField label={label} help={help} value={value} onInput={onInput} error={error} />;
    case 'integer':
    case 'number':
    case 'units':
      return (
        <TextField
          label={label}
          help={help}
          type="number"
          {...(row.least < 0 ? {} : { min: row.least })}
          step={row.type === 'integer' ? 1 : 'any'}
          placeholder={row.preset === null ? '' : String(row.preset)}
          value={value}
          onInput={onInput}
          error={error}
        />
      );
  }
}

/** What the members of all tables are called, by name. */
export function memberLabels(): Readonly<Record<string, string>> {
  const words = Object.entries(wp().members);
  return Object.fromEntries(words.map(([name, { label }]) => [name, label]));
}

/** The members of a record that differ from their defaults, as facts. */
export function memberFactsOf<One extends Readonly<Record<string, unknown>>>(
  rows: readonly MemberRow[],
): readonly Shown<One>[] {
  return rows.map((row) =>
    factOf(wp().members[row.name].label, ({ [row.name]: value }) =>
      value === row.preset ? undefined : valueOf(row, value),
    ),
  );
}

function valueOf({ type, name }: MemberRow, value: unknown): ComponentChildren {
  if (typeof value === 'boolean') return value ? wp().channels.yes : wp().channels.no;
  if (typeof value === 'number') return type === 'units' ? money(value) : count(value, style());
  return typeof value === 'string' ? choiceLabel(name, value) : w().none;
}

function choiceLabel(name: MemberName, value: string): string {
  const labels: Readonly<Record<string, string>> = { ...wp().members[name].choices };
  return labels[value] ?? value;
}

/** The browser's own zone first, which is what most people mean. */
function timeZones(): readonly string[] {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...new Set(['UTC', own, ...Intl.supportedValuesOf('timeZone')])];
}
