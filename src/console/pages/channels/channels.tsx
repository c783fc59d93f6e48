import { useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import type { Operations } from '../../api/operations.js';
import { useRead } from '../../api/query.js';
import { Link } from '../../parts/buttons.js';
import { FilterText } from '../../parts/fields.js';
import { Empty } from '../../parts/notices.js';
import { FilterSelect } from '../../parts/form.js';
import { ListHead } from '../../parts/list-head.js';
import { RecordLink } from '../../parts/record.js';
import { List, useListQuery, useOpenRow } from '../../parts/table.js';
import { navigate, useRoute } from '../../router.js';
import { w, wp } from '../../words.js';
import {
  ChannelActions,
  ChannelState,
  Chosen,
  REASONS,
  SwitchedNotice,
  type SwitchedMany,
} from './actions.js';
import { OneChannel } from './drawer.js';
import { isId } from '../../parts/record.js';
import { LastHour, recentOf, useTraffic } from './traffic.js';
import { AddChannel } from './wizard.js';

const FILTERS = ['keyword', 'state', 'provider', 'tag', 'model', 'sort'] as const;
const EVERY_MS = 10_000;

/** Every upstream: its state, the reason for it, and what can be done about it. */
export function Channels() {
  const { path } = useRoute();
  if (path[1] === 'new') return <AddChannel />;
  return path[1] === undefined ? <ChannelList /> : <OneChannel id={path[1]} />;
}

function ChannelList() {
  const { query, page, filtered, set, clear } = useListQuery(FILTERS);
  const [chosen, setChosen] = useState<ReadonlySet<string | number>>(new Set());
  const [switched, setSwitched] = useState<SwitchedMany>();
  const because = REASONS.find((reason) => reason === query.state);
  const reading = useRead(
    'searchChannels',
    {
      query: {
        ...{ p: page, page_size: 30, keyword: query.keyword },
        ...{ provider: query.provider, tag: query.tag, model: query.model },
        live: query.state === 'live' ? true : query.state === 'off' ? false : undefined,
        because,
        sort: sortOf(query.sort, query.model),
      },
    },
    { everyMs: EVERY_MS },
  );
  const { openId, onOpen } = useOpenRow();
  const listed = (reading.data?.items ?? []).map(({ id }) => id);
  // One that is open beside the list need not be on this page of it.
  const opened = reading.data !== undefined && isId(openId ?? '') ? [Number(openId)] : [];
  const trafficOf = useTraffic([...new Set([...listed, ...opened])]);
  const providers = useRead('listProviders');
  const tags = useRead('listTags');
  const words = wp().channels;
  const make = { label: words.new, onClick: () => navigate('channels/new') };
  const making = isAdmin() ? { make } : {};
  const titleOf = (provider: string): string =>
    providers.data?.find(({ id }) => id === provider)?.title ?? provider;
  return (
    <>
      <ListHead title={w().nav.channels} total={reading.data?.total} {...making} />
      <div class="row">
        <FilterText
          label={words.find}
          value={query.keyword}
          onChange={(keyword) => set({ keyword })}
        />
        <FilterSelect
          label={words.anyState}
          value={query.state}
          choices={['live', 'off', ...REASONS].map((value) => ({
            value,
            label: words.states[value] ?? value,
          }))}
          onChange={(state) => set({ state })}
        />
        <FilterSelect
          label={words.anyProvider}
          value={query.provider}
          choices={(providers.data ?? []).map(({ id, title }) => ({ value: id, label: title }))}
          onChange={(provider) => set({ provider })}
        />
        <FilterSelect
          label={words.anyTag}
          value={query.tag}
          choices={(tags.data ?? []).map(({ tag }) => ({ value: tag, label: tag }))}
          onChange={(tag) => set({ tag })}
        />
        <FilterText label={words.model} value={query.model} onChange={(model) => set({ model })} />
        <FilterSelect
          label={words.sort}
          value={query.sort}
          choices={(['id', 'name', 'tried'] as const).map((value) => ({
            value,
            label: words.sorts[value],
          }))}
          onChange={(sort) => set({ sort })}
        />
      </div>
      {switched === undefined ? null : <SwitchedNotice done={switched} onDone={setSwitched} />}
      {chosen.size === 0 ? null : (
        <Chosen ids={chosen} onDone={() => setChosen(new Set())} onSwitched={setSwitched} />
      )}
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={
          <Empty
            title={words.none}
            {...making}
            command="npm run cli -- channels create --name local --provider local --models local/lexical"
          >
            {words.noneHelp}
          </Empty>
        }
        label={w().nav.channels}
        idOf={({ id }) => id}
        openId={openId}
        onOpen={onOpen}
        selection={{ ids: chosen, onChange: setChosen }}
        columns={[
          {
            title: w().name,
            sort: 'name',
            narrow: true,
            cell: ({ id, name, origin }) => (
              <>
                <RecordLink kind="channel" id={id} title={name} onOpen={() => onOpen({ id })}>
                  {name}
                </RecordLink>
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
            cell: (channel) => (
              <ChannelState channel={channel} recent={recentOf(trafficOf(channel.id))} />
            ),
          },
          {
            title: words.lastHour,
            numeric: true,
            minor: true,
            cell: ({ id }) => <LastHour traffic={trafficOf(id)} />,
          },
          { title: w().nav.models, narrow: true, cell: ({ models }) => <Models models={models} /> },
          {
            title: words.tag,
            sort: 'tag',
            narrow: true,
            cell: ({ tag }) =>
              tag === null ? (
                <span class="muted">–</span>
              ) : (
                <Link to={`tags?open=${encodeURIComponent(tag)}`}>{tag}</Link>
              ),
          },
          {
            title: words.provider,
            sort: 'provider',
            minor: true,
            lesser: true,
            narrow: true,
            cell: ({ provider }) => <span title={titleOf(provider)}>{titleOf(provider)}</span>,
          },
          {
            title: words.order,
            sort: 'tried',
            numeric: true,
            minor: true,
            lesser: true,
            cell: ({ priority, weight }) => `${priority} · ${weight}`,
          },
        ]}
        actions={(channel) => (isAdmin() ? <ChannelActions channel={channel} /> : null)}
      />
      {reading.data?.items.some(({ origin }) => origin === 'config') === true ? (
        <p class="small muted">(c) {words.declaredLegend}</p>
      ) : null}
      {openId === undefined ? null : <OneChannel id={openId} isBeside trafficOf={trafficOf} />}
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
