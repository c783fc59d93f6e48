import { useEffect, useRef } from 'preact/hooks';
import { atom, useAtom } from '../state.js';

interface Toast {
  readonly id: number;
  readonly text: string;
}

const toasts = atom<readonly Toast[]>([]);
const SHOWN_MS = 4_000;
let made = 0;

/** Briefly shows what has been done; never the only place where an important message appears. */
export function toast(text: string): void {
  made += 1;
  const id = made;
  toasts.set([...toasts.get(), { id, text }]);
  setTimeout(() => toasts.set(toasts.get().filter((shown) => shown.id !== id)), SHOWN_MS);
}

export function Toasts() {
  const shown = useAtom(toasts);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Reopened for each toast, so that it is above any dialog that has opened meanwhile.
    if (box.current?.matches(':popover-open') === true) box.current.hidePopover();
    if (shown.length > 0) box.current?.showPopover();
  }, [shown]);
  return (
    <div class="toasts" popover="manual" ref={box} role="status" aria-live="polite">
      {shown.map(({ id, text }) => (
        <div class="toast" key={id}>
          {text}
        </div>
      ))}
    </div>
  );
}
