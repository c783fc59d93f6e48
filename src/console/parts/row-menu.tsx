import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useWrite } from '../api/query.js';
import { w } from '../words.js';
import { WriteFailed } from './confirm-write.js';
import { Menu } from './dialog.js';

/** Something that can be done with a row: at once, or after a dialog. */
export interface RowAction {
  readonly label: string;
  readonly danger?: boolean;
  readonly onClick?: () => void;
  readonly write?: () => Promise<unknown>;
  readonly ask?: Ask;
}

export type Ask = (onClose: () => void) => ComponentChildren;

/** The actions of a row, with the dialog of the one that was picked. */
export function RowMenu({
  name,
  items,
}: {
  readonly name: string;
  readonly items: readonly (RowAction | undefined)[];
}) {
  const [asked, setAsked] = useState<Ask>();
  const writing = useWrite((write: () => Promise<unknown>) => write());
  const start = ({ onClick, write, ask }: RowAction): void => {
    onClick?.();
    if (write !== undefined) void writing.run(write);
    if (ask !== undefined) setAsked(() => ask);
  };
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
      <WriteFailed title={name} of={writing} />
      {asked?.(() => setAsked(undefined))}
    </>
  );
}
