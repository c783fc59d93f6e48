import { Fragment } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import { call } from '../../api/call.js';
import { useRead, useWrite } from '../../api/query.js';
import { draftOf, updateBody, type ChannelDraft } from '../../lib/channel-draft.js';
import { lead } from '../../lib/lead.js';
import { Button, Chip, Link } from '../../parts/buttons.js';
import { TextField } from '../../parts/fields.js';
import { ErrorNotice, FormError } from '../../parts/notices.js';
import { Ago, Moment, Money } from '../../parts/values.js';
import { Dialog } from '../../parts/dialog.js';
import { isTyping } from '../../parts/keys.js';
import { isId, Record } from '../../parts/record.js';
import { tellInForce } from '../../parts/in-force.js';
import { TestReport } from '../../parts/test-report.js';
import { Meanwhile, presentOf, type Comparable } from '../../parts/meanwhile.js';
import { unitsPerDollar } from '../../parts/members.js';
import { toast } from '../../parts/toast.js';
import { setQuery, useRoute } from '../../router.js';
import { faultWords, w, wp } from '../../words.js';
import { ChannelActions, ChannelState, playgroundOf, type Channel } from './actions.js';
import { recentOf, useTraffic, type TrafficOf } from './traffic.js';
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

/** One channel beside the list, or as a page: its details, and the form that changes it. */
export function OneChannel({
  id,
  isBeside = false,
  trafficOf,
}: {
  readonly id: string | number;
  readonly isBeside?: boolean;
  /** What the list has read of it. */
  readonly trafficOf?: TrafficOf;
}) {
  const { query } = useRoute();
  const number = Number(id);
  const reading = useRead('getChannel', { params: { id: number } }, { enabled: isId(id) });
  const channel = reading.data?.id === number ? reading.data : undefined;
  const mayEdit = channel?.origin === 'store' && isAdmin();
  const editing = mayEdit && query.get('edit') !== null ? channel : undefined;
  const close = (): void =>
    setQuery({ ...(isBeside ? { open: '' } : {}), edit: '', test: '' }, { replace: true });
  const editor =
    editing === undefined ? null : (
      <EditChannel key={`edit ${id}`} channel={editing} onClose={close} />
    );
  // Of two drawers only one is seen.
  if (isBeside && editor !== null) return editor;
  return (
    <>
      <Record
        key="channel"
        kind="channel"
        id={id}
        reading={{ ...reading, data: channel, loading: channel === undefined && isId(id) }}
        title={channel?.name}
        onClose={isBeside ? close : undefined}
        onKey={(event) => {
          if (event.key === 'e' && !isTyping(event)) {
            // Else the letter would be typed into the first field.
            event.preventDefault();
            setQuery({ edit: '1' });
          }
        }}
      >
        {(shown) => <ChannelDetails key={shown.id} channel={shown} known={trafficOf} />}
      </Record>
      {editor}
    </>
  );
}

