import type { ComponentChild, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { reload } from '../drafts.js';
import { Button } from '../parts/buttons.js';
import { atom } from '../state.js';
import { w } from '../words.js';

/** Whether the page is from a different build than the gateway that answers. */
export const upgraded = atom(false);

/** A part of this page is of a release that no gateway has any more. */
export function ChunkGone() {
  return (
    <div class="card empty">
      <strong>{w().shell.chunkGone}</strong>
      <Button kind="main" onClick={reload}>
        {w().shell.reload}
      </Button>
    </div>
  );
}

export function chunkIsGone(error: unknown): void {
  console.info('a part of the page cannot be loaded:', error);
  upgraded.set(true);
}

/** A component in a separate chunk; renders nothing until the chunk has loaded, and `Gone` where it is not to be had. */
export function lazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Gone: ComponentType,
): (props: Props) => ComponentChild {
  return (props) => {
    const [Part, setPart] = useState<ComponentType<Props>>();
    useEffect(() => {
      load().then(
        (part) => setPart(() => part),
        (error: unknown) => {
          chunkIsGone(error);
          setPart(() => Gone);
        },
      );
    }, []);
    return Part === undefined ? null : <Part {...props} />;
  };
}
