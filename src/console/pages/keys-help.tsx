import { seesAll } from '../about.js';
import { nameOf, PAGES } from '../pages.js';
import { Dialog, type Closable } from '../parts/dialog.js';
import { wp } from '../words.js';

/** All keys of the console. */
export function KeysHelp({ onClose }: Closable) {
  const { shortcuts } = wp();
  return (
    <Dialog title={shortcuts.title} onClose={onClose}>
      <dl class="facts">
        {shortcuts.list.map(([keys, what]) => [
          <dt key={keys}>
            <kbd>{keys}</kbd>
          </dt>,
          <dd key={`${keys} does`}>{what}</dd>,
        ])}
        {PAGES.filter(({ admin }) => !admin || seesAll()).map((page) => [
          <dt key={page.path}>
            <kbd>g</kbd> <kbd>{page.key}</kbd>
          </dt>,
          <dd key={`${page.path} name`}>{nameOf(page)}</dd>,
        ])}
      </dl>
    </Dialog>
  );
}