function ChannelDetails({
  channel,
  known,
}: {
  readonly channel: Channel;
  readonly known: TrafficOf | undefined;
}) {
  const { query } = useRoute();
  const words = wp().channels;
  const read = useTraffic(known === undefined ? [channel.id] : []);
  const trafficOf = known ?? read;
  const providers = useRead('listProviders');
  const provider = providers.data?.find(({ id }) => id === channel.provider);
  const settings = Object.entries(channel.settings);
  const isStored = channel.origin === 'store';
  // Nodes tell of pauses that have just ended, too.
  const paused = channel.effective.paused.filter(({ until }) => until * 1000 > Date.now());
  return (
    <div class="stack wide">
      <div class="row">
        <ChannelState channel={channel} recent={recentOf(trafficOf(channel.id))} />
        {isStored ? null : <Chip title={words.declaredHelp}>{words.declared}</Chip>}
        <span class="grow" />
        {isStored && isAdmin() ? (
          <Button onClick={() => setQuery({ edit: '1', test: '' })}>{w().edit}</Button>
        ) : null}
        {isAdmin() ? <ChannelActions channel={channel} /> : null}
      </div>
      {isStored ? null : <p class="muted">{words.declaredHelp}</p>}
      <dl class="facts">
        {channel.effective.since === null ? null : (
          <>
            <dt>{words.outSince}</dt>
            <dd>
              <Moment seconds={channel.effective.since} />
            </dd>
          </>
        )}
        {channel.effective.next_try === null ? null : (
          <>
            <dt>{words.nextTry}</dt>
            <dd>
              <Ago seconds={channel.effective.next_try} />
            </dd>
          </>
        )}
        {paused.length === 0 ? null : (
          <>
            <dt>{words.paused}</dt>
            <dd>
              <ul>
                {paused.map(({ node, reason, until }) => (
                  <li key={node}>
                    {node} · {faultWords(reason)} · <Ago seconds={until} />
                  </li>
                ))}
              </ul>
            </dd>
          </>
        )}
        <dt>{words.provider}</dt>
        <dd>{provider?.title ?? channel.provider}</dd>
        <dt>{words.address}</dt>
        <dd>
          {provider?.inside === true ? (
            words.inside
          ) : channel.base_url === null ? (
            <>
              {words.ownAddress}
              {provider?.base_url == null ? null : <code> {provider.base_url}</code>}
            </>
          ) : (
            <code>{channel.base_url}</code>
          )}
        </dd>
        <dt>{words.credentials}</dt>
        <dd>
          {channel.credential_names.length === 0
            ? isStored
              ? words.noCredentials
              : words.declared
            : channel.credential_names.join(', ')}
        </dd>
        <dt>{words.models}</dt>
        <dd>
          <ul>
            {Object.entries(channel.models).map(([name, upstream]) => (
              <li key={name}>
                <Link to={`models?model=${encodeURIComponent(name)}`}>{name}</Link>
                {name === upstream ? '' : ` → ${upstream}`}
              </li>
            ))}
          </ul>
          {channel.provider === 'local' ? null : <UpstreamModels id={channel.id} />}
        </dd>
        <dt>{words.tag}</dt>
        <dd>
          {channel.tag === null ? (
            w().none
          ) : (
            <Link to={`tags?open=${encodeURIComponent(channel.tag)}`}>{channel.tag}</Link>
          )}
        </dd>
        <dt>{words.order}</dt>
        <dd>
          {channel.priority} · {channel.weight}
        </dd>
        <dt>{words.timeout}</dt>
        <dd>{channel.timeout_ms === null ? words.timeoutDefault : `${channel.timeout_ms} ms`}</dd>
        <dt>{words.atOnce}</dt>
        <dd>{channel.max_concurrency === 0 ? words.noBound : channel.max_concurrency}</dd>
        {channel.requests_per_minute === 0 ? null : (
          <>
            <dt>{words.requestsPerMinute}</dt>
            <dd>{channel.requests_per_minute}</dd>
          </>
        )}
        {channel.tokens_per_minute === 0 ? null : (
          <>
            <dt>{words.tokensPerMinute}</dt>
            <dd>{channel.tokens_per_minute}</dd>
          </>
        )}
        {keyLimitsOf(channel).map(([label, value]) => (
          <Fragment key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
        {channel.budget === 0 ? null : (
          <>
            <dt>{words.budgetOf[channel.budget_scope]}</dt>
            <dd>
              <Money units={channel.budget} /> {wp().budget.every[channel.budget_period]} (
              {channel.budget_time_zone})
            </dd>
          </>
        )}
        <dt>{words.scores}</dt>
        <dd>{words.scoreKinds[channel.scores]}</dd>
        {settings.length === 0 ? null : (
          <>
            <dt>{words.settings}</dt>
            <dd>
              <code>{settings.map(([name, value]) => `${name}: ${String(value)}`).join('\n')}</code>
            </dd>
          </>
        )}
      </dl>
      {isAdmin() ? <TestChannel channel={channel} now={query.get('test') !== null} /> : null}
      <div class="row">
        <Link class="button" to={playgroundOf(channel)}>
          {words.playground}
        </Link>
        <Link class="button" to={`requests?channel_id=${channel.id}`}>
          {words.requests}
        </Link>
      </div>
    </div>
  );
}

/** What each key of the channel may send, by label. */
function keyLimitsOf(channel: Channel): (readonly [string, number])[] {
  const words = wp().channels;
  const limits = [
    [words.keyAtOnce, channel.key_max_concurrency],
    [words.keyRequests, channel.key_requests_per_minute],
    [words.keyTokens, channel.key_tokens_per_minute],
  ] as const;
  return limits.filter(([, most]) => most > 0);
}

/** The models that a channel's server lists, read on request. */
function UpstreamModels({ id }: { readonly id: number }) {
  const [listed, setListed] = useState<readonly string[]>();
  const ask = useWrite(() => call('listUpstreamModels', { params: { id } }));
  const words = wp().channels;
  if (listed !== undefined) {
    return <p>{listed.length === 0 ? words.listsNone : lead(words.lists) + listed.join(', ')}</p>;
  }
  return (
    <>
      <Button
        kind="quiet"
        disabled={ask.busy}
        onClick={() => void ask.run(undefined).then(setListed)}
      >
        {words.askModels}
      </Button>
      <ErrorNotice error={ask.error} />
    </>
  );
}

/** `now`: the test was requested from the row. */
function TestChannel({ channel, now }: { readonly channel: Channel; readonly now: boolean }) {
  const { id, models } = channel;
  const names = Object.keys(models);
  const [model, setModel] = useState(names[0] ?? '');
  const words = wp().channels;
  const test = useWrite((wanted: string) =>
    call('testChannel', { params: { id }, body: { model: wanted } }),
  );
  const [tested, setTested] = useState<Awaited<ReturnType<typeof test.run>>>();
  const run = (): void => {
    setTested(undefined);
    void test.run(model).then(setTested);
  };
  useEffect(() => {
    if (!now) return;
    setQuery({ test: '' }, { replace: true });
    run();
  }, [now]);
  return (
    <section class="stack tight">
      <div class="row">
        {names.length > 1 ? (
          <select
            class="input filter"
            aria-label={words.model}
            value={model}
            onChange={(event) => setModel(event.currentTarget.value)}
          >
            {names.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        ) : null}
        <Button disabled={test.busy} onClick={run}>
          {words.test}
        </Button>
        <span class="muted small">{test.busy ? words.testing : words.testHelp}</span>
      </div>
      <ErrorNotice error={test.error} />
      {tested === undefined ? null : <TestReport tested={tested} />}
    </section>
  );
}

function EditChannel({
  channel,
  onClose,
}: {
  readonly channel: Channel;
  readonly onClose: () => void;
}) {
  const perDollar = unitsPerDollar();
  const [base, setBase] = useState(channel);
  const [draft, setDraft] = useState(() => draftOf(channel, perDollar));
  const [reason, setReason] = useState('');
  const providers = useRead('listProviders');
  const tags = useRead('listTags');
  const provider: Provider | undefined = providers.data?.find(({ id }) => id === channel.provider);
  const body = updateBody(base, draft, provider, perDollar);
  const words = wp().channels;
  const save = useWrite((wanted: typeof body) =>
    call('updateChannel', { body: { ...wanted, ...(reason === '' ? {} : { reason }) } }),
  );
  const send = (from: Channel): void =>
    void save
      .run({ ...updateBody(from, draft, provider, perDollar), if_revision: from.revision })
      .then((done) => {
        if (done === undefined) return;
        tellInForce(done);
        back();
      });
  const back = (): void => setQuery({ edit: '' }, { replace: true });
  const part = { draft, onChange: setDraft, error: save.error };
  const present = presentOf(save.error) as Channel | undefined;
  return (
    <Dialog
      kind="drawer"
      title={words.editTitle(channel.name)}
      onClose={onClose}
      onSubmit={() => {
        if (Object.keys(body).length === 1) {
          toast(words.nothingChanged);
          back();
          return;
        }
        send(base);
      }}
      foot={
        <>
          <Button onClick={back}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={save.busy || provider === undefined}>
            {w().save}
          </Button>
        </>
      }
    >
      <h3>{words.connection}</h3>
      <NameField {...part} />
      <p class="muted">{provider?.title ?? channel.provider}</p>
      <AddressField {...part} provider={provider} />
      <CredentialFields {...part} provider={provider} set={channel.credential_names} />
      {(provider?.credentials.length ?? 0) === 0 ? null : (
        <p class="muted small">{words.credentialsAnew}</p>
      )}
      <h3>{words.models}</h3>
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
      <TextField label={w().reason} help={w().reasonHelp} value={reason} onInput={setReason} />
      {present !== undefined ? (
        <Meanwhile
          now={present}
          theirs={(now) => comparable(draftOf(now, perDollar))}
          mine={comparable(draft)}
          labels={channelLabels()}
          onKeep={(now) => {
            setBase(now);
            send(now);
          }}
          onTake={(now) => {
            setBase(now);
            setDraft(draftOf(now, perDollar));
            save.clear();
          }}
        />
      ) : (
        <FormError error={save.error} fields={CHANNEL_FIELDS} />
      )}
    </Dialog>
  );
}

/** What can be compared of a draft; credentials cannot, since nobody is shown them. */
function comparable({ name, base_url, models, tag, settings, members }: ChannelDraft): Comparable {
  const typed = Object.entries(settings).filter(([, text]) => text !== '');
  return { name, base_url, models, tag, ...Object.fromEntries(typed), ...members };
}

function channelLabels(): Comparable {
  const words = wp().channels;
  const members = Object.entries(wp().members).map(([name, { label }]) => [name, label] as const);
  return {
    ...Object.fromEntries(members),
    ...{ name: w().name, base_url: words.address, models: words.models, tag: words.tag },
  };
}
