import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { w } from '../words.js';
import { Button } from './buttons.js';

/** What is shown until it is closed. */
export interface Closable {
  readonly onClose: () => void;
}

interface DialogProps extends Closable {
  readonly title: ComponentChildren;
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
