import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { dependsOnChannels, dependsOnPresence } from '../../../core/depends.js';
import type { Closable } from '../../parts/dialog.js';
import { ConfirmWrite } from '../../parts/confirm-write.js';
import { Consequence } from '../../parts/consequence.js';
import { TextField } from '../../parts/fields.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { tellInForce } from '../../parts/in-force.js';
import { RowMenu } from '../../parts/row-menu.js';
import { toast } from '../../parts/toast.js';
import { navigate, setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import type { Channel } from './state.js';

/** Actions on one channel, from its row and from its drawer. */
export function ChannelActions({ channel }: { readonly channel: Channel }) {
  const { id, name, status, origin, models } = channel;
  const words = wp().channels;
  const isStored = origin === 'store';
  return (
    <RowMenu
      name={name}
      items={[
        { label: w().open, onClick: () => setQuery({ open: id, edit: '', test: '' }) },
        { label: words.test, onClick: () => setQuery({ open: id, edit: '', test: '1' }) },
        isStored
          ? { label: w().edit, onClick: () => setQuery({ open: id, edit: '1', test: '' }) }
          : undefined,
        { label: words.copy, ask: (onClose) => <Copy channel={channel} onClose={onClose} /> },
        Object.keys(models).length === 0
          ? undefined
          : { label: words.playground, onClick: () => navigate(playgroundOf(channel)) },
        status === 1
          ? {
              label: wp().tags.offAsk,
              ask: (onClose) => <SwitchOff channel={channel} onClose={onClose} />,
            }
          : {
              label: wp().tags.on,
              write: () =>
                call('updateChannel', { query: STATUS_ONLY, body: { id, status: 1 } }).then(
                  tellInForce,
                ),
            },
        isStored
          ? {
              label: `${w().delete}…`,
              danger: true,
              ask: (onClose) => <Delete ids={[id]} name={name} onClose={onClose} />,
            }
          : undefined,
      ]}
    />
  );
}

const STATUS_ONLY = { status_only: 'true' } as const;

/** The playground with a lane for just this channel, which ranks there even if it is switched off. */
export function playgroundOf({ id, models }: Channel): string {
  const [model = ''] = Object.keys(models);
  return `playground?channel=${id}&model=${encodeURIComponent(model)}`;
}

function SwitchOff({ channel: { id, name }, onClose }: Closable & { readonly channel: Channel }) {
  const models = useRead('listChannelModels');
  return (
    <ConfirmWrite
      title={wp().channels.offTitle(name)}
      action={wp().tags.off}
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

export function Delete({
  ids,
  name,
  onClose,
}: Closable & { readonly ids: readonly number[]; readonly name?: string }) {
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

function Copy({ channel: { id, name }, onClose }: Closable & { readonly channel: Channel }) {
  const [copyName, setCopyName] = useState(`${name}-copy`);
  const words = wp().channels;
  return (
    <FormDialog
      title={words.copyTitle(name)}
      action={words.makeCopy}
      ready={copyName.trim() !== ''}
      body={copyName.trim()}
      write={(wanted, key) =>
        call('copyChannel', { params: { id }, body: { name: wanted, status: 2 }, key })
      }
      onDone={(made) => {
        onClose();
        setQuery({ open: made.id, edit: '1' });
      }}
      onClose={onClose}
    >
      <p class="muted">{words.copyHelp}</p>
      <TextField label={words.copyName} value={copyName} onInput={setCopyName} required />
    </FormDialog>
  );
}
