import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, type ReplyOf } from '../../api/call.js';
import { useRead, useWrite } from '../../api/query.js';
import { createBody, createCommand, emptyDraft, modelsOf } from '../../lib/channel-draft.js';
import { tiersOf } from '../../lib/order.js';
import { Button, Link } from '../../parts/buttons.js';
import { TextField } from '../../parts/fields.js';
import { ErrorNotice, FormError, Skeleton } from '../../parts/notices.js';
import { State } from '../../parts/values.js';
import { Form } from '../../parts/form.js';
import { tellInForce } from '../../parts/in-force.js';
import { TestReport } from '../../parts/test-report.js';
import { navigate } from '../../router.js';
import { unitsPerDollar } from '../../parts/members.js';
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
  type Provider,
} from './form.js';

const FIELDS = 'li > .field :is(input, textarea), li > details[open] :is(input, textarea)';

type Draft = ReturnType<typeof emptyDraft>;
type Served = ReplyOf<'listChannelModels'>[number];

/** Adds a channel in four steps on one page. Nothing is stored before the last step. */
export function AddChannel() {
  const providers = useRead('listProviders');
  const served = useRead('listChannelModels');
  const tags = useRead('listTags');
  const [draft, setDraft] = useState(() => emptyDraft(''));
  const words = wp().wizard;
  const provider = providers.data?.find(({ id }) => id === draft.provider);
  const names = Object.keys(modelsOf(draft.models));
  const hasMeans = provider !== undefined && isComplete(provider, draft);
  const isReady = hasMeans && names.length > 0;
  const body = createBody(draft, provider, unitsPerDollar());
  const [tested, setTested] = useState<{
    readonly of: string;
    readonly report: ReplyOf<'testDraft'>;
  }>();
  const test = useWrite(() => call('testDraft', { body }));
  const add = useWrite(({ status }: { status: 1 | 2; body: typeof body }, key) =>
    call('createChannel', { body: { ...body, status }, key }),
  );
  const made = (status: 1 | 2): void =>
    void add.run({ status, body }).then((done) => {
      if (done === undefined) return;
      tellInForce(done);
      navigate(`channels?open=${done.id}`);
    });
  const error = add.error ?? test.error;
  const part = {
    draft,
    error,
    onChange: (next: typeof draft) => {
      setDraft(next);
      add.clear();
      test.clear();
    },
  };
  const isTested = tested?.of === JSON.stringify(body);
  const steps = useRef<HTMLOListElement>(null);
  // What was picked from is gone: the next field goes on.
  useLayoutEffect(() => {
    if (draft.provider === '') return;
    const fields = [...(steps.current?.querySelectorAll<HTMLInputElement>(FIELDS) ?? [])];
    (fields.find(({ value }) => value === '') ?? fields[0])?.focus();
  }, [draft.provider]);
  return (
    <>
      <div class="head">
        <h1>{wp().channels.new}</h1>
        <Link to="channels">{w().cancel}</Link>
      </div>
      <ErrorNotice error={providers.error} onAgain={providers.again} />
      <ol class="stack" ref={steps}>
        <Step
          title={words.where}
          state={provider === undefined ? 'open' : 'done'}
          summary={provider === undefined ? undefined : provider.title}
          onChange={() => setDraft(emptyDraft(''))}
        >
          {providers.data === undefined ? (
            providers.loading ? (
              <Skeleton />
            ) : null
          ) : provider === undefined ? (
            <Providers
              providers={providers.data}
              onPick={(picked, given = {}) =>
                setDraft({ ...emptyDraft(picked.id), models: firstModel(picked), ...given })
              }
            />
          ) : (
            <Notes provider={provider} />
          )}
        </Step>
        <Step title={words.means} state={stateOf(provider !== undefined, hasMeans)}>
          <AddressField {...part} provider={provider} />
          <CredentialFields {...part} provider={provider} />
          {provider?.inside === true && provider.credentials.length === 0 ? (
            <p class="muted">{words.inside}</p>
          ) : null}
          {(provider?.settings.length ?? 0) === 0 ? null : (
            <details open={provider?.settings.some(({ required }) => required) === true}>
              <summary>{words.settings(provider?.settings.length ?? 0)}</summary>
              <div class="stack">
                <SettingFields {...part} provider={provider} />
              </div>
            </details>
          )}
        </Step>
        <Step title={words.models} state={stateOf(hasMeans, isReady)}>
          <ModelsField {...part} provider={provider} />
          <Already names={names} served={served.data ?? []} />
        </Step>
        <Step title={words.place} state={isReady ? 'open' : 'closed'}>
          <div class="row">
            <Button
              disabled={test.busy}
              onClick={() =>
                void test.run(undefined).then((report) => {
                  if (report !== undefined) setTested({ of: JSON.stringify(body), report });
                })
              }
            >
              {wp().channels.test}
            </Button>
            <span class="muted small">
              {test.busy ? wp().channels.testing : wp().channels.testHelp}
            </span>
          </div>
          {tested === undefined || !isTested ? null : <TestReport tested={tested.report} />}
          <NameField {...part} />
          <RoutingFields {...part} tags={(tags.data ?? []).map(({ tag }) => tag)} />
          <Ladder
            served={served.data ?? []}
            model={names[0] ?? ''}
            fresh={{
              name: draft.name,
              priority: Number(draft.members.priority ?? 0),
              weight: Number(draft.members.weight === '' ? 1 : (draft.members.weight ?? 1)),
            }}
          />
          <details>
            <summary>{wp().channels.more}</summary>
            <div class="stack">
              <BoundFields {...part} />
            </div>
          </details>
          <code class="small muted wrap">$ {createCommand(draft, unitsPerDollar())}</code>
          <FormError error={error} fields={CHANNEL_FIELDS} />
          <div class="row end">
            <Button disabled={add.busy} onClick={() => made(2)}>
              {words.addOff}
            </Button>
            <Button kind="main" disabled={add.busy} onClick={() => made(1)}>
              {words.addOn}
            </Button>
          </div>
        </Step>
      </ol>
    </>
  );
}

