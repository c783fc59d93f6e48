import type { ComponentChildren } from 'preact';
import { Button } from './buttons.js';
import { type Making } from './notices.js';
import { Count } from './values.js';

/** The head of a list: its title, the number of matching rows, filters, and the button for a new entry (also `n`). */
export function ListHead({
  title,
  total,
  more = false,
  make,
  children,
}: {
  readonly title: string;
  readonly total: number | undefined;
  /** Whether more match: `total` was counted no further than one beyond the page. */
  readonly more?: boolean;
  readonly make?: Making;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class="head">
      <h1>
        {title}
        {total === undefined ? null : (
          <span class="count">
            <Count value={more ? total - 1 : total} />
            {more ? '+' : ''}
          </span>
        )}
      </h1>
      {children}
      {make === undefined ? null : (
        <span data-new onClick={make.onClick}>
          <Button kind="main">
            {make.label} <kbd>n</kbd>
          </Button>
        </span>
      )}
    </div>
  );
}
