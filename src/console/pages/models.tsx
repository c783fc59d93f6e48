import { useState } from 'preact/hooks';
import { seesAll } from '../about.js';
import { call, type ReplyOf } from '../api/call.js';
import { useRead, useWrite } from '../api/query.js';
import { count, percent, someOf } from '../lib/format.js';
import { tiersOf } from '../lib/order.js';
import { EXAMPLE_BODY } from '../lib/snippets.js';
import { Button, Link } from '../parts/buttons.js';
import { FilterText } from '../parts/fields.js';
import { Empty, ErrorNotice } from '../parts/notices.js';
import { Moment, State, money, style } from '../parts/values.js';
import { RequestCode } from '../parts/code.js';
import { ListHead } from '../parts/list-head.js';
import { priceText } from '../parts/price.js';
import { Record, RecordLink } from '../parts/record.js';
import { List, useListQuery } from '../parts/table.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';

type Model = ReplyOf<'listOwnModels'>[number];
type Serving = ReplyOf<'listChannelModels'>[number]['channels'];

const PAGE = 50;
const EVERY_MS = 15_000;

/** The models that may be used, and their prices; for admins also which channels serve them, and in which order. */
export function Models() {
  const { path, query: address } = useRoute();
  const { query, page, filtered, set, clear } = useListQuery(['keyword']);
  const models = useRead('listOwnModels', {}, { everyMs: EVERY_MS });
  const admin = seesAll();
  const serving = useRead('listChannelModels', {}, { enabled: admin, everyMs: EVERY_MS });
  const words = wp().models;
  const [, only] = path;
  const open = only ?? address.get('model');
  const close = (): void => setQuery({ model: '' }, { replace: true });
  const wanted = query.keyword.toLowerCase();
  // Both operations return everything, so a search here misses nothing.
  const found = (models.data ?? []).filter(({ id, aliases }) =>
    [id, ...aliases].some((name) => name.toLowerCase().includes(wanted)),
  );
  const listed = {
    items: found.slice((page - 1) * PAGE, page * PAGE),
    ...{ total: found.length, page, page_size: PAGE },
  };
  const servedBy = (model: string): Serving =>
    serving.data?.find(({ id }) => id === model)?.channels ?? [];
  const opened = models.data?.find(({ id }) => id === open);
  const record =
    open === null ? null : (
      <Record
        key="model"
        kind="model"
        id={open}
        reading={{ ...models, data: opened }}
        title={open}
        onClose={only === undefined ? close : undefined}
      >
        {(model) => (
          <OneModel
            key={model.id}
            model={model}
            channels={admin ? servedBy(model.id) : undefined}
          />
        )}
      </Record>
    );
  if (only !== undefined) return record;
  return (
    <>
      <ListHead title={w().nav.models} total={models.data === undefined ? undefined : found.length}>
        <FilterText
          label={words.find}
          value={query.keyword}
          onChange={(keyword) => set({ keyword })}
        />
      </ListHead>
      <List
        reading={{ ...models, data: models.data === undefined ? undefined : listed }}
        filtered={filtered}
        clear={clear}
        empty={
          <Empty
            title={words.none}
            action={
              admin ? (
                <Link class="button main" to="channels/new">
                  {wp().channels.new}
                </Link>
              ) : undefined
            }
          >
            {admin ? words.noneHelp : words.noneForUsers}
          </Empty>
        }
        label={w().nav.models}
        idOf={({ id }) => id}
        openId={open ?? undefined}
        onOpen={({ id }) => setQuery({ model: id }, { replace: open !== null })}
        columns={[
          {
            title: words.model,
            cell: ({ id, aliases }) => (
              <span title={aliases.join(', ')}>
                <RecordLink kind="model" id={id} onOpen={() => setQuery({ model: id })}>
                  {id}
                </RecordLink>
                {aliases.length === 0 ? null : <span class="muted"> +{aliases.length}</span>}
              </span>
            ),
          },
          { title: w().status, cell: (model) => <ModelState model={model} /> },
          { title: words.price, cell: ({ price }) => priceText(price) },
          ...(admin
            ? [
                {
                  title: words.served,
                  minor: true,
                  narrow: true,
                  cell: ({ id }: Model) => {
                    const channels = servedBy(id);
                    const live = channels.filter((channel) => channel.live).length;
                    const names = channels.map(({ name }) => name);
                    return (
                      <span title={names.join(', ')}>
                        {words.servedBy(live, channels.length)}
                        {names.length === 0 ? '' : `: ${someOf(names)}`}
                      </span>
                    );
                  },
                },
              ]
            : []),
        ]}
      />
      {record}
    </>
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

function OneModel({
  model,
  channels,
}: {
  readonly model: Model;
  readonly channels: Serving | undefined;
}) {
  const words = wp().models;
  const name = encodeURIComponent(model.id);
  return (
    <div class="stack wide">
      <dl class="facts">
        <dt>{w().status}</dt>
        <dd>
          <ModelState model={model} />
        </dd>
        <dt>{words.price}</dt>
        <dd>
          {priceText(model.price)}
          <PriceHistory model={model.id} />
        </dd>
        {model.aliases.length === 0 ? null : (
          <>
            <dt>{words.aliases}</dt>
            <dd>{model.aliases.join(', ')}</dd>
          </>
        )}
        <dt>{words.most}</dt>
        <dd>{limitsText(model.limits)}</dd>
      </dl>
      {channels === undefined ? null : (
        <section class="stack tight">
          <h3>{words.ladder}</h3>
          <Rungs channels={channels} model={model.id} />
          <Explain key={model.id} model={model.id} />
        </section>
      )}
      <div class="row">
        <Link class="button" to={`playground?model=${name}`}>
          {words.tryIt}
        </Link>
        {channels === undefined ? null : (
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
        <RequestCode body={{ ...EXAMPLE_BODY, model: model.id }} />
      </section>
    </div>
  );
}

type Explained = ReplyOf<'explainRoute'>;

/** What the gateway that answers would do with a request for the model right now. */
function Explain({ model }: { readonly model: string }) {
  const [explained, setExplained] = useState<Explained>();
  const words = wp().models;
  const ask = useWrite(() => call('explainRoute', { body: { model } }));
  return (
    <div class="stack tight">
      <div class="row">
        <Button disabled={ask.busy} onClick={() => void ask.run(undefined).then(setExplained)}>
          {words.explain}
        </Button>
        <span class="muted small">{words.explainHelp}</span>
      </div>
      <ErrorNotice error={ask.error} />
      {explained === undefined ? null : (
        <div class="notice" role="status">
          <div class="grow stack tight">
            {explained.refusal === null ? (
              <p>{words.wouldCost(money(explained.cost.estimated))}</p>
            ) : (
              <p>
                <State sign="bad">
                  {words.refused(explained.refusal.status, explained.refusal.code)}
                </State>{' '}
                {explained.refusal.message}
              </p>
            )}
            <Ways of={explained} />
            {explained.fallbacks.map((fallback) => (
              <div key={fallback.model} class="stack tight">
                <p>{words.fallback(fallback.model)}</p>
                <Ways of={fallback} />
              </div>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}

function Ways({
  of: { candidates, passed_over: passedOver },
}: {
  readonly of: Pick<Explained, 'candidates' | 'passed_over'>;
}) {
  const words = wp().models;
  return (
    <>
      {candidates.length === 0 ? null : <p class="muted">{words.tried}</p>}
      <ol class="ladder">
        {candidates.map(({ id, name, priority, chance }) => (
          <li key={id}>
            <State sign="ok">{name}</State>
            <span class="muted">
              {words.tier(priority)} · {percent(chance)}
            </span>
          </li>
        ))}
      </ol>
      {passedOver.length === 0 ? null : <p class="muted">{words.passedOver}</p>}
      <ul class="stack tight">
        {passedOver.map(({ id, name, message }) => (
          <li key={id}>
            <State sign="off">
              {name}: {message}
            </State>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Which channels are tried first and which next, and each one's share of the requests. */
function Rungs({ channels, model }: { readonly channels: Serving; readonly model: string }) {
  const words = wp().models;
  const { states } = wp().channels;
  return (
    <ol class="stack tight">
      {tiersOf(channels).map(({ priority, rungs }) => (
        <li key={priority} class="stack tight">
          <span class="muted small">{words.tier(priority)}</span>
          <ul class="ladder">
            {rungs.map(({ channel, share }) => (
              <li key={channel.id}>
                <State sign={channel.live ? 'ok' : 'off'}>
                  <Link to={`channels?open=${channel.id}`}>{channel.name}</Link>
                </State>
                <span class="muted">
                  {channel.live
                    ? words.share(percent(share))
                    : (states[channel.because ?? 'off'] ?? channel.because)}
                  {channel.upstream_model === model ? '' : ` → ${channel.upstream_model}`}
                </span>
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ol>
  );
}
