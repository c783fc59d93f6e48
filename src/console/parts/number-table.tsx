import type { ComponentChildren } from 'preact';

/** A table of numbers, which scrolls where it is too wide; `children` are its rows. */
export function NumberTable({
  label,
  names,
  heads,
  short = false,
  children,
}: {
  readonly label: string;
  /** The heads of the columns that say what a row is about. */
  readonly names: readonly string[];
  readonly heads: readonly string[];
  readonly short?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <div
      class={short ? 'tablebox short' : 'tablebox'}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <table>
        <thead>
          <tr>
            {names.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {heads.map((head) => (
              <th key={head} scope="col" class="num" title={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        {children}
      </table>
    </div>
  );
}
