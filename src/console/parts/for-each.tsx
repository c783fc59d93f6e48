import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/call.js';
import { useWrite } from '../api/query.js';
import { w } from '../words.js';
import { Button } from './buttons.js';
import { TextField } from './fields.js';
import { ErrorNotice, messageOf } from './notices.js';
import { Dialog } from './dialog.js';
import { toast } from './toast.js';

interface Named {
  readonly id: number;
  readonly name: string;
}

interface Failed<T> {
  readonly item: T;
  readonly error: ApiError;
}

/**
 * Asks, and writes one item after the other. Those that fail stay in the dialog with the reason, and a second press is for
 * them alone, so that nothing is added twice.
 */
export function ForEach<T extends Named>({
  items,
  title,
  action,
  danger = false,
  ready = true,
  write,
  onClose,
  children,
}: {
  readonly items: readonly T[];
  readonly title: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly ready?: boolean;
  readonly write: (item: T, why: { readonly reason?: string }) => Promise<unknown>;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}) {
  const [reason, setReason] = useState('');
  const [failed, setFailed] = useState<readonly Failed<T>[]>([]);
  const left = failed.length === 0 ? items : failed.map(({ item }) => item);
  const writing = useWrite(async () => {
    const why = reason.trim() === '' ? {} : { reason: reason.trim() };
    const found: Failed<T>[] = [];
    for (const item of left) {
      try {
        await write(item, why);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        found.push({ item, error });
      }
    }
    return found;
  });
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={() => {
        if (!ready || writing.busy) return;
        void writing.run(undefined).then((found) => {
          setFailed(found ?? []);
          if (found?.length !== 0) return;
          toast(w().saved);
          onClose();
        });
      }}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind={danger ? 'danger' : 'main'} type="submit" disabled={!ready || writing.busy}>
            {action}
          </Button>
        </>
      }
    >
      {children}
      <TextField label={w().reason} help={w().reasonHelp} value={reason} onInput={setReason} />
      {failed.length === 0 ? null : (
        <div class="notice bad-bar" role="alert">
          <ul class="stack tight">
            {failed.map(({ item, error }) => (
              <li key={item.id} class="wrap">
                <strong>{item.name}</strong>: {messageOf(error)}
              </li>
            ))}
          </ul>
        </div>
      )}
      <ErrorNotice error={writing.error} />
    </Dialog>
  );
}
