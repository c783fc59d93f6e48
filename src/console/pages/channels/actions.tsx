import { useState } from 'preact/hooks';
import { call, type ItemOf, type ReplyOf } from '../../api/call.js';
import { useRead, useWrite } from '../../api/query.js';
import { isFailing } from '../../lib/attention.js';
import { dependsOnChannels, dependsOnPresence } from '../../lib/depends.js';
import { percent } from '../../lib/format.js';
import { Button } from '../../parts/buttons.js';
import { TextField } from '../../parts/fields.js';
import { ErrorNotice } from '../../parts/notices.js';
import { State } from '../../parts/values.js';
import { Consequence } from '../../parts/consequence.js';
import { ConfirmWrite, WriteFailed } from '../../parts/confirm-write.js';
import { Dialog, Menu } from '../../parts/dialog.js';
import { InForce, tellInForce } from '../../parts/in-force.js';
import { toast } from '../../parts/toast.js';
import { navigate, setQuery } from '../../router.js';
import { faultWords, w, wp } from '../../words.js';

export type Channel = ItemOf<'listChannels'>;

/** Why a channel may take no traffic. */
export const REASONS = [
  ...(['disabled', 'auto_disabled', 'tag_disabled'] as const),
  ...(['credentials_locked', 'unusable'] as const),
];

const SIGNS = {
  disabled: 'off',
  tag_disabled: 'off',
  auto_disabled: 'bad',
  credentials_locked: 'warn',
  unusable: 'warn',
} as const;

/** Whether the channel takes traffic, and if not, why, in words. */
export function ChannelState({
  channel: { effective },
  recent,
}: {
  readonly channel: Channel;
  /** Its attempts of the last minutes. */
  readonly recent?: { readonly requests: number; readonly failed: number } | undefined;
}) {
  const { states } = wp().channels;
  const pause = effective.live ? pauseOf(effective.paused) : undefined;
  if (effective.live && recent !== undefined && isFailing(recent.requests, recent.failed)) {
    const share = percent(recent.failed / recent.requests);
    return (
      <State sign="bad">
        <span title={pause ?? wp().channels.fails(share)}>{wp().channels.fails(share)}</span>
      </State>
    );
  }
  if (pause !== undefined) return <State sign="busy">{pause}</State>;
  if (effective.live) return <State sign="ok">{states.live}</State>;
  const because = effective.because ?? 'off';
  const signs: Readonly<Record<string, 'off' | 'bad' | 'warn'>> = SIGNS;
  return (
    <State sign={signs[because] ?? 'warn'}>
      <span title={effective.reason ?? undefined}>
        {effective.reason === null
          ? (states[because] ?? because)
          : wp().channels.because(states[because] ?? because, effective.reason)}
      </span>
    </State>
  );
}

/** Who leaves a channel alone, for how long, and why; nodes tell of pauses that have just ended, too. */
function pauseOf(paused: Channel['effective']['paused']): string | undefined {
  const now = Date.now() / 1000;
  const pause = paused.find(({ until }) => until > now);
  if (pause === undefined) return undefined;
  const left = Math.ceil(pause.until - now);
  return wp().channels.pausedOn(pause.node, left, faultWords(pause.reason));
}

type Asking = 'off' | 'delete' | 'copy';

