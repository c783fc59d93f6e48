import { save } from '../../api/call.js';
import type { Shared } from '../../lib/share.js';
import { Button } from '../../parts/buttons.js';
import { Menu } from '../../parts/menu.js';
import { w, wp } from '../../words.js';
import { MAX_DOCUMENTS, tableText } from './inputs.js';
import { FIRST_ROWS } from './results.js';
import { saveShared, share } from './use-sharing.js';
import type { Inputs } from './use-inputs.js';
import type { RankedLane } from './use-runs.js';

export type Opened = 'examples' | 'many' | 'code';

/** The title of the page, and what can be done with all that is on it. */
export function Head({
  inputs: { specs, ids },
  shared,
  withResults,
  ranked,
  all,
  hasResults,
  onOpen,
}: {
  readonly inputs: Inputs;
  readonly shared: Shared;
  readonly withResults: () => Shared;
  readonly ranked: readonly RankedLane[];
  readonly all: boolean;
  readonly hasResults: boolean;
  readonly onOpen: (what: Opened) => void;
}) {
  const words = wp().playground;
  const shareOnly = (content: Shared): void => void share(content, withResults);
  async function savePicture(): Promise<void> {
    const { drawLanes } = await import('./picture.js');
    save('rankings.png', await drawLanes(ranked, all ? MAX_DOCUMENTS : FIRST_ROWS));
  }
  const saveTable = (): void =>
    save('rankings.csv', new Blob([tableText(ranked, ids)], { type: 'text/csv' }));
  const isRanked = ranked.length > 0;
  return (
    <div class="head">
      <h1>{w().nav.playground}</h1>
      <Button onClick={() => onOpen('examples')}>{wp().examples.title}</Button>
      <Button disabled={specs.length === 0} onClick={() => onOpen('many')}>
        {wp().many.open}
      </Button>
      {hasResults ? (
        <Menu
          kind="plain"
          label={words.share}
          items={[
            { label: words.shareInput, onClick: () => shareOnly(shared) },
            { label: words.shareResults, onClick: () => shareOnly(withResults()) },
          ]}
        >
          {words.share} ▾
        </Menu>
      ) : (
        <Button onClick={() => shareOnly(shared)}>{words.share}</Button>
      )}
      <Button disabled={specs.length === 0} onClick={() => onOpen('code')}>
        {words.copyAs}
      </Button>
      <Menu
        kind="plain"
        label={words.export}
        items={[
          { label: words.exportFile, onClick: () => saveShared(withResults()) },
          isRanked ? { label: w().csv, onClick: saveTable } : undefined,
          isRanked ? { label: words.picture, onClick: () => void savePicture() } : undefined,
        ]}
      >
        {words.export} ▾
      </Menu>
    </div>
  );
}
