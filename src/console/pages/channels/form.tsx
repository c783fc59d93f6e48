import type { ReplyOf } from '../../api/call.js';
import { MEMBERS } from '../../api/members.js';
import type { ChannelDraft } from '../../lib/channel-draft.js';
import { lead } from '../../lib/lead.js';
import { TextField } from '../../parts/fields.js';
import type { DraftPart } from '../../parts/form-dialog.js';
import { fieldError } from '../../parts/notices.js';
import { DraftField, SelectField } from '../../parts/form.js';
import { MemberFields } from '../../parts/members.js';
import { w, wp } from '../../words.js';

export type Provider = ReplyOf<'listProviders'>[number];

type PartProps = DraftPart<ChannelDraft>;

interface ProviderPartProps extends PartProps {
  readonly provider: Provider | undefined;
  /** Names of the credentials that the channel has; none for a new one. */
  readonly set?: readonly string[];
}

/** Parameters whose errors a field of this form shows; other errors appear below the form. */
export const CHANNEL_FIELDS = [
  ...['name', 'base_url', 'credentials', 'models', 'tag'],
  ...MEMBERS.channel.map(({ name }) => name),
];

/** The address, for providers outside the gateway. */
export function AddressField({ provider, ...part }: ProviderPartProps) {
  if (provider?.inside === true) return null;
  return (
    <DraftField
      {...part}
      name="base_url"
      label={wp().channels.address}
      help={wp().channels.addressHelp(provider?.base_url ?? null)}
      placeholder={provider?.base_url ?? 'http://gpu-3:8080'}
      required={provider?.base_url === null}
      mono
    />
  );
}

/** The credentials that the provider takes, each with a description. None is ever read back. */
export function CredentialFields(props: ProviderPartProps) {
  const { draft, onChange, error, provider, set = [] } = props;
  const wrong = fieldError(error, 'credentials');
  return (
    <>
      {provider?.credentials.map(({ name, description, required }, index) => (
        <TextField
          key={name}
          label={required && set.length === 0 ? `${name} (${wp().channels.required})` : name}
          help={set.includes(name) ? wp().channels.credentialSet : description}
          type="password"
          autocomplete="new-password"
          value={draft.credentials[name] ?? ''}
          onInput={(text) =>
            onChange({ ...draft, credentials: { ...draft.credentials, [name]: text } })
          }
          error={index === 0 ? wrong : undefined}
          required={required && set.length === 0}
          mono
        />
      ))}
    </>
  );
}

/** The settings that the provider takes, with their defaults. */
export function SettingFields({ draft, onChange, provider }: Omit<ProviderPartProps, 'error'>) {
  const words = wp().channels;
  const put = (name: string, text: string): void =>
    onChange({ ...draft, settings: { ...draft.settings, [name]: text } });
  return (
    <>
      {provider?.settings.map(({ name, description, required, type, default: preset }) => {
        const said = textOf(preset) === '' ? '' : words.default(textOf(preset));
        const help = [description, said].filter((text) => text !== '').join(' · ');
        const label = required ? `${name} (${words.required})` : name;
        const value = draft.settings[name] ?? '';
        return type === 'boolean' ? (
          <SelectField
            key={name}
            label={label}
            help={help}
            value={value}
            choices={[
              { value: '', label: said === '' ? '–' : said },
              { value: 'true', label: words.yes },
              { value: 'false', label: words.no },
            ]}
            onChange={(text) => put(name, text)}
          />
        ) : (
          <TextField
            key={name}
            label={label}
            help={help}
            type={type === 'number' ? 'number' : 'text'}
            step="any"
            value={value}
            placeholder={textOf(preset)}
            onInput={(text) => put(name, text)}
            mono
          />
        );
      })}
    </>
  );
}

/** The text of a default, which is null if there is none. */
function textOf(preset: unknown): string {
  if (typeof preset === 'string') return preset;
  return typeof preset === 'number' || typeof preset === 'boolean' ? String(preset) : '';
}

export function ModelsField({ provider, ...part }: ProviderPartProps) {
  const words = wp().channels;
  const examples = provider?.example_models ?? [];
  return (
    <DraftField
      {...part}
      name="models"
      label={w().nav.models}
      help={
        <>
          {lead(words.modelsHelp)}
          {examples.length === 0 ? null : (
            <>
              {lead(words.examples)}
              <code>{examples.slice(0, 6).join(', ')}</code>
            </>
          )}
        </>
      }
      rows={Math.min(10, Math.max(3, part.draft.models.split('\n').length + 1))}
      required
      mono
    />
  );
}

export const ROUTING: ReadonlySet<string> = new Set(['priority', 'weight']);

/** The channel's place among the others. */
export function RoutingFields({ tags, ...part }: PartProps & { readonly tags: readonly string[] }) {
  return (
    <>
      <DraftField
        {...part}
        name="tag"
        label={wp().kinds.tag}
        help={wp().channels.tagHelp}
        options={tags}
      />
      <MemberFields {...part} rows={MEMBERS.channel.filter(({ name }) => ROUTING.has(name))} />
    </>
  );
}

/** Every other member of the table. */
export function BoundFields(part: PartProps) {
  return <MemberFields {...part} rows={MEMBERS.channel.filter(({ name }) => !ROUTING.has(name))} />;
}

/** The channel's name. */
export function NameField(part: PartProps) {
  return <DraftField {...part} name="name" label={w().name} required />;
}
