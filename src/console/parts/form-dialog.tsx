import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { useWrite } from '../api/query.js';
import { w } from '../words.js';
import { Button } from './buttons.js';
import { Dialog } from './dialog.js';
import { TextField } from './fields.js';
import { useInSight } from './in-sight.js';
import { Meanwhile, presentOf, type Comparable } from './meanwhile.js';
import { FormError } from './notices.js';
import { toast } from './toast.js';

interface FormDialogProps<B, T> {
  readonly title: string;
  readonly kind?: 'dialog' | 'drawer';
  readonly action: string;
  readonly danger?: boolean;
  readonly ready?: boolean;
  /** What is written: for the same, `write` gets the same key. */
  readonly body: B;
  readonly write: (body: B, key: string) => Promise<T>;
  readonly onDone: (reply: T) => void;
  readonly onClose: () => void;
  /** Where the button leads that leaves without writing; the dialog is closed unless given. */
  readonly onCancel?: (() => void) | undefined;
  /** The fields that show their errors themselves. */
  readonly fields?: readonly string[];
  /** What takes the place of the error below the fields. */
  readonly instead?: (error: ApiError | undefined, again: Again<B>) => ComponentChildren;
  readonly children: ComponentChildren | ((error: ApiError | undefined) => ComponentChildren);
}

interface Again<B> {
  readonly run: (body: B) => Promise<unknown>;
  readonly clear: () => void;
}

/** A form that writes: a refusal leaves it as it was, and is scrolled to, wherever in the dialog it stands. */
export function FormDialog<B, T>(props: FormDialogProps<B, T>) {
  const { title, kind, action, danger = false, ready = true, body, onDone, onClose } = props;
  const { onCancel = onClose, fields = [], instead, children } = props;
  const { run, busy, error, clear } = useWrite(props.write, onDone);
  const end = useRef<HTMLDivElement>(null);
  useInSight(error, () => end.current?.parentElement);
  const problem = instead?.(error, { run, clear });
  return (
    <Dialog
      title={title}
      {...(kind === undefined ? {} : { kind })}
      onClose={onClose}
      onSubmit={() => {
        if (ready && !busy) void run(body);
      }}
      foot={
        <>
          <Button onClick={onCancel}>{w().cancel}</Button>
          <Button kind={danger ? 'danger' : 'main'} type="submit" disabled={busy || !ready}>
            {action}
          </Button>
        </>
      }
    >
      {typeof children === 'function' ? children(error) : children}
      {problem ?? <FormError error={error} fields={fields} />}
      <div ref={end} />
    </Dialog>
  );
}

/** Why something is written, for the audit log. */
export interface Why {
  readonly reason?: string;
}

export function whyOf(reason: string): Why {
  return reason.trim() === '' ? {} : { reason: reason.trim() };
}

export function ReasonField({
  value,
  onInput,
}: {
  readonly value: string;
  readonly onInput: (text: string) => void;
}) {
  return <TextField label={w().reason} help={w().reasonHelp} value={value} onInput={onInput} />;
}

/** What a part of a form gets: the draft, how it is changed, and what was wrong with it. */
export interface DraftPart<D> {
  readonly draft: D;
  readonly onChange: (draft: D) => void;
  readonly error: ApiError | undefined;
}

interface EditDialogProps<T, D> {
  readonly of: T;
  readonly title: string;
  readonly kind?: 'dialog' | 'drawer';
  readonly draftOf: (of: T) => D;
  readonly ready: (draft: D) => boolean;
  /** Writes what differs from `from`. */
  readonly write: (from: T, draft: D, why: Why) => Promise<unknown>;
  readonly comparable: (draft: D) => Comparable;
  readonly labels: Readonly<Record<string, string>>;
  readonly fields: readonly string[];
  readonly onDone: (reply: unknown) => void;
  readonly onClose: () => void;
  readonly onCancel?: () => void;
  readonly children: (form: DraftPart<D>) => ComponentChildren;
}

/** Changes a record; whoever changed it meanwhile is not overwritten without a question. */
export function EditDialog<T, D>(props: EditDialogProps<T, D>) {
  const { title, kind, draftOf, comparable, labels, fields, onClose, children } = props;
  const [base, setBase] = useState(props.of);
  const [draft, setDraft] = useState(() => draftOf(props.of));
  const [reason, setReason] = useState('');
  return (
    <FormDialog
      title={title}
      {...(kind === undefined ? {} : { kind })}
      action={w().save}
      ready={props.ready(draft)}
      body={base}
      write={(from: T) => props.write(from, draft, whyOf(reason))}
      onDone={props.onDone}
      onClose={onClose}
      onCancel={props.onCancel}
      fields={fields}
      instead={(error, again) => {
        // The refusal has the record as the operation that reads it answers.
        const present = presentOf(error) as T | undefined;
        if (present === undefined) return undefined;
        return (
          <Meanwhile
            now={present}
            theirs={(now) => comparable(draftOf(now))}
            mine={comparable(draft)}
            labels={labels}
            onKeep={(now) => {
              setBase(now);
              void again.run(now);
            }}
            onTake={(now) => {
              setBase(now);
              setDraft(draftOf(now));
              again.clear();
            }}
          />
        );
      }}
    >
      {(error) => (
        <>
          {children({ draft, onChange: setDraft, error })}
          <ReasonField value={reason} onInput={setReason} />
        </>
      )}
    </FormDialog>
  );
}

/** Tells that something was written, and closes its dialog. */
export function savedThen(onClose: () => void): () => void {
  return () => {
    toast(w().saved);
    onClose();
  };
}
