import { seesAll } from '../../about.js';
import type { ReplyOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { count, someOf } from '../../lib/format.js';
import { EXAMPLE_BODY } from '../../lib/snippets.js';
import { Link } from '../../parts/buttons.js';
import { RequestCode } from '../../parts/code.js';
import { Filter } from '../../parts/filter.js';
import { priceText } from '../../parts/price.js';
import { factOf } from '../../parts/shown.js';
import { Moment, State, style } from '../../parts/values.js';
import { resource } from '../../resource.js';
import { w, wp } from '../../words.js';
import { Explain, Rungs, type Serving } from './explain.js';

type Model = ReplyOf<'listOwnModels'>[number];
/** The channels of each model, which operators alone see. */
type ServedBy = ((model: string) => Serving) | undefined;

const PAGE = 50;
const OFTEN = { everyMs: 15_000 };

/** The models that may be used, and their prices; for admins also which channels serve them, and in which order. */
export const Models = resource({
  kind: 'model',
  openBy: 'model',
  filters: ['keyword'],
  useList: ({ query, page }) => {
    const models = useRead('listOwnModels', {}, OFTEN);
    const wanted = query.keyword.toLowerCase();
    // The operation returns everything, so a search here misses nothing.
    const found = (models.data ?? []).filter(({ id, aliases }) =>
      [id, ...aliases].some((name) => name.toLowerCase().includes(wanted)),
    );
    const items = found.slice((page - 1) * PAGE, page * PAGE);
    const listed = { items, total: found.length, page, page_size: PAGE };
    return { ...models, data: models.data === undefined ? undefined : listed };
  },
  useOne: (id) => {
    const models = useRead('listOwnModels', {}, OFTEN);
    return { ...models, data: models.data?.find((model) => model.id === id) };
  },
  useMore: (): ServedBy => {
    const enabled = seesAll();
    const { data } = useRead('listChannelModels', {}, { enabled, ...OFTEN });
    return enabled ? (model) => data?.find(({ id }) => id === model)?.channels ?? [] : undefined;
  },
  idOf: ({ id }: Model) => id,
  titleOf: ({ id }: Model) => id,
  shows: (servedBy, nameOf) => {
    const words = wp().models;
    return [
      {
        title: wp().kinds.model,
        fact: false,
        cell: ({ id, aliases }) => (
          <span title={aliases.join(', ')}>
            {nameOf(id, id)}
            {aliases.length === 0 ? null : <span class="muted"> +{aliases.length}</span>}
          </span>
        ),
      },
      { title: w().status, cell: (model) => <ModelState model={model} /> },
      {
        title: words.price,
        cell: ({ price }) => priceText(price),
        fact: ({ id, price }) => (
          <>
            {priceText(price)}
            <PriceHistory model={id} />
          </>
        ),
      },
      ...(servedBy === undefined
        ? []
        : [
            {
              ...{ title: words.served, minor: true, narrow: true, fact: false as const },
              cell: ({ id }: Model) => <Served channels={servedBy(id)} />,
            },
          ]),
      factOf(words.aliases, ({ aliases }) =>
        aliases.length === 0 ? undefined : aliases.join(', '),
      ),
      factOf(words.most, ({ limits }) => limitsText(limits)),
    ];
  },
  Filters: (list) => <Filter of={list} name="keyword" label={wp().kinds.model} />,
  empty: () => ({
    title: wp().models.none,
    children: seesAll() ? wp().models.noneHelp : wp().models.noneForUsers,
    action: seesAll() ? (
      <Link class="button main" to="channels/new">
        {wp().channels.new}
      </Link>
    ) : undefined,
  }),
  Details,
});

function Served({ channels }: { readonly channels: Serving }) {
  const names = channels.map(({ name }) => name);
  const live = channels.filter((channel) => channel.live).length;
  return (
    <span title={names.join(', ')}>
      {wp().tags.liveOf(live, channels.length)}
      {names.length === 0 ? '' : `: ${someOf(names)}`}
    </span>
  );
}

function ModelState({ model: { live } }: { readonly model: Model }) {
  return <State sign={live ? 'ok' : 'bad'}>{live ? wp().models.live : wp().models.dark}</State>;
}

const LIMITED = [
  ...(['documents', 'query_characters', 'document_characters'] as const),
  ...(['request_characters', 'request_tokens'] as const),
];

/** How much one request may be, as far as it is known. */
function limitsText(limits: Model['limits']): string {
  const words = wp().models;
  const texts = LIMITED.flatMap((name) => {
    const most = limits[name];
    return most === null ? [] : [words.limits[name](count(most, style()))];
  });
  const known = texts.length === 0 ? [words.noLimit] : texts;
  return [...known, ...(limits.images ? [words.images] : [])].join(' · ');
}

const SHOWN_CHANGES = 5;

/** What a model cost before, newest first. */
function PriceHistory({ model }: { readonly model: string }) {
  const { data = [] } = useRead('listPriceChanges');
  const priced = data.some(({ prices }) => prices.some((price) => price.model === model));
  const changes = data.flatMap(({ changed_at: at, prices }) => {
    // A model that was never named costs what all others do.
    const change = prices.find((price) => price.model === (priced ? model : null));
    return change === undefined ? [] : [{ at, before: change.before }];
  });
  if (changes.length === 0) return null;
  return (
    <ul class="stack tight small muted">
      {changes
        .reverse()
        .slice(0, SHOWN_CHANGES)
        .map(({ at, before }) => (
          <li key={at}>
            {wp().models.costBefore(priceText(before))} <Moment seconds={at} />
          </li>
        ))}
    </ul>
  );
}

function Details({ of: { id }, more }: { readonly of: Model; readonly more: ServedBy }) {
  const words = wp().models;
  const name = encodeURIComponent(id);
  return (
    <>
      {more === undefined ? null : (
        <section class="stack tight">
          <h3>{words.ladder}</h3>
          <Rungs channels={more(id)} model={id} />
          <Explain key={id} model={id} />
        </section>
      )}
      <div class="row">
        <Link class="button" to={`playground?model=${name}`}>
          {wp().keys.tryIt}
        </Link>
        {more === undefined ? null : (
          <Link class="button" to={`channels?model=${name}`}>
            {words.channels}
          </Link>
        )}
        <Link class="button" to={`requests?model=${name}`}>
          {words.requests}
        </Link>
      </div>
      <section class="stack tight">
        <h3>{words.code}</h3>
        <RequestCode body={{ ...EXAMPLE_BODY, model: id }} />
      </section>
    </>
  );
}
