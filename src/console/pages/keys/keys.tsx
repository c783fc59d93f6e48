import { useState } from 'preact/hooks';
import { isAdmin, seesAll } from '../../about.js';
import { call, download, type ReplyOf } from '../../api/call.js';
import { MEMBERS } from '../../api/members.js';
import type { Operations } from '../../api/operations.js';
import { useRead, useWrite } from '../../api/query.js';
import { unitsOf } from '../../lib/format.js';
import { budgetFacts } from '../../parts/budget.js';
import { Button, Chip, Link } from '../../parts/buttons.js';
import { KeyCode } from '../../parts/code.js';
import { CsvButton } from '../../parts/csv-button.js';
import { TextField } from '../../parts/fields.js';
import { Filter } from '../../parts/filter.js';
import { Form } from '../../parts/form.js';
import type { ListQuery } from '../../parts/list.js';
import { memberFactsOf } from '../../parts/members.js';
import { ErrorNotice } from '../../parts/notices.js';
import { isId } from '../../parts/record.js';
import { createdOf, factOf, momentOf } from '../../parts/shown.js';
import { toast } from '../../parts/toast.js';
import { Moment, Money } from '../../parts/values.js';
import { resource } from '../../resource.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import { ChosenKeys, KeyActions } from './actions.js';
import { NewKey } from './form.js';
import { TryKey } from './shown-once.js';
import { KeyState, Left, mayChange, SOON_S, UNUSED_S } from './view.js';

/** A key; those of a list come with their owner’s name. */
type Key = ReplyOf<'getToken'> & { readonly owner?: string | null };

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
const FILTERS = ['keyword', 'user_id', 'status', 'sort'] as const;
type Query = ListQuery<(typeof FILTERS)[number]>;
/** Members of the table that the facts show in another way. */
const TOLD = ['budget', 'budget_period', 'budget_time_zone'];

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

function wantedOf({ query: { keyword, user_id: owner, status, sort } }: Query) {
  return {
    keyword,
    user_id: seesAll() && owner !== '' ? Number(owner) : undefined,
    // The heads of the columns name what the API sorts by.
    sort: sort as Operations['searchTokens']['query']['sort'],
    ...filterOf(status),
  };
}

/** Keys: what each may spend and use, what is left, and a new key, which is shown once. */
export const Keys = resource({
  kind: 'key',
  filters: FILTERS,
  useList: (list) =>
    useRead('searchTokens', { query: { p: list.page, page_size: 30, ...wantedOf(list) } }),
  useOne: (id) =>
    useRead('getToken', { params: { id: Number(id) } }, { keep: false, enabled: isId(id) }),
  idOf: ({ id }: Key) => id,
  titleOf: ({ name }: Key) => name,
  shows: (_, nameOf) => {
    const words = wp().keys;
    return [
      {
        title: w().name,
        sort: 'name',
        narrow: true,
        cell: ({ id, name, key_hint }) => (
          <>
            {nameOf(id, name, name)} <code class="muted small">{key_hint}</code>
          </>
        ),
        label: () => wp().kinds.key,
        fact: ({ key_hint }) => <code>{key_hint}</code>,
      },
      ...(seesAll()
        ? [
            {
              ...{ title: wp().kinds.account, minor: true, narrow: true, fact: false as const },
              cell: ({ owner, user_id: id }: Key) => <Link to={`people?open=${id}`}>{owner}</Link>,
            },
          ]
        : []),
      factOf(words.oldKey, ({ old_key_until: until }) =>
        until === 0 ? undefined : (
          <>
            {words.worksUntil} <Moment seconds={until} />
          </>
        ),
      ),
      { title: w().status, cell: (key) => <KeyState token={key} /> },
      { title: words.left, sort: 'remain_quota', cell: (key) => <Left token={key} /> },
      {
        ...{ title: w().home.spent, sort: '-used_quota', numeric: true, minor: true },
        cell: ({ used_quota }) => <Money units={used_quota} />,
      },
      ...budgetFacts<Key>(),
      {
        ...{ title: w().nav.models, minor: true, lesser: true, narrow: true },
        cell: ({ model_limits_enabled: limited, model_limits: models }) =>
          limited ? models.join(', ') : w().all,
      },
      {
        ...{ title: w().nav.tags, minor: true, lesser: true, narrow: true },
        cell: ({ tags }) => (tags.length === 0 ? w().all : tags.join(', ')),
      },
      factOf(words.aliases, ({ aliases }) =>
        listOf(Object.entries(aliases).map(([alias, model]) => `${alias} = ${model}`)),
      ),
      factOf(words.fallbacks, ({ fallbacks }) => listOf(fallbacks)),
      ...memberFactsOf<Key>(MEMBERS.key.filter(({ name }) => !TOLD.includes(name))),
      {
        ...momentOf<Key>(words.ends, ({ expired_time: ends }) => ends, words.noEnd),
        ...{ sort: 'expired_time', minor: true },
      },
      {
        ...momentOf<Key>(words.used, usedAt),
        ...{ sort: '-accessed_time', minor: true, fact: false },
      },
      { ...createdOf<Key>(), factOnly: true },
    ];
  },
  Filters,
  make: () => ({ label: wp().keys.new, onClick: () => setQuery({ new: '1' }) }),
  Make: NewKey,
  empty: () => ({
    title: wp().keys.noneYet,
    children: wp().keys.noneHelp,
    command: 'npm run cli -- keys create --name my-app --quota 5usd',
  }),
  Actions: ({ of }) => (mayChange(of) ? <KeyActions token={of} /> : null),
  Chosen: ({ rows, onDone }) => <ChosenKeys keys={rows} onDone={onDone} />,
  mayChoose: () => isAdmin() || !seesAll(),
  Details,
});

function listOf(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(', ');
}

/** A new key counts as accessed at the time when it was made. */
function usedAt({ accessed_time: used, created_time: made, used_quota: spent }: Key): number {
  return used <= made && spent === 0 ? 0 : used;
}

function Filters(list: Query & { readonly rows: readonly Key[] }) {
  const { set, rows } = list;
  const wanted = wantedOf(list);
  const owner = wanted.user_id;
  return (
    <>
      <Filter of={list} name="keyword" label={w().name} />
      <Filter
        of={list}
        name="status"
        label={wp().keys.anyState}
        choices={(Object.keys(STATES) as StateName[]).map((value) => ({
          value,
          label: wp().keys.states[STATES[value]],
        }))}
      />
      {owner === undefined ? null : (
        <Chip onRemove={() => set({ user_id: '' })}>
          {wp().kinds.account}: {rows[0]?.owner ?? `#${owner}`}
        </Chip>
      )}
      <CsvButton save={() => download('searchTokens', { query: wanted }, 'keys.csv')} />
    </>
  );
}

function Details({ of: key }: { readonly of: Key }) {
  return (
    <>
      {key.unlimited_quota || !mayChange(key) ? null : <AddBudget id={key.id} />}
      <div class="row">
        <Link class="button" to={`requests?token_name=${encodeURIComponent(key.name)}`}>
          {wp().requests.sameKey}
        </Link>
        <TryKey token={key} />
      </div>
      <KeyCode of={key} />
    </>
  );
}

function AddBudget({ id }: { readonly id: number }) {
  const [amount, setAmount] = useState('');
  const add = useWrite(
    () => call('updateToken', { body: { id, add_quota: unitsOf(amount) } }),
    () => {
      setAmount('');
      toast(w().saved);
    },
  );
  return (
    <>
      <Form class="row" onSubmit={() => void add.run(undefined)}>
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
      </Form>
      <ErrorNotice error={add.error} />
    </>
  );
}
