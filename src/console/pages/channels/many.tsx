import { useState } from 'preact/hooks';
import { call, type ReplyOf } from '../../api/call.js';
import { useRead, useWrite } from '../../api/query.js';
import { dependsOnChannels } from '../../../core/depends.js';
import { Button } from '../../parts/buttons.js';
import type { Closable } from '../../parts/dialog.js';
import { ConfirmWrite } from '../../parts/confirm-write.js';
import { Consequence } from '../../parts/consequence.js';
import { TextField } from '../../parts/fields.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { InForce, tellInForce } from '../../parts/in-force.js';
import { ErrorNotice } from '../../parts/notices.js';
import { ChosenBar } from '../../parts/row-menu.js';
import { w, wp } from '../../words.js';
import { Delete } from './actions.js';

/** Actions on several channels at once. */
export function Chosen({
  ids,
  onDone,
  onSwitched,
}: {
  readonly ids: readonly number[];
  readonly onDone: () => void;
  readonly onSwitched: (done: SwitchedMany) => void;
}) {
  const words = wp().channels;
  const settle = (status: 1 | 2, how: Switched): void => {
    onSwitched({ status, how });
    onDone();
  };
  const both = (onClose: () => void) => (): void => {
    onClose();
    onDone();
  };
  return (
    <ChosenBar
      count={ids.length}
      onDone={onDone}
      items={[
        {
          label: wp().tags.offAsk,
          ask: (onClose) => (
            <SwitchManyOff ids={ids} onClose={onClose} onSwitched={(how) => settle(2, how)} />
          ),
        },
        {
          label: wp().tags.on,
          write: async () =>
            settle(1, await call('switchChannels', { body: { ids: [...ids], status: 1 } })),
        },
        {
          label: words.retag,
          ask: (onClose) => <Retag ids={ids} onClose={both(onClose)} onCancel={onClose} />,
        },
        {
          label: `${w().delete}…`,
          ask: (onClose) => <Delete ids={ids} onClose={both(onClose)} />,
        },
      ]}
    />
  );
}

type Switched = ReplyOf<'switchChannels'>;

/** What switching several channels has changed, and how it took effect. */
export interface SwitchedMany {
  readonly status: 1 | 2;
  readonly how: Switched;
}

function SwitchManyOff({
  ids,
  onSwitched,
  onClose,
}: Closable & { readonly ids: readonly number[]; readonly onSwitched: (how: Switched) => void }) {
  const models = useRead('listChannelModels');
  const { dark } = dependsOnChannels(new Set(ids), models.data ?? []);
  return (
    <ConfirmWrite
      title={wp().channels.offManyTitle(ids.length)}
      action={wp().tags.off}
      typed={dark.length === 0 ? undefined : String(ids.length)}
      needs={models}
      write={(why) => call('switchChannels', { body: { ids: [...ids], status: 2, ...why } })}
      onDone={onSwitched}
      onClose={onClose}
    >
      <p class="muted">{wp().channels.offManyHelp}</p>
      {models.data === undefined ? null : (
        <Consequence dependence={dependsOnChannels(new Set(ids), models.data)} />
      )}
    </ConfirmWrite>
  );
}

/** What was switched, on how many gateways it is in force, and an exact undo: it reverts just what was changed. */
export function SwitchedNotice({
  done: { status, how },
  onDone,
}: {
  readonly done: SwitchedMany;
  readonly onDone: (done: SwitchedMany | undefined) => void;
}) {
  const words = wp().channels;
  // The gateway had disabled them: switching them on would not be an undo.
  const ids = how.ids.filter((id) => !how.auto_disabled.includes(id));
  const back = status === 1 ? 2 : 1;
  const undo = useWrite(
    () => call('switchChannels', { body: { ids: [...ids], status: back } }),
    (undone) => onDone({ status: back, how: undone }),
  );
  return (
    <div class="notice" role="status">
      <div class="grow stack tight">
        <strong>{status === 1 ? words.switchedOn(how.count) : words.switchedOff(how.count)}</strong>
        {how.count === 0 ? null : <InForce how={how} />}
        {how.auto_disabled.length === 0 ? null : (
          <span class="small muted">{words.wereOut(how.auto_disabled.length)}</span>
        )}
        <ErrorNotice error={undo.error} />
      </div>
      {ids.length === 0 ? null : (
        <Button disabled={undo.busy} onClick={() => void undo.run(undefined)}>
          {words.undo}
        </Button>
      )}
      <Button kind="icon" label={w().close} onClick={() => onDone(undefined)}>
        ✕
      </Button>
    </div>
  );
}

function Retag({
  ids,
  onClose,
  onCancel,
}: Closable & { readonly ids: readonly number[]; readonly onCancel: () => void }) {
  const [tag, setTag] = useState('');
  const tags = useRead('listTags');
  const words = wp().channels;
  return (
    <FormDialog
      title={words.retagTitle(ids.length)}
      action={words.give}
      body={tag.trim()}
      write={(wanted) =>
        call('retagChannels', { body: { ids: [...ids], tag: wanted === '' ? null : wanted } })
      }
      onDone={(done) => {
        tellInForce(done);
        onClose();
      }}
      onClose={onCancel}
    >
      <TextField
        label={wp().kinds.tag}
        help={words.retagHelp}
        value={tag}
        onInput={setTag}
        options={(tags.data ?? []).map((one) => one.tag)}
      />
    </FormDialog>
  );
}
