import { Segments } from './fields.js';

/** A choice of one among a few in a form: its label stands above it, as that of a field does. */
export function SegmentsField<T extends string>(props: Parameters<typeof Segments<T>>[0]) {
  return (
    <div class="field">
      <span class="label" aria-hidden="true">
        {props.label}
      </span>
      <Segments {...props} />
    </div>
  );
}
