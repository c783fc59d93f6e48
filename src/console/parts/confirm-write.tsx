import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Reading, Writing } from '../api/query.js';
import { w } from '../words.js';
import { Dialog } from './dialog.js';
import { TextField } from './fields.js';
import { FormDialog, whyOf, type Why } from './form-dialog.js';
import { ErrorNotice } from './notices.js';

interface ConfirmWriteProps<T> {
  readonly title: string;
  readonly action: string;
  /** Text that must be typed first. */
  readonly typed?: string | undefined;
  readonly askReason?: boolean;
  /** `key` is for `Idempotency-Key`. */
  readonly write: (why: Why, key: string) => Promise<T>;
  /** Called after the write, before the dialog closes. */
  readonly onDone: (reply: T) => void;
  /** Whether the result replaces the question. */
  readonly staysOpen?: boolean;
  /** Data that the question is based on: nothing can be confirmed until it has been read. */
  readonly needs?: Pick<Reading<unknown>, 'data' | 'error'> | undefined;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

/** Asks before something dangerous, states the consequences, takes a reason, writes, and closes. */
export function ConfirmWrite<T>(props: ConfirmWriteProps<T>) {
  const { title, action, typed, needs, write, onDone, onClose, children } = props;
  const { askReason = true, staysOpen = false } = props;
  const [reason, setReason] = useState('');
  const [text, setText] = useState('');
  return (
    <FormDialog
      title={title}
      action={action}
      danger
      ready={
        (typed === undefined || text.trim() === typed) &&
        (needs === undefined || needs.data !== undefined)
      }
      body={whyOf(reason)}
      write={write}
      onDone={(reply) => {
        onDone(reply);
        if (!staysOpen) onClose();
      }}
      onClose={onClose}
    >
      {children}
      {askReason ? (
        <TextField
          label={w().reason}
          placeholder={w().reasonHelp}
          value={reason}
          onInput={setReason}
        />
      ) : null}
      {typed === undefined ? null : (
        <TextField
          label={
            <>
              {w().typeToConfirm} <code>{typed}</code>
            </>
          }
          value={text}
          onInput={setText}
          mono
        />
      )}
      <ErrorNotice error={needs?.error} />
    </FormDialog>
  );
}

/** The error of a write that has no form. */
export function WriteFailed({
  title,
  of: { error, clear },
}: {
  readonly title: string;
  readonly of: Pick<Writing<never, unknown>, 'error' | 'clear'>;
}) {
  if (error === undefined) return null;
  return (
    <Dialog title={title} onClose={clear}>
      <ErrorNotice error={error} />
    </Dialog>
  );
}

/** Guards a secret that is shown once: the first attempt to leave without taking it only warns. */
export function useShownOnce(onClose: () => void): {
  readonly warns: boolean;
  readonly leaving: boolean;
  /** What the dialog says of itself; a toast is outside of it, where a screen reader does not look now. */
  readonly note: string;
  readonly take: () => void;
  readonly copied: () => void;
  /** Whether it may be left, which it then is. */
  readonly close: () => boolean;
} {
  const [taken, setTaken] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const [copied, setCopied] = useState(false);
  // After the dialog’s own: taking it is what comes next.
  useLayoutEffect(() => {
    document.querySelector<HTMLElement>('dialog[open] .dialog-foot .main')?.focus();
  }, []);
  return {
    leaving,
    warns: leaving && !taken,
    note: copied ? `${w().shownOnce} ${w().copied}` : w().shownOnce,
    take: () => setTaken(true),
    copied: () => {
      setTaken(true);
      setCopied(true);
    },
    close: () => {
      const mayLeave = taken || leaving;
      if (mayLeave) onClose();
      else setLeaving(true);
      return mayLeave;
    },
  };
}
