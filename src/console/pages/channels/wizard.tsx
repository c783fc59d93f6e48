import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { call, type ReplyOf } from '../../api/call.js';
import { useRead, useWrite } from '../../api/query.js';
import {
  createBody,
  createCommand,
  emptyDraft,
  modelsOf,
  type ChannelDraft,
} from '../../lib/channel-draft.js';
import { Button, Link } from '../../parts/buttons.js';
import type { DraftPart } from '../../parts/form-dialog.js';
import { tellInForce } from '../../parts/in-force.js';
import { useInSight } from '../../parts/in-sight.js';
import { ErrorNotice, FormError, Skeleton } from '../../parts/notices.js';
import { TestReport } from '../../parts/test-report.js';
import { State } from '../../parts/values.js';
import { navigate } from '../../router.js';
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
import { Already, Ladder, type Served } from './ladder.js';
import { Notes, Providers } from './providers.js';

const FIELDS = 'li > .field :is(input, textarea), li > details[open] :is(input, textarea)';

/** Adds a channel in four steps on one page. Nothing is stored before the last step. */
export function AddChannel() {
  const providers = useRead('listProviders');
  const served = useRead('listChannelModels').data ?? [];
  const [draft, setDraft] = useState(() => emptyDraft(''));
  const words = wp().wizard;
  const provider = providers.data?.find(({ id }) => id === draft.provider);
  const names = Object.keys(modelsOf(draft.models));
  const hasMeans = provider !== undefined && isComplete(provider, draft);
  const isReady = hasMeans && names.length > 0;
  const writes = useDraft(draft, provider);
  const part: DraftPart<ChannelDraft> = {
    draft,
    error: writes.error,
    onChange: (next) => {
      setDraft(next);
      writes.clear();
    },
  };
  const steps = useRef<HTMLOListElement>(null);
  useInSight(writes.error, () => steps.current);
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
          summary={provider?.title}
          onChange={() => setDraft(emptyDraft(''))}
        >
          {provider !== undefined ? (
            <Notes provider={provider} />
          ) : providers.data === undefined ? (
            providers.loading && <Skeleton />
          ) : (
            <Providers
              providers={providers.data}
              onPick={(picked, given = {}) =>
                setDraft({ ...emptyDraft(picked.id), models: firstModel(picked), ...given })
              }
            />
          )}
        </Step>
        <Step title={words.means} state={stateOf(provider !== undefined, hasMeans)}>
          {provider && <Means part={part} provider={provider} />}
        </Step>
        <Step title={words.models} state={stateOf(hasMeans, isReady)}>
          <ModelsField {...part} provider={provider} />
          <Already names={names} served={served} />
        </Step>
        <Step title={words.place} state={isReady ? 'open' : 'closed'}>
          <Place part={part} served={served} model={names[0] ?? ''} writes={writes} />
        </Step>
      </ol>
    </>
  );
}

/** The test of a draft, and its end as a channel. */
function useDraft(draft: ChannelDraft, provider: Provider | undefined) {
  const body = createBody(draft, provider);
  const [tested, setTested] = useState<{ of: string; report: ReplyOf<'testDraft'> }>();
  const test = useWrite(
    () => call('testDraft', { body }),
    (report) => setTested({ of: JSON.stringify(body), report }),
  );
  const add = useWrite(
    (whole: typeof body & { status: 1 | 2 }, key) => call('createChannel', { body: whole, key }),
    (done) => {
      tellInForce(done);
      navigate(`channels?open=${done.id}`);
    },
  );
  return {
    error: add.error ?? test.error,
    clear: () => {
      add.clear();
      test.clear();
    },
    adding: add.busy,
    testing: test.busy,
    /** What a test of just this draft has found. */
    report: tested?.of === JSON.stringify(body) ? tested.report : undefined,
    test: () => void test.run(undefined),
    add: (status: 1 | 2) => void add.run({ ...body, status }),
  };
}

/** The address, credentials and settings that a provider needs. */
function Means({ part, provider }: { part: DraftPart<ChannelDraft>; provider: Provider }) {
  const { inside, credentials, settings } = provider;
  const words = wp().wizard;
  return (
    <>
      <AddressField {...part} provider={provider} />
      <CredentialFields {...part} provider={provider} />
      {inside && credentials.length === 0 ? <p class="muted">{words.inside}</p> : null}
      {settings.length === 0 ? null : (
        <details open={settings.some(({ required }) => required)}>
          <summary>{words.settings(settings.length)}</summary>
          <div class="stack">
            <SettingFields {...part} provider={provider} />
          </div>
        </details>
      )}
    </>
  );
}

/** Its test, its place among the others, and the end. */
function Place({
  part,
  served,
  model,
  writes,
}: {
  readonly part: DraftPart<ChannelDraft>;
  readonly served: readonly Served[];
  readonly model: string;
  readonly writes: ReturnType<typeof useDraft>;
}) {
  const { name, members } = part.draft;
  const tags = useRead('listTags').data ?? [];
  const words = wp().wizard;
  const weight = members.weight === '' ? 1 : (members.weight ?? 1);
  return (
    <>
      <div class="row">
        <Button disabled={writes.testing} onClick={writes.test}>
          {wp().channels.test}
        </Button>
        <span class="muted small">
          {writes.testing ? wp().channels.testing : wp().channels.testHelp}
        </span>
      </div>
      {writes.report && <TestReport tested={writes.report} />}
      <NameField {...part} />
      <RoutingFields {...part} tags={tags.map(({ tag }) => tag)} />
      <Ladder
        served={served}
        model={model}
        fresh={{ name, priority: Number(members.priority ?? 0), weight: Number(weight) }}
      />
      <details>
        <summary>{wp().channels.more}</summary>
        <div class="stack">
          <BoundFields {...part} />
        </div>
      </details>
      <code class="small muted wrap">$ {createCommand(part.draft)}</code>
      <FormError error={part.error} fields={CHANNEL_FIELDS} />
      <div class="row end">
        <Button disabled={writes.adding} onClick={() => writes.add(2)}>
          {words.addOff}
        </Button>
        <Button kind="main" disabled={writes.adding} onClick={() => writes.add(1)}>
          {words.addOn}
        </Button>
      </div>
    </>
  );
}

/** Whether everything that the provider requires was given. */
function isComplete(provider: Provider, draft: ChannelDraft): boolean {
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
