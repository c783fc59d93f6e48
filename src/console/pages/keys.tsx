import { useRef, useState } from 'preact/hooks';
import { about, isAdmin, seesAll } from '../about.js';
import { call, download, type ItemOf, type ReplyOf } from '../api/call.js';
import type { Operations } from '../api/operations.js';
import { useRead, useWrite } from '../api/query.js';
import { EXAMPLE_BODY } from '../lib/snippets.js';
import { Button, Chip, Link } from '../parts/buttons.js';
import { FilterText, TextField } from '../parts/fields.js';
import { Empty, ErrorNotice } from '../parts/notices.js';
import { Ago, Count, Moment, Money } from '../parts/values.js';
import { BudgetFacts } from '../parts/budget.js';
import { RequestCode } from '../parts/code.js';
import { FilterSelect } from '../parts/form.js';
import { CsvButton } from '../parts/csv-button.js';
import { ListHead } from '../parts/list-head.js';
import { isId, Record, RecordLink } from '../parts/record.js';
import { List, useListQuery, useOpenRow, type Column } from '../parts/table.js';
import { toast } from '../parts/toast.js';
import { setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';
import { ChosenKeys, KeyActions, ShownOnce, TryKey } from './key-actions.js';
import { NewKey, type Made } from './key-form.js';
import { KeyState, Left, mayChange, SOON_S, UNUSED_S } from './key-view.js';

type Listed = ItemOf<'searchTokens'>;
type KeyRecord = ReplyOf<'getToken'>;
type Sort = Operations['searchTokens']['query']['sort'];

const STATES = {
  '1': 'enabled',
  '2': 'disabled',
  '3': 'expired',
  '4': 'exhausted',
  soon: 'endsSoon',
  unused: 'unused',
} as const;
type StateName = keyof typeof STATES;
const DAY_S = 86_400;

/** The filter behind a state; times are rounded to the day, so that not every render makes a new query. */
function filterOf(state: string): {
  status?: 1 | 2 | 3 | 4;
  expires_before?: number;
  unused_since?: number;
} {
  const today = Math.floor(Date.now() / 1000 / DAY_S) * DAY_S;
  if (state === 'soon') return { status: 1, expires_before: today + DAY_S + SOON_S };
  if (state === 'unused') return { status: 1, unused_since: today - UNUSED_S };
  const status = ([1, 2, 3, 4] as const).find((one) => String(one) === state);
  return status === undefined ? {} : { status };
}

/** Keys: what each may spend and use, what is left, and a new key, which is shown once. */
export function Keys() {
  const { path } = useRoute();
  return path[1] === undefined ? <KeyList /> : <OneKey id={path[1]} />;
}

function KeyList() {
  const { query: address } = useRoute();
  const { query, page, filtered, set, clear } = useListQuery([
    'keyword',
    'user_id',
    'status',
    'sort',
  ]);
  const [made, setMade] = useState<Made>();
  const [chosen, setChosen] = useState<ReadonlySet<string | number>>(new Set());
  const seen = useRef(new Map<number, Listed>());
  const owner = seesAll() && query.user_id !== '' ? Number(query.user_id) : undefined;
  // The heads of the columns name what the API sorts by.
  const sort = query.sort as Sort;
  const wanted = { keyword: query.keyword, user_id: owner, sort, ...filterOf(query.status) };
  const reading = useRead('searchTokens', { query: { p: page, page_size: 30, ...wanted } });
  // Rows that were chosen on another page keep their names.
  for (const key of reading.data?.items ?? []) seen.current.set(key.id, key);
  const picked = [...chosen].flatMap((id) => seen.current.get(Number(id)) ?? []);
  const { openId, onOpen, close } = useOpenRow();
  const making = address.get('new') !== null;
  const make = { label: wp().keys.new, onClick: () => setQuery({ new: '1' }) };
  return (
    <>
      <ListHead title={w().nav.keys} total={reading.data?.total} make={make}>
        <FilterText
          label={w().name}
          value={query.keyword}
          onChange={(keyword) => set({ keyword })}
        />
        <FilterSelect
          label={wp().keys.anyState}
          value={query.status}
          choices={(Object.keys(STATES) as StateName[]).map((value) => ({
            value,
            label: wp().keys.states[STATES[value]],
          }))}
          onChange={(state) => set({ status: state })}
        />
        {owner === undefined ? null : (
          <Chip onRemove={() => set({ user_id: '' })}>
            {wp().requests.account}: {reading.data?.items[0]?.owner ?? `#${owner}`}
          </Chip>
        )}
        <CsvButton save={() => download('searchTokens', { query: wanted }, 'keys.csv')} />
      </ListHead>
      {picked.length === 0 ? null : (
        <ChosenKeys keys={picked} onDone={() => setChosen(new Set())} />
      )}
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={
          <Empty
            title={wp().keys.noneYet}
            make={make}
            command="npm run cli -- keys create --name my-app"
          >
            {wp().keys.noneHelp}
          </Empty>
        }
        label={w().nav.keys}
        idOf={({ id }) => id}
        openId={openId}
        onOpen={onOpen}
        {...(isAdmin() || !seesAll() ? { selection: { ids: chosen, onChange: setChosen } } : {})}
        columns={[
          {
            title: w().name,
            sort: 'name',
            narrow: true,
            cell: (key) => (
              <>
                <RecordLink kind="key" id={key.id} title={key.name} onOpen={() => onOpen(key)}>
                  {key.name}
                </RecordLink>{' '}
                <code class="muted small">{key.key_hint}</code>
              </>
            ),
          },
          ...(seesAll() ? [ownerColumn()] : []),
          { title: w().status, cell: (key) => <KeyState token={key} /> },
          { title: wp().keys.left, sort: 'remain_quota', cell: (key) => <Left token={key} /> },
          {
            title: wp().keys.spent,
            sort: '-used_quota',
            numeric: true,
            minor: true,
            cell: ({ used_quota }) => <Money units={used_quota} />,
          },
          {
            title: w().nav.models,
            minor: true,
            lesser: true,
            cell: ({ model_limits_enabled, model_limits }) =>
              model_limits_enabled ? model_limits.join(', ') : w().all,
          },
          {
            title: w().nav.tags,
            minor: true,
            lesser: true,
            cell: ({ tags }) => (tags.length === 0 ? w().all : tags.join(', ')),
          },
          {
            title: wp().keys.ends,
            sort: 'expired_time',
            minor: true,
            cell: ({ expired_time }) =>
              expired_time < 0 ? wp().keys.noEnd : <Ago seconds={expired_time} />,
          },
          {
            title: wp().keys.used,
            sort: '-accessed_time',
            minor: true,
            // A new key counts as accessed at the time when it was made.
            cell: ({ accessed_time, created_time, used_quota }) =>
              accessed_time <= created_time && used_quota === 0 ? (
                w().never
              ) : (
                <Ago seconds={accessed_time} />
              ),
          },
        ]}
        actions={(key) => (mayChange(key) ? <KeyActions token={key} /> : null)}
      />
      {making ? (
        <NewKey
          onClose={() => setQuery({ new: '' }, { replace: true })}
          onMade={(key) => {
            setMade(key);
            setQuery({ new: '' }, { replace: true });
          }}
        />
      ) : null}
      {made === undefined ? null : <ShownOnce made={made} onClose={() => setMade(undefined)} />}
      {openId === undefined ? null : <OneKey key="open" id={openId} onClose={close} />}
    </>
  );
}

/** Whose key it is. */
function ownerColumn(): Column<Listed> {
  return {
    title: wp().requests.account,
    minor: true,
    narrow: true,
    cell: ({ owner, user_id: id }) => <Link to={`people?open=${id}`}>{owner}</Link>,
  };
}

/** One key: beside the list if that can be closed, else as a page. */
function OneKey({
  id,
  onClose,
}: {
  readonly id: string | number;
  readonly onClose?: (() => void) | undefined;
}) {
  const reading = useRead(
    'getToken',
    { params: { id: Number(id) } },
    { keep: false, enabled: isId(id) },
  );
  return (
    <Record kind="key" id={id} reading={reading} title={reading.data?.name} onClose={onClose}>
      {(token) => <KeyDetails key={token.id} data={token} />}
    </Record>
  );
}

function KeyDetails({ data }: { readonly data: KeyRecord }) {
  const { id } = data;
  const [amount, setAmount] = useState('');
  const perDollar = about.get()?.units_per_usd ?? 1;
  const add = useWrite((units: number) => call('updateToken', { body: { id, add_quota: units } }));
  return (
    <div class="stack wide">
      {mayChange(data) ? (
        <div class="row end">
          <KeyActions token={data} />
        </div>
      ) : null}
      <dl class="facts">
        <dt>{wp().keys.key}</dt>
        <dd>
          <code>{data.key_hint}</code>
        </dd>
        {data.old_key_until === 0 ? null : (
          <>
            <dt>{wp().keys.oldKey}</dt>
            <dd>
              {wp().keys.worksUntil} <Moment seconds={data.old_key_until} />
            </dd>
          </>
        )}
        <dt>{w().status}</dt>
        <dd>
          <KeyState token={data} />
        </dd>
        <dt>{wp().keys.left}</dt>
        <dd>
          <Left token={data} />
        </dd>
        <dt>{wp().keys.spent}</dt>
        <dd>
          <Money units={data.used_quota} />
        </dd>
        <BudgetFacts of={data} />
        <dt>{w().nav.models}</dt>
        <dd>{data.model_limits_enabled ? data.model_limits.join(', ') : w().all}</dd>
        <dt>{w().nav.tags}</dt>
        <dd>{data.tags.length === 0 ? w().all : data.tags.join(', ')}</dd>
        {Object.keys(data.aliases).length === 0 ? null : (
          <>
            <dt>{wp().keys.aliases}</dt>
            <dd>
              {Object.entries(data.aliases)
                .map(([alias, model]) => `${alias} = ${model}`)
                .join(', ')}
            </dd>
          </>
        )}
        {data.fallbacks.length === 0 ? null : (
          <>
            <dt>{wp().keys.fallbacks}</dt>
            <dd>{data.fallbacks.join(', ')}</dd>
          </>
        )}
        <dt>{wp().keys.perMinute}</dt>
        <dd>{data.rate_limit === 0 ? wp().keys.unlimited : <Count value={data.rate_limit} />}</dd>
        <dt>{wp().keys.atOnce}</dt>
        <dd>
          {data.max_concurrency === 0 ? (
            wp().keys.unlimited
          ) : (
            <Count value={data.max_concurrency} />
          )}
        </dd>
        <dt>{w().created}</dt>
        <dd>
          <Moment seconds={data.created_time} />
        </dd>
        <dt>{wp().keys.ends}</dt>
        <dd>{data.expired_time < 0 ? wp().keys.noEnd : <Moment seconds={data.expired_time} />}</dd>
      </dl>
      {data.unlimited_quota || !mayChange(data) ? null : (
        <form
          class="row"
          onSubmit={(event) => {
            event.preventDefault();
            void add.run(Math.round(Number(amount) * perDollar)).then((done) => {
              if (done === undefined) return;
              setAmount('');
              toast(w().saved);
            });
          }}
        >
          <TextField
            label={wp().keys.addBudget}
            type="number"
            step="any"
            value={amount}
            onInput={setAmount}
          />
          <Button type="submit" disabled={add.busy || !(Number(amount) > 0)}>
            {wp().keys.add}
          </Button>
        </form>
      )}
      <ErrorNotice error={add.error} />
      <div class="row">
        <Link class="button" to={`requests?token_name=${encodeURIComponent(data.name)}`}>
          {wp().requests.sameKey}
        </Link>
        <TryKey token={data} />
      </div>
      <RequestCode body={EXAMPLE_BODY} />
    </div>
  );
}