/** Whether everything that the provider requires was given. */
function isComplete(provider: Provider, draft: Draft): boolean {
  const lacksAddress =
    !provider.inside && provider.base_url === null && draft.base_url.trim() === '';
  const missing = [
    ...provider.credentials.filter(({ name, required }) => required && !draft.credentials[name]),
    ...provider.settings.filter(
      ({ name, required, default: preset }) => required && preset === null && !draft.settings[name],
    ),
  ];
  return !lacksAddress && missing.length === 0;
}

/** A provider inside the gateway suggests a model to begin with; elsewhere people know what they pay for. */
function firstModel({ inside, example_models: examples }: Provider): string {
  return inside ? (examples[0] ?? '') : '';
}

type StepState = 'closed' | 'open' | 'done';

function stateOf(reached: boolean, complete: boolean): StepState {
  if (!reached) return 'closed';
  return complete ? 'done' : 'open';
}

const STEP_SIGNS = { closed: 'off', open: 'busy', done: 'ok' } as const;

function Step({
  title,
  state,
  summary,
  onChange,
  children,
}: {
  readonly title: string;
  readonly state: StepState;
  readonly summary?: string | undefined;
  readonly onChange?: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <li class="card stack">
      <div class="row">
        <h2>
          <State sign={STEP_SIGNS[state]}>{title}</State>
        </h2>
        {summary === undefined ? null : <strong>{summary}</strong>}
        {summary === undefined || onChange === undefined ? null : (
          <Button kind="quiet" onClick={onChange}>
            {wp().wizard.change}
          </Button>
        )}
      </div>
      {state === 'closed' ? null : children}
    </li>
  );
}

const FIRST_TILES = 12;

/** Picks a provider by name from tiles, or by an address, which is probed. */
function Providers({
  providers,
  onPick,
}: {
  readonly providers: readonly Provider[];
  readonly onPick: (provider: Provider, found?: Partial<Draft>) => void;
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
  readonly onPick: (provider: Provider, found: Partial<Draft>) => void;
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

function Notes({ provider: { notes } }: { readonly provider: Provider }) {
  if (notes.length === 0) return null;
  return (
    <ul class="muted small stack tight">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}

function Already({
  names,
  served,
}: {
  readonly names: readonly string[];
  readonly served: readonly Served[];
}) {
  const both = served.filter(({ id }) => names.includes(id));
  if (both.length === 0) return null;
  return (
    <ul class="stack tight">
      {both.map(({ id, channels }) => (
        <li key={id} class="warn">
          {wp().wizard.already(id, channels.map(({ name }) => name).join(', '))}
        </li>
      ))}
    </ul>
  );
}

/** The order in which the channels of a model will be tried, including the new one. */
function Ladder({
  served,
  model,
  fresh,
}: {
  readonly served: readonly Served[];
  readonly model: string;
  readonly fresh: { readonly name: string; readonly priority: number; readonly weight: number };
}) {
  const there = served.find(({ id }) => id === model)?.channels ?? [];
  const all = [...there, { ...fresh, id: 0, live: true }];
  return (
    <div class="stack tight">
      <p class="muted">{wp().wizard.order(model)}</p>
      <ol class="ladder">
        {tiersOf(all).map(({ priority, rungs }) => (
          <li key={priority}>
            <span class="muted">{priority}</span>{' '}
            {rungs.map(({ channel, share }) => (
              <span key={channel.id} class="chip">
                <span class="clip">
                  {channel.id === 0 ? <strong>{channel.name}</strong> : channel.name}{' '}
                  {channel.live ? `${Math.round(share * 100)} %` : wp().channels.states.off}
                </span>
              </span>
            ))}
          </li>
        ))}
      </ol>
    </div>
  );
}
