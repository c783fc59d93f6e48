import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface MenuItem {
  readonly label: string;
  readonly onClick: () => void;
  readonly danger?: boolean;
}

const GAP_PX = 4;

/** A menu at its button, in the browser's top layer. */
export function Menu({
  label,
  items,
  children,
  kind = 'icon',
}: {
  readonly label: string;
  readonly items: readonly (MenuItem | undefined)[];
  readonly children: ComponentChildren;
  readonly kind?: 'icon' | 'plain' | 'quiet';
}) {
  const menu = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  // A layout effect, because the very next key must go to the menu.
  useLayoutEffect(() => {
    const [element, from] = [menu.current, button.current];
    if (!open || element === null || from === null) return undefined;
    element.showPopover();
    const place = from.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    const below = place.bottom + GAP_PX + height < innerHeight;
    element.style.left = `${Math.max(GAP_PX, Math.min(place.right - width, innerWidth - width - GAP_PX))}px`;
    element.style.top = `${below ? place.bottom + GAP_PX : Math.max(GAP_PX, place.top - height - GAP_PX)}px`;
    element.querySelector('button')?.focus();
    return undefined;
  }, [open]);
  const shown = items.filter((item) => item !== undefined);
  return (
    <>
      <button
        ref={button}
        type="button"
        class={`button ${kind}`}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={open}
        onClick={(event) => {
          event.stopPropagation();
          setOpen(!open);
        }}
      >
        {children}
      </button>
      {open ? (
        <div
          ref={menu}
          popover="auto"
          role="menu"
          aria-label={label}
          class="menu"
          onToggle={(event) => {
            if (event.newState === 'closed') setOpen(false);
          }}
          onClick={(event) => event.stopPropagation()}
          onKeyDown={(event) => {
            const buttons = [...event.currentTarget.querySelectorAll('button')];
            const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
            const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
            if (step !== 0) {
              event.preventDefault();
              buttons[(at + step + buttons.length) % buttons.length]?.focus();
            }
            event.stopPropagation();
            if (event.key === 'Escape' || event.key === 'Tab') {
              event.preventDefault();
              setOpen(false);
              button.current?.focus();
            }
          }}
        >
          {shown.map(({ label: text, onClick, danger = false }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              class={danger ? 'bad' : undefined}
              onClick={() => {
                setOpen(false);
                button.current?.focus();
                onClick();
              }}
            >
              {text}
            </button>
          ))}
        </div>
      ) : null}
    </>
  );
}