/** Actions on one channel, from its row and from its drawer. */
export function ChannelActions({ channel }: { readonly channel: Channel }) {
  const { id, name, status, origin, models } = channel;
  const [asking, setAsking] = useState<Asking>();
  const words = wp().channels;
  const isStored = origin === 'store';
  const on = useWrite(() => call('updateChannel', { query: STATUS_ONLY, body: { id, status: 1 } }));
  const close = (): void => setAsking(undefined);
  const model = Object.keys(models)[0];
  return (
    <>
      <Menu
        label={`${w().actions}: ${name}`}
        items={[
          { label: w().open, onClick: () => setQuery({ open: id, edit: '', test: '' }) },
          { label: words.test, onClick: () => setQuery({ open: id, edit: '', test: '1' }) },
          isStored
            ? { label: w().edit, onClick: () => setQuery({ open: id, edit: '1', test: '' }) }
            : undefined,
          { label: words.copy, onClick: () => setAsking('copy') },
          model === undefined
            ? undefined
            : { label: words.playground, onClick: () => navigate(playgroundOf(channel)) },
          status === 1
            ? { label: words.switchOff, onClick: () => setAsking('off') }
            : { label: words.switchOn, onClick: () => void on.run(undefined).then(tellInForce) },
          isStored
            ? { label: `${w().delete}…`, danger: true, onClick: () => setAsking('delete') }
            : undefined,
        ]}
      >
        ⋯
      </Menu>
      <WriteFailed title={name} of={on} />
      {asking === 'off' ? <SwitchOff channel={channel} onClose={close} /> : null}
      {asking === 'delete' ? <Delete ids={[id]} name={name} onClose={close} /> : null}
      {asking === 'copy' ? <Copy channel={channel} onClose={close} /> : null}
    </>
  );
}

const STATUS_ONLY = { status_only: 'true' } as const;

/** The playground with a lane for just this channel, which ranks there even if it is switched off. */
export function playgroundOf({ id, models }: Channel): string {
  const [model = ''] = Object.keys(models);
  return `playground?channel=${id}&model=${encodeURIComponent(model)}`;
}

function SwitchOff({
  channel: { id, name },
  onClose,
}: {
  readonly channel: Channel;
  readonly onClose: () => void;
}) {
  const models = useRead('listChannelModels');
  return (
    <ConfirmWrite
      title={wp().channels.offTitle(name)}
      action={wp().channels.off}
      needs={models}
      write={(why) =>
        call('updateChannel', { query: STATUS_ONLY, body: { id, status: 2, ...why } })
      }
      onDone={tellInForce}
      onClose={onClose}
    >
      <p class="muted">{wp().channels.offHelp}</p>
      {models.data === undefined ? null : (
        <Consequence dependence={dependsOnChannels(new Set([id]), models.data)} />
      )}
    </ConfirmWrite>
  );
}

function Delete({
  ids,
  name,
  onClose,
}: {
  readonly ids: readonly number[];
  readonly name?: string;
  readonly onClose: () => void;
}) {
  const models = useRead('listChannelModels');
  const words = wp().channels;
  return (
    <ConfirmWrite
      title={name === undefined ? words.deleteManyTitle(ids.length) : words.deleteTitle(name)}
      action={w().delete}
      typed={name}
      needs={models}
      write={(why) => call('deleteChannels', { body: { ids: [...ids], ...why } })}
      onDone={() => {
        toast(w().deleted);
        setQuery({ open: '' }, { replace: true });
      }}
      onClose={onClose}
    >
      <p>{words.deleteHelp}</p>
      {models.data === undefined ? null : (
        <Consequence dependence={dependsOnPresence(new Set(ids), models.data)} />
      )}
    </ConfirmWrite>
  );
}

function Copy({
  channel: { id, name },
  onClose,
}: {
  readonly channel: Channel;
  readonly onClose: () => void;
}) {
  const [copyName, setCopyName] = useState(`${name}-copy`);
  const words = wp().channels;
  const copy = useWrite((wanted: string, key) =>
    call('copyChannel', { params: { id }, body: { name: wanted, status: 2 }, key }),
  );
  return (
    <Dialog
      title={words.copyTitle(name)}
      onClose={onClose}
      onSubmit={() =>
        void copy.run(copyName.trim()).then((made) => {
          if (made === undefined) return;
          onClose();
          setQuery({ open: made.id, edit: '1' });
        })
      }
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={copy.busy || copyName.trim() === ''}>
            {words.makeCopy}
          </Button>
        </>
      }
    >
      <p class="muted">{words.copyHelp}</p>
      <TextField label={words.copyName} value={copyName} onInput={setCopyName} required />
      <ErrorNotice error={copy.error} />
    </Dialog>
  );
}

