import type { ComponentChildren } from 'preact';
import { Fragment } from 'preact';

export type Fact = readonly [label: string, value: ComponentChildren];

/** What is known of something, by name; a fact without a value is left out. */
export function Facts({ of }: { readonly of: readonly Fact[] }) {
  return (
    <dl class="facts">
      {of
        .filter(([, value]) => value !== undefined && value !== null)
        .map(([label, value]) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
