import { copyText } from '../../parts/buttons.js';
import { Menu } from '../../parts/menu.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import type { Filters } from './filters.js';

interface Filterable {
  readonly request_id: string;
  readonly outcome: string;
  readonly model: string | null;
  readonly token_name: string | null;
  readonly channel_id?: number | null;
  readonly channel?: string | null;
}

/** Filters by what a row has; a click on a cell with Alt does the same. */
export function RowActions({
  row,
  onFilter,
}: {
  readonly row: Filterable;
  readonly onFilter: (change: Partial<Filters>) => void;
}) {
  const { requests: words } = wp();
  const only = (name: keyof Filters, label: string, value: string | null | undefined) =>
    value == null || value === ''
      ? undefined
      : { label: words.only(label, value), onClick: () => onFilter({ [name]: value }) };
  const { request_id: id, outcome, model, token_name: key, channel_id: channel } = row;
  return (
    <Menu
      label={`${w().actions}: ${id}`}
      items={[
        { label: w().open, onClick: () => setQuery({ open: id }) },
        only('outcome', words.outcome, outcome),
        only('model', wp().kinds.model, model),
        only('token_name', wp().kinds.key, key),
        channel == null
          ? undefined
          : {
              label: words.only(wp().kinds.channel, row.channel ?? `#${channel}`),
              onClick: () => onFilter({ channel_id: String(channel) }),
            },
        { label: words.copyId, onClick: () => void copyText(id) },
      ]}
    >
      ⋯
    </Menu>
  );
}
