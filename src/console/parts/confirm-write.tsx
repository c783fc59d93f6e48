import { useLayoutEffect, useState } from 'preact/hooks';
import { useWrite, type Reading, type Writing } from '../api/query.js';
import { ErrorNotice } from './notices.js';
import { w } from '../words.js';
import { Confirm, Dialog, type ConfirmProps } from './dialog.js';

/** The reason for a write; empty if none was given. */
interface Why {
  readonly reason?: string;
}

interface ConfirmWriteProps<T> extends Omit<ConfirmProps, 'busy' | 'error' | 'onConfirm'> {
  /** `key` is for `Idempotency-Key`. */
  readonly write: (why: Why, key: string) => Promise<T>;
  /** Called after the write, before the dialog closes. */
  readonly onDone: (reply: T) => void;
  /** Whether the result replaces the question. */
  readonly staysOpen?: boolean;
  /** Data that the question is based on: nothing can be confirmed until it has been read. */
  readonly needs?: Pick<Reading<unknown>, 'data' | 'error'> | undefined;
}

/** Asks, writes, and closes. A write that fails leaves the question open and shows the error. */
export function ConfirmWrite<T>(props: ConfirmWriteProps<T>) {
  const { write, onDone, needs, staysOpen = false, ...question } = props;
  const writing = useWrite(async (why: Why, key) => ({ reply: await write(why, key) }));
  return (
    <Confirm
      {...question}
      busy={writing.busy || (needs !== undefined && needs.data === undefined)}
      error={<ErrorNotice error={writing.error ?? needs?.error} />}
      onConfirm={(reason) =>
        void writing.run(reason === '' ? {} : { reason }).then((done) => {
          if (done === undefined) return;
          onDone(done.reply);
          if (!staysOpen) question.onClose();
        })
      }
    />
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
