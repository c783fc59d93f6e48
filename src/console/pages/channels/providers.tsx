import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type ReplyOf } from '../../api/call.js';
import { useWrite } from '../../api/query.js';
import type { ChannelDraft } from '../../lib/channel-draft.js';
import { Button } from '../../parts/buttons.js';
import { TextField } from '../../parts/fields.js';
import { Form } from '../../parts/form.js';
import { ErrorNotice } from '../../parts/notices.js';
import { State } from '../../parts/values.js';
import { wp } from '../../words.js';
import type { Provider } from './form.js';

const FIRST_TILES = 12;

/** Picks a provider by name from tiles, or by an address, which is probed. */
export function Providers({
  providers,
  onPick,
}: {
  readonly providers: readonly Provider[];
  readonly onPick: (provider: Provider, found?: Partial<ChannelDraft>) => void;
}) {
  const [text, setText] = useState('');
  const [all, setAll] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const words = wp().wizard;
  const wanted = text.trim().toLowerCase();
  const isAddress = /^https?:\/\//.test(wanted);
  const found = providers
    .filter(({ id, title, example_models: models }) =>
      [id, title, ...models].some((one) => one.toLowerCase().includes(wanted)),
    )
    .sort((one, other) => closeness(one, wanted) - closeness(other, wanted));
  const shown = all || wanted !== '' ? found : found.slice(0, FIRST_TILES);
  return (
    <div class="stack">
      <input
        ref={field}
        class="input"
        type="search"
        aria-label={words.find}
        placeholder={words.find}
        value={text}
        spellcheck={false}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = found;
          if (event.key !== 'Enter' || wanted === '') return;
          event.preventDefault();
          if (isAddress) event.currentTarget.parentElement?.querySelector('form')?.requestSubmit();
          else if (first !== undefined) onPick(first);
        }}
      />
      {isAddress ? (
        <FindOut key={wanted} address={text.trim()} providers={providers} onPick={onPick} />
      ) : found.length === 0 ? (
        <p class="muted">{words.noProvider}</p>
      ) : (
        <div class="cards">
          {shown.map((provider) => (
            <Tile
              key={provider.id}
              title={provider.title}
              more={provider.id}
              onClick={() => onPick(provider)}
            />
          ))}
        </div>
      )}
      {!isAddress && shown.length < found.length ? (
        <div class="row">
          <Button kind="quiet" onClick={() => setAll(true)}>
            {words.all(found.length)}
          </Button>
        </div>
      ) : null}
    </div>
  );
}

function Tile({
  title,
  more,
  onClick,
}: {
  readonly title: string;
  readonly more: string;
  readonly onClick: () => void;
}) {
  return (
    <button type="button" class="button tile-button" onClick={onClick}>
      <span class="clip">{title}</span>
      <span class="muted small wrap">{more}</span>
    </button>
  );
}

/** Probes an unknown server for the API that it speaks and the models that it serves. */
function FindOut({
  address,
  providers,
  onPick,
}: {
  readonly address: string;
  readonly providers: readonly Provider[];
  readonly onPick: (provider: Provider, found: Partial<ChannelDraft>) => void;
}) {
  const [key, setKey] = useState('');
  const [found, setFound] = useState<ReplyOf<'probeAddress'>>();
  const words = wp().wizard;
  const credentials: Readonly<Record<string, string>> = key === '' ? {} : { api_key: key };
  const probe = useWrite(() => call('probeAddress', { body: { base_url: address, credentials } }));
  const pick = (provider: Provider): void =>
    onPick(provider, {
      base_url: provider.base_url === address ? '' : address,
      credentials: provider.credentials.some(({ name }) => name === 'api_key') ? credentials : {},
      models: modelsFound(found, provider.id).join('\n'),
    });
  return (
    <Form
      class="stack"
      onSubmit={() => {
        setFound(undefined);
        void probe.run(undefined).then(setFound);
      }}
    >
      <TextField
        label={words.key}
        help={words.keyHelp}
        type="password"
        autocomplete="new-password"
        value={key}
        onInput={setKey}
        mono
      />
      <div class="row">
        <Button kind="main" type="submit" disabled={probe.busy}>
          {words.findOut}
        </Button>
        <span class="muted small">{probe.busy ? words.asking : words.findOutHelp}</span>
      </div>
      <ErrorNotice error={probe.error} />
      {found === undefined ? null : <Found found={found} providers={providers} onPick={pick} />}
    </Form>
  );
}

/** The models to fill in: those of the proposal, if its provider was picked. */
function modelsFound(
  found: ReplyOf<'probeAddress'> | undefined,
  picked: string,
): readonly string[] {
  const { channel, models = [] } = found ?? {};
  return channel?.provider === picked ? channel.models : models;
}

function Found({
  found: { problem, candidates, models },
  providers,
  onPick,
}: {
  readonly found: ReplyOf<'probeAddress'>;
  readonly providers: readonly Provider[];
  readonly onPick: (provider: Provider) => void;
}) {
  const words = wp().wizard;
  return (
    <div class="stack tight" role="status">
      {problem === null ? null : (
        <p>
          <State sign="bad">{problem.message}</State>
        </p>
      )}
      {candidates.length === 0 ? null : <p>{words.answersLike}</p>}
      <div class="cards">
        {candidates.map(({ provider: id, certainty, because }) => {
          const provider = providers.find((one) => one.id === id);
          return provider === undefined ? null : (
            <Tile
              key={id}
              title={`${provider.title} (${words.certainties[certainty]})`}
              more={because}
              onClick={() => onPick(provider)}
            />
          );
        })}
      </div>
      {models.length === 0 ? null : <p class="muted">{words.lists(models.length)}</p>}
    </div>
  );
}

/** An exact match of the id comes first, then ids that begin with the text, then the others. */
function closeness({ id }: Provider, wanted: string): number {
  if (id === wanted) return 0;
  return wanted !== '' && id.startsWith(wanted) ? 1 : 2;
}

export function Notes({ provider: { notes } }: { readonly provider: Provider }) {
  if (notes.length === 0) return null;
  return (
    <ul class="muted small stack tight">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}
