import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError } from '../api/call.js';
import type { Closable } from './dialog.js';
import { FormDialog, ReasonField, savedThen, whyOf, type Why } from './form-dialog.js';
import { messageOf } from './notices.js';

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
}: Closable & {
  readonly items: readonly T[];
  readonly title: string;
  readonly action: string;
  readonly danger?: boolean;
  readonly ready?: boolean;
  readonly write: (item: T, why: Why) => Promise<unknown>;
  readonly children?: ComponentChildren;
}) {
  const [reason, setReason] = useState('');
  const [failed, setFailed] = useState<readonly Failed<T>[]>([]);
  const left = failed.length === 0 ? items : failed.map(({ item }) => item);
  const writeAll = async (why: Why): Promise<readonly Failed<T>[]> => {
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
  };
  return (
    <FormDialog
      {...{ title, action, danger, ready, onClose }}
      body={whyOf(reason)}
      write={writeAll}
      onDone={(found) => {
        setFailed(found);
        if (found.length === 0) savedThen(onClose)();
      }}
    >
      {children}
      <ReasonField value={reason} onInput={setReason} />
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
    </FormDialog>
  );
}
