import { useEffect, useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import { call } from '../../api/call.js';
import { MEMBERS } from '../../api/members.js';
import { useWrite } from '../../api/query.js';
import { lead } from '../../lib/lead.js';
import { Button, Chip, Link } from '../../parts/buttons.js';
import { memberFactsOf } from '../../parts/members.js';
import { ErrorNotice } from '../../parts/notices.js';
import { factOf, type Shown } from '../../parts/shown.js';
import { TestReport } from '../../parts/test-report.js';
import type { TroubleOf } from '../../parts/troubles.js';
import { Ago, Moment } from '../../parts/values.js';
import { setQuery, useRoute } from '../../router.js';
import { faultWords, w, wp } from '../../words.js';
import { playgroundOf } from './actions.js';
import { ROUTING, type Provider } from './form.js';
import { ChannelState, type Channel } from './state.js';

/** What stands above the facts of a channel: its state, and the way to change it. */
export function Head({ of: channel, more }: { of: Channel; more: { troubleOf: TroubleOf } }) {
  const words = wp().channels;
  const isStored = channel.origin === 'store';
  return (
    <>
      <ChannelState channel={channel} trouble={more.troubleOf(channel)} />
      {isStored ? null : <Chip title={words.declaredHelp}>{words.declared}</Chip>}
      {isStored && isAdmin() ? (
        <Button onClick={() => setQuery({ edit: '1', test: '' })}>{w().edit}</Button>
      ) : null}
    </>
  );
}

/** What is known of a channel besides what the list shows. */
export function channelFacts(providers: readonly Provider[]): readonly Shown<Channel>[] {
  const words = wp().channels;
  const providerOf = ({ provider }: Channel): Provider | undefined =>
    providers.find(({ id }) => id === provider);
  return [
    factOf(words.outSince, ({ effective: { since } }) => since && <Moment seconds={since} />),
    factOf(words.nextTry, ({ effective: { next_try: at } }) => at && <Ago seconds={at} />),
    factOf(words.paused, ({ effective }) => {
      // Nodes tell of pauses that have just ended, too.
      const paused = effective.paused.filter(({ until }) => until * 1000 > Date.now());
      return paused.length === 0 ? undefined : (
        <ul>
          {paused.map(({ node, reason, until }) => (
            <li key={node}>
              {node} · {faultWords(reason)} · <Ago seconds={until} />
            </li>
          ))}
        </ul>
      );
    }),
    factOf(words.provider, (channel) => providerOf(channel)?.title ?? channel.provider),
    factOf(words.address, (channel) => <Address of={channel} provider={providerOf(channel)} />),
    factOf(words.credentials, ({ credential_names: names, origin }) => {
      if (names.length > 0) return names.join(', ');
      return origin === 'store' ? w().none : words.declared;
    }),
    factOf(w().nav.models, (channel) => <Models of={channel} />),
    factOf(wp().kinds.tag, ({ tag }) =>
      tag === null ? w().none : <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>,
    ),
    ...memberFactsOf<Channel>(MEMBERS.channel.filter(({ name }) => !ROUTING.has(name))),
    factOf(words.settings, ({ settings }) => {
      const given = Object.entries(settings);
      return given.length === 0 ? undefined : (
        <code>{given.map(([name, value]) => `${name}: ${String(value)}`).join('\n')}</code>
      );
    }),
  ];
}

function Address({
  of: { base_url: url },
  provider,
}: {
  of: Channel;
  provider?: Provider | undefined;
}) {
  const words = wp().channels;
  if (provider?.inside === true) return <>{words.inside}</>;
  if (url !== null) return <code>{url}</code>;
  return (
    <>
      {words.ownAddress}
      {provider?.base_url == null ? null : <code> {provider.base_url}</code>}
    </>
  );
}

function Models({ of: { id, models, provider } }: { readonly of: Channel }) {
  return (
    <>
      <ul>
        {Object.entries(models).map(([name, upstream]) => (
          <li key={name}>
            <Link to={`models?model=${encodeURIComponent(name)}`}>{name}</Link>
            {name === upstream ? '' : ` → ${upstream}`}
          </li>
        ))}
      </ul>
      {provider === 'local' ? null : <UpstreamModels id={id} />}
    </>
  );
}

/** What can be done below the facts of a channel. */
export function Details({ of: channel }: { readonly of: Channel }) {
  const { query } = useRoute();
  const words = wp().channels;
  return (
    <>
      {channel.origin === 'store' ? null : <p class="muted">{words.declaredHelp}</p>}
      {isAdmin() ? <TestChannel channel={channel} now={query.get('test') !== null} /> : null}
      <div class="row">
        <Link class="button" to={playgroundOf(channel)}>
          {words.playground}
        </Link>
        <Link class="button" to={`requests?channel_id=${channel.id}`}>
          {wp().requests.sameChannel}
        </Link>
      </div>
    </>
  );
}

/** The models that a channel's server lists, read on request. */
function UpstreamModels({ id }: { readonly id: number }) {
  const [listed, setListed] = useState<readonly string[]>();
  const ask = useWrite(() => call('listUpstreamModels', { params: { id } }), setListed);
  const words = wp().channels;
  if (listed !== undefined) {
    return <p>{listed.length === 0 ? words.listsNone : lead(words.lists) + listed.join(', ')}</p>;
  }
  return (
    <>
      <Button kind="quiet" disabled={ask.busy} onClick={() => void ask.run(undefined)}>
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
            aria-label={wp().kinds.model}
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
