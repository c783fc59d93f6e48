import { useState } from 'preact/hooks';
import { call, type ItemOf } from '../api/call.js';
import { useRead } from '../api/query.js';
import { bodyOf, isSame, undoOf, type Undo, type UndoKind } from '../lib/audit.js';
import type { Closable } from '../parts/dialog.js';
import { ConfirmWrite } from '../parts/confirm-write.js';
import { Value, ValueHead } from '../parts/member-value.js';
import { Skeleton } from '../parts/notices.js';
import { toast } from '../parts/toast.js';
import { wp } from '../words.js';

type Entry = ItemOf<'listAudit'>;
type Known = Readonly<Record<string, unknown>>;

/** How a record is read, and written. */
const OPERATIONS = {
  channel: ['getChannel', 'updateChannel'],
  token: ['getToken', 'updateToken'],
  user: ['getUser', 'updateUser'],
  redemption: ['getRedemptionCode', 'updateRedemptionCode'],
} as const;

/** What would be set back, beside what there is now: nothing is before it is confirmed. */
export function UndoDialog({ entry, onClose }: Closable & { readonly entry: Entry }) {
  const undo = undoOf(entry);
  if (undo === undefined) return null;
  return undo.kind === 'tag' ? (
    <TagUndo entry={entry} undo={undo} onClose={onClose} />
  ) : (
    <RecordUndo entry={entry} undo={undo} kind={undo.kind} onClose={onClose} />
  );
}

interface UndoProps {
  readonly entry: Entry;
  readonly undo: Undo;
  readonly onClose: () => void;
}

function TagUndo({ entry, undo, onClose }: UndoProps) {
  const tags = useRead('listTags');
  const now = tags.data?.find(({ tag }) => tag === undo.of);
  return (
    <Question
      {...{ entry, undo, onClose }}
      needs={tags}
      now={now}
      write={(back, why) => {
        const { disabled, reason } = back;
        const told = typeof reason === 'string' && why.reason === undefined ? { reason } : why;
        const body = { tag: undo.of, ...told };
        return disabled === true ? call('disableTag', { body }) : call('enableTag', { body });
      }}
    />
  );
}

function RecordUndo({ kind, ...props }: UndoProps & { readonly kind: Exclude<UndoKind, 'tag'> }) {
  const id = Number(props.undo.of);
  const [read, update] = OPERATIONS[kind];
  const reading = useRead(read, { params: { id } });
  const { data } = reading;
  return (
    <Question
      {...props}
      needs={reading}
      now={data}
      // The members are those of the update, since the audit log has them under its names.
      write={(back, why) =>
        call(update, { body: { ...back, id, ...why, if_revision: data?.revision } as never })
      }
    />
  );
}

function Question({
  entry,
  undo,
  onClose,
  needs,
  now,
  write,
}: UndoProps & {
  readonly needs: Parameters<typeof ConfirmWrite>[0]['needs'];
  readonly now: Known | undefined;
  readonly write: (
    back: Record<string, unknown>,
    why: { readonly reason?: string },
  ) => Promise<unknown>;
}) {
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set());
  const words = wp().audit;
  const differing = undo.changes.filter(
    ({ member, before }) => now === undefined || !isSame(now[member], before),
  );
  const wanted = differing.filter(({ member }) => !kept.has(member));
  const toggle = (member: string): void => {
    const next = new Set(kept);
    if (!next.delete(member)) next.add(member);
    setKept(next);
  };
  return (
    <ConfirmWrite
      title={words.undoTitle(entry.name ?? entry.target)}
      action={words.undoAction}
      needs={wanted.length === 0 ? { data: undefined, error: undefined } : needs}
      write={(why) => write(bodyOf(wanted), why)}
      onDone={() => toast(words.undone)}
      onClose={onClose}
    >
      {now === undefined ? <Skeleton lines={3} /> : null}
      {now !== undefined && differing.length === 0 ? <p>{words.already}</p> : null}
      {now === undefined || differing.length === 0 ? null : (
        <>
          <p>{words.undoHelp}</p>
          <table class="plain">
            <ValueHead titles={[words.member, words.now, words.back]} />
            <tbody>
              {differing.map(({ member, before, after }) => (
                <tr key={member}>
                  <th scope="row">
                    <label>
                      <input
                        type="checkbox"
                        checked={!kept.has(member)}
                        onChange={() => toggle(member)}
                      />{' '}
                      <code>{member}</code>
                    </label>
                  </th>
                  <td class="wrap">
                    <Value member={member} value={now[member]} />
                    {isSame(now[member], after) ? null : (
                      <span class="muted small"> ({words.changedSince})</span>
                    )}
                  </td>
                  <td class="wrap">
                    <Value member={member} value={before} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {undo.left.length === 0 ? null : <p class="muted">{words.left(undo.left.join(', '))}</p>}
    </ConfirmWrite>
  );
}
