import { useState } from 'preact/hooks';
import { useWrite, type Reading, type Writing } from '../api/query.js';
import { ErrorNotice } from './basic.js';
import { Confirm, Dialog, type ConfirmProps } from './dialog.js';

/** Why somebody does it; empty where they do not say. */
interface Why {
  readonly reason?: string;
}

interface ConfirmWriteProps<T> extends Omit<ConfirmProps, 'busy' | 'error' | 'onConfirm'> {
  /** `key` is for `Idempotency-Key`. */
  readonly write: (why: Why, key: string) => Promise<T>;
  /** What happens once it is written, before the dialog closes. */
  readonly onDone: (reply: T) => void;
  /** Whether what came of it takes the place of the question. */
  readonly staysOpen?: boolean;
  /** What the question rests on: until it has been read, nothing is confirmed. */
  readonly needs?: Pick<Reading<unknown>, 'data' | 'error'> | undefined;
}

/** Asks, writes, and closes. A write that fails leaves the question open, with what went wrong. */
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

/** What went wrong with a write that has no form of its own. */
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

/** Guards what is shown once: the first attempt to leave without having taken it only warns. */
export function useShownOnce(onClose: () => void): {
  readonly warns: boolean;
  readonly leaving: boolean;
  readonly take: () => void;
  readonly close: () => void;
} {
  const [taken, setTaken] = useState(false);
  const [leaving, setLeaving] = useState(false);
  return {
    leaving,
    warns: leaving && !taken,
    take: () => setTaken(true),
    close: () => {
      if (taken || leaving) onClose();
      else setLeaving(true);
    },
  };
}