/** Actions on several channels at once. */
export function Chosen({
  ids,
  onDone,
  onSwitched,
}: {
  readonly ids: ReadonlySet<string | number>;
  readonly onDone: () => void;
  readonly onSwitched: (done: SwitchedMany) => void;
}) {
  const [asking, setAsking] = useState<'tag' | 'delete' | 'off'>();
  const numbers = [...ids].map(Number);
  const on = useWrite(() => call('switchChannels', { body: { ids: numbers, status: 1 } }));
  const settle = (status: 1 | 2, how: Switched): void => {
    onSwitched({ status, how });
    onDone();
  };
  const close = (): void => setAsking(undefined);
  return (
    <div class="notice chosen" role="status">
      <span class="grow">{w().selected(ids.size)}</span>
      <Button onClick={() => setAsking('off')}>{wp().channels.switchOff}</Button>
      <Button
        disabled={on.busy}
        onClick={() =>
          void on.run(undefined).then((how) => {
            if (how !== undefined) settle(1, how);
          })
        }
      >
        {wp().channels.switchOn}
      </Button>
      <Button onClick={() => setAsking('tag')}>{wp().channels.retag}</Button>
      <Button onClick={() => setAsking('delete')}>{w().delete}…</Button>
      <Button kind="quiet" onClick={onDone}>
        {w().none}
      </Button>
      <WriteFailed title={wp().channels.switchOn} of={on} />
      {asking === 'off' ? (
        <SwitchManyOff ids={numbers} onClose={close} onSwitched={(how) => settle(2, how)} />
      ) : null}
      {asking === 'tag' ? (
        <Retag
          ids={numbers}
          onClose={() => {
            close();
            onDone();
          }}
          onCancel={close}
        />
      ) : null}
      {asking === 'delete' ? (
        <Delete
          ids={numbers}
          onClose={() => {
            close();
            onDone();
          }}
        />
      ) : null}
    </div>
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
}: {
  readonly ids: readonly number[];
  readonly onSwitched: (how: Switched) => void;
  readonly onClose: () => void;
}) {
  const models = useRead('listChannelModels');
  const { dark } = dependsOnChannels(new Set(ids), models.data ?? []);
  return (
    <ConfirmWrite
      title={wp().channels.offManyTitle(ids.length)}
      action={wp().channels.off}
      typed={dark[0]}
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
  const undo = useWrite((wanted: 1 | 2) =>
    call('switchChannels', { body: { ids: [...ids], status: wanted } }),
  );
  const back = status === 1 ? 2 : 1;
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
        <Button
          disabled={undo.busy}
          onClick={() =>
            void undo.run(back).then((undone) => {
              if (undone !== undefined) onDone({ status: back, how: undone });
            })
          }
        >
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
}: {
  readonly ids: readonly number[];
  readonly onClose: () => void;
  readonly onCancel: () => void;
}) {
  const [tag, setTag] = useState('');
  const tags = useRead('listTags');
  const words = wp().channels;
  const retag = useWrite((wanted: string) =>
    call('retagChannels', { body: { ids: [...ids], tag: wanted === '' ? null : wanted } }),
  );
  return (
    <Dialog
      title={words.retagTitle(ids.length)}
      onClose={onCancel}
      onSubmit={() =>
        void retag.run(tag.trim()).then((done) => {
          if (done === undefined) return;
          tellInForce(done);
          onClose();
        })
      }
      foot={
        <>
          <Button onClick={onCancel}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={retag.busy}>
            {words.give}
          </Button>
        </>
      }
    >
      <TextField
        label={words.tag}
        help={words.retagHelp}
        value={tag}
        onInput={setTag}
        options={(tags.data ?? []).map((one) => one.tag)}
      />
      <ErrorNotice error={retag.error} />
    </Dialog>
  );
}
