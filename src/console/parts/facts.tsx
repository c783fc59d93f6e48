import type { ComponentChildren } from 'preact';
import { Fragment } from 'preact';

export type Fact = readonly [label: string, value: ComponentChildren];

/** What is known of something, by name; a fact without a value is left out. */
export function Facts({ of, small = false }: { of: readonly Fact[]; small?: boolean }) {
  const known = of.filter(([, value]) => value !== undefined && value !== null && value !== false);
  if (known.length === 0) return null;
  return (
    <dl class={small ? 'facts small' : 'facts'}>
      {known.map(([label, value]) => (
        <Fragment key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
