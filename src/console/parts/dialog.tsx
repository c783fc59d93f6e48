import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { w } from '../words.js';
import { Button } from './buttons.js';

interface DialogProps {
  readonly title: ComponentChildren;
  readonly onClose: () => void;
  readonly kind?: 'dialog' | 'drawer' | 'wide';
  readonly children: ComponentChildren;
  readonly foot?: ComponentChildren;
  /** Called on submit; makes the whole dialog a form. */
  readonly onSubmit?: () => void;
  /** Handles keys on the dialog, such as `e` in a drawer. */
  readonly onKey?: ((event: KeyboardEvent) => void) | undefined;
  readonly closable?: boolean;
}

/** A native dialog: it traps the focus, closes with Esc, and returns the focus. */
export function Dialog(props: DialogProps) {
  const {
    title,
    onClose,
    kind = 'dialog',
    children,
    foot,
    onSubmit,
    onKey,
    closable = true,
  } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // A layout effect, because the very next key must go to the dialog.
  useLayoutEffect(() => {
    const before = document.activeElement;
    const element = dialog.current;
    if (element !== null && !element.open) {
      element.showModal();
      // Not the close button: whoever opened the dialog wants to continue.
      element
        .querySelector<HTMLElement>(
          '.dialog-body :is(input, textarea, select, a, button), .dialog-foot .main',
        )
        ?.focus();
    }
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const inside = (
    <>
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        {closable ? (
          <Button kind="icon" label={w().close} onClick={onClose}>
            ✕
          </Button>
        ) : null}
      </div>
      <div class="dialog-body">{children}</div>
      {foot === undefined ? null : <div class="dialog-foot">{foot}</div>}
    </>
  );
  return (
    <dialog
      ref={dialog}
      class={kind}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (closable) onClose();
      }}
      onClose={(event) => {
        // On a second Esc without other input in between, Chromium closes the dialog even if cancelling was prevented.
        if (dialog.current === event.currentTarget && !event.currentTarget.open) {
          event.currentTarget.showModal();
        }
      }}
      onKeyDown={(event) => {
        onKey?.(event);
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit?.();
      }}
      onMouseDown={(event) => {
        if (event.target === event.currentTarget && kind === 'drawer') onClose();
      }}
    >
      {onSubmit === undefined ? (
        inside
      ) : (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            onSubmit();
          }}
        >
          {inside}
        </form>
      )}
    </dialog>
  );
}

export interface ConfirmProps {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly action: string;
  /** Text that must be typed first. */
  readonly typed?: string | undefined;
  readonly askReason?: boolean;
  readonly busy?: boolean;
  readonly error?: ComponentChildren;
  readonly onConfirm: (reason: string) => void;
  readonly onClose: () => void;
}

/** Asks before something dangerous, states the consequences, and takes a reason. */
export function Confirm(props: ConfirmProps) {
  const { title, children, action, typed, askReason = true, busy, error } = props;
  const { onConfirm, onClose } = props;
  const [reason, setReason] = useState('');
  const [text, setText] = useState('');
  const id = useId();
  const ready = typed === undefined || text.trim() === typed;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (ready && busy !== true) onConfirm(reason.trim());
      }}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="danger" type="submit" disabled={!ready || busy === true}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      {askReason ? (
        <div class="field">
          <label for={`${id}-reason`}>{w().reason}</label>
          <input
            id={`${id}-reason`}
            class="input"
            value={reason}
            autocomplete="off"
            placeholder={w().reasonHelp}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </div>
      ) : null}
      {typed === undefined ? null : (
        <div class="field">
          <label for={`${id}-typed`}>
            {w().typeToConfirm} <code>{typed}</code>
          </label>
          <input
            id={`${id}-typed`}
            class="input mono"
            value={text}
            autocomplete="off"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
      )}
      {error}
    </Dialog>
  );
}

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
