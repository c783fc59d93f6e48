import { Segments, type Choice, type Choosing } from './fields.js';

/** A choice of one among a few in a form: its label stands above it, as that of a field does. */
export function SegmentsField<T extends string>(props: Choosing<T>) {
  return (
    <div class="field">
      <span class="label" aria-hidden="true">
        {props.label}
      </span>
      <Segments {...props} />
    </div>
  );
}

/** The choices that a table of words names, in its order. */
export function choicesOf<T extends string>(labels: Readonly<Record<T, string>>): Choice<T>[] {
  return (Object.keys(labels) as T[]).map((value) => ({ value, label: labels[value] }));
}
