import { useEffect } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import type { Operations } from '../../api/operations.js';
import { useRead } from '../../api/query.js';
import { choicesOf } from '../../parts/choice.js';
import { Filter } from '../../parts/filter.js';
import type { ListQuery } from '../../parts/list.js';
import { isId } from '../../parts/record.js';
import { resource } from '../../resource.js';
import { navigate, useRoute } from '../../router.js';
import { Link } from '../../parts/buttons.js';
import { useTroubles } from '../../parts/troubles.js';
import { atom, useAtom } from '../../state.js';
import { w, wp } from '../../words.js';
import { ChannelActions } from './actions.js';
import { channelFacts, Details, Head } from './details.js';
import { EditChannel } from './edit.js';
import { Chosen, SwitchedNotice, type SwitchedMany } from './many.js';
import { ChannelState, REASONS, type Channel } from './state.js';
import { LastHour, useTraffic } from './traffic.js';
import { AddChannel } from './wizard.js';

const FILTERS = ['keyword', 'state', 'provider', 'tag', 'model', 'sort'] as const;
const EVERY_MS = 10_000;
/** What was switched last, while the page is open. */
const switched = atom<SwitchedMany | undefined>(undefined);

/** Every upstream: its state, the reason for it, and what can be done about it. */
export function Channels() {
  const { path } = useRoute();
  return path[1] === 'new' ? <AddChannel /> : <ChannelPage />;
}

const ChannelPage = resource({
  kind: 'channel',
  filters: FILTERS,
  useList: ({ query, page }) =>
    useRead(
      'searchChannels',
      {
        query: {
          ...{ p: page, page_size: 30, keyword: query.keyword },
          ...{ provider: query.provider, tag: query.tag, model: query.model },
          live: query.state === 'live' ? true : query.state === 'off' ? false : undefined,
          because: REASONS.find((reason) => reason === query.state),
          sort: sortOf(query.sort, query.model),
        },
      },
      { everyMs: EVERY_MS },
    ),
  useOne: (id) => {
    const reading = useRead('getChannel', { params: { id: Number(id) } }, { enabled: isId(id) });
    // What was read of the one before is of no use.
    const data = reading.data?.id === Number(id) ? reading.data : undefined;
    return { ...reading, data, loading: data === undefined && isId(id) };
  },
  useMore: (rows, open) => ({
    // One that is open beside the list need not be on this page of it.
    trafficOf: useTraffic([
      ...new Set([...rows.map(({ id }) => id), ...(isId(open ?? '') ? [Number(open)] : [])]),
    ]),
    providers: useRead('listProviders').data ?? [],
    troubleOf: useTroubles(),
  }),
  idOf: ({ id }: Channel) => id,
  titleOf: ({ name }: Channel) => name,
  shows: ({ trafficOf, troubleOf, providers }, nameOf) => {
    const words = wp().channels;
    const titleOf = (provider: string): string =>
      providers.find(({ id }) => id === provider)?.title ?? provider;
    return [
      {
        title: w().name,
        sort: 'name',
        narrow: true,
        fact: false,
        cell: ({ id, name, origin }) => (
          <>
            {nameOf(id, name, name)}
            {origin === 'config' ? (
              <abbr class="muted small" title={words.declaredHelp}>
                {' '}
                (c)
              </abbr>
            ) : null}
          </>
        ),
      },
      {
        title: words.state,
        sort: 'status',
        narrow: true,
        fact: false,
        cell: (channel) => <ChannelState channel={channel} trouble={troubleOf(channel)} />,
      },
      {
        ...{ title: words.lastHour, numeric: true, minor: true, fact: false },
        cell: ({ id }) => <LastHour traffic={trafficOf(id)} />,
      },
      {
        ...{ title: w().nav.models, narrow: true, fact: false },
        cell: ({ models }) => <Models models={models} />,
      },
      {
        ...{ title: wp().kinds.tag, sort: 'tag', narrow: true, fact: false },
        cell: ({ tag }) =>
          tag === null ? (
            <span class="muted">–</span>
          ) : (
            <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>
          ),
      },
      {
        ...{ title: words.provider, sort: 'provider', minor: true, lesser: true, narrow: true },
        cell: ({ provider }) => <span title={titleOf(provider)}>{titleOf(provider)}</span>,
        fact: false,
      },
      {
        ...{ title: words.order, sort: 'tried', numeric: true, minor: true, lesser: true },
        cell: ({ priority, weight }) => `${priority} · ${weight}`,
      },
      ...channelFacts(providers),
    ];
  },
  Filters,
  filtersBelow: true,
  make: () =>
    isAdmin() ? { label: wp().channels.new, onClick: () => navigate('channels/new') } : undefined,
  empty: () => ({
    title: wp().channels.none,
    children: wp().channels.noneHelp,
    command: 'npm run cli -- channels create --name local --provider local --models local/lexical',
  }),
  Above: () => {
    const done = useAtom(switched);
    useEffect(() => () => switched.set(undefined), []);
    return done === undefined ? null : <SwitchedNotice done={done} onDone={switched.set} />;
  },
  Below: ({ rows }) =>
    rows.some(({ origin }) => origin === 'config') ? (
      <p class="small muted">(c) {wp().channels.declaredLegend}</p>
    ) : null,
  Actions: ({ of }) => (isAdmin() ? <ChannelActions channel={of} /> : null),
  Chosen: ({ rows, onDone }) => (
    <Chosen ids={rows.map(({ id }) => id)} onDone={onDone} onSwitched={switched.set} />
  ),
  Head,
  Details,
  Editor: EditChannel,
  mayEdit: ({ origin }) => origin === 'store' && isAdmin(),
});

function Filters(list: ListQuery<(typeof FILTERS)[number]>) {
  const providers = useRead('listProviders');
  const tags = useRead('listTags');
  const words = wp().channels;
  return (
    <>
      <Filter of={list} name="keyword" label={words.find} />
      <Filter
        of={list}
        name="state"
        label={words.anyState}
        choices={['live', 'off', ...REASONS].map((value) => ({
          value,
          label: words.states[value] ?? value,
        }))}
      />
      <Filter
        of={list}
        name="provider"
        label={words.anyProvider}
        choices={(providers.data ?? []).map(({ id, title }) => ({ value: id, label: title }))}
      />
      <Filter
        of={list}
        name="tag"
        label={words.anyTag}
        choices={(tags.data ?? []).map(({ tag }) => ({ value: tag, label: tag }))}
      />
      <Filter of={list} name="model" label={wp().kinds.model} />
      <Filter of={list} name="sort" label={words.sort} choices={choicesOf(words.sorts)} />
    </>
  );
}

type Sort = Operations['searchChannels']['query']['sort'];

/** The channels of one model are sorted in the order in which they are tried, unless another order is picked. */
function sortOf(picked: string, model: string): Sort {
  // The heads of the columns name what the API sorts by.
  if (picked !== '') return picked as Sort;
  return model === '' ? undefined : 'tried';
}

const SHOWN_MODELS = 2;

function Models({ models }: { readonly models: Readonly<Record<string, string>> }) {
  const names = Object.keys(models);
  const rest = names.length - SHOWN_MODELS;
  return (
    <span title={names.join(', ')}>
      {names.slice(0, SHOWN_MODELS).join(', ')}
      {rest > 0 ? <span class="muted"> +{rest}</span> : null}
    </span>
  );
}
