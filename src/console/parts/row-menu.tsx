import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useWrite } from '../api/query.js';
import { w } from '../words.js';
import { Button } from './buttons.js';
import { WriteFailed } from './confirm-write.js';
import { Menu } from './menu.js';

/** Something that can be done with a row: at once, or after a dialog. */
export interface RowAction {
  readonly label: string;
  readonly danger?: boolean;
  readonly onClick?: () => void;
  readonly write?: () => Promise<unknown>;
  readonly ask?: Ask;
}

export type Ask = (onClose: () => void) => ComponentChildren;

/** Starts actions, and shows the dialog of the one that was picked, or why it failed. */
function useActions(title: string) {
  const [asked, setAsked] = useState<Ask>();
  const writing = useWrite((write: () => Promise<unknown>) => write());
  return {
    busy: writing.busy,
    start: ({ onClick, write, ask }: RowAction): void => {
      onClick?.();
      if (write !== undefined) void writing.run(write);
      if (ask !== undefined) setAsked(() => ask);
    },
    dialog: (
      <>
        <WriteFailed title={title} of={writing} />
        {asked?.(() => setAsked(undefined))}
      </>
    ),
  };
}

/** The actions on all rows that are chosen, as buttons; the last one chooses none. */
export function ChosenBar({
  count,
  items,
  onDone,
}: {
  readonly count: number;
  readonly items: readonly RowAction[];
  readonly onDone: () => void;
}) {
  const { start, busy, dialog } = useActions(w().selected(count));
  return (
    <div class="notice chosen" role="status">
      <span class="grow">{w().selected(count)}</span>
      {items.map((item) => (
        <Button
          key={item.label}
          disabled={busy && item.write !== undefined}
          onClick={() => start(item)}
        >
          {item.label}
        </Button>
      ))}
      <Button kind="quiet" onClick={onDone}>
        {w().none}
      </Button>
      {dialog}
    </div>
  );
}

/** The actions of a row, with the dialog of the one that was picked. */
export function RowMenu({
  name,
  items,
}: {
  readonly name: string;
  readonly items: readonly (RowAction | undefined)[];
}) {
  const { start, dialog } = useActions(name);
  return (
    <>
      <Menu
        label={`${w().actions}: ${name}`}
        items={items.map(
          (item) => item && { ...item, danger: item.danger === true, onClick: () => start(item) },
        )}
      >
        ⋯
      </Menu>
      {dialog}
    </>
  );
}
