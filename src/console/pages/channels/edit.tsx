import { call } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { draftOf, updateBody, type ChannelDraft } from '../../lib/channel-draft.js';
import { EditDialog } from '../../parts/form-dialog.js';
import { tellInForce } from '../../parts/in-force.js';
import type { Comparable } from '../../parts/meanwhile.js';
import { memberLabels } from '../../parts/members.js';
import { toast } from '../../parts/toast.js';
import type { Closable } from '../../parts/dialog.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import {
  AddressField,
  BoundFields,
  CHANNEL_FIELDS,
  CredentialFields,
  ModelsField,
  NameField,
  RoutingFields,
  SettingFields,
} from './form.js';
import type { Channel } from './state.js';

/** Changes a channel; `onClose` leaves it too, the button for cancelling goes back to it. */
export function EditChannel({ of: channel, onClose }: Closable & { readonly of: Channel }) {
  const providers = useRead('listProviders');
  const tags = useRead('listTags');
  const provider = providers.data?.find(({ id }) => id === channel.provider);
  const words = wp().channels;
  const back = (): void => setQuery({ edit: '' }, { replace: true });
  return (
    <EditDialog
      kind="drawer"
      of={channel}
      title={words.editTitle(channel.name)}
      draftOf={draftOf}
      ready={() => provider !== undefined}
      write={async (from, draft, why) => {
        const body = updateBody(from, draft, provider);
        // Nothing but the id.
        if (Object.keys(body).length === 1) {
          toast(words.nothingChanged);
          return;
        }
        const input = { ...body, if_revision: from.revision, ...why };
        tellInForce(await call('updateChannel', { body: input }));
      }}
      comparable={comparable}
      labels={channelLabels()}
      fields={CHANNEL_FIELDS}
      onDone={back}
      onClose={onClose}
      onCancel={back}
    >
      {(part) => (
        <>
          <h3>{words.connection}</h3>
          <NameField {...part} />
          <p class="muted">{provider?.title ?? channel.provider}</p>
          <AddressField {...part} provider={provider} />
          <CredentialFields {...part} provider={provider} set={channel.credential_names} />
          {(provider?.credentials.length ?? 0) === 0 ? null : (
            <p class="muted small">{words.credentialsAnew}</p>
          )}
          <h3>{w().nav.models}</h3>
          <ModelsField {...part} provider={provider} />
          <h3>{words.routing}</h3>
          <RoutingFields {...part} tags={(tags.data ?? []).map(({ tag }) => tag)} />
          <BoundFields {...part} />
          {(provider?.settings.length ?? 0) === 0 ? null : (
            <>
              <h3>{words.settings}</h3>
              <SettingFields {...part} provider={provider} />
            </>
          )}
        </>
      )}
    </EditDialog>
  );
}

/** What can be compared of a draft; credentials cannot, since nobody is shown them. */
function comparable({ name, base_url, models, tag, settings, members }: ChannelDraft): Comparable {
  const typed = Object.entries(settings).filter(([, text]) => text !== '');
  return { name, base_url, models, tag, ...Object.fromEntries(typed), ...members };
}

function channelLabels(): Comparable {
  const words = wp().channels;
  return {
    ...memberLabels(),
    ...{ name: w().name, base_url: words.address, models: w().nav.models, tag: wp().kinds.tag },
  };
}
