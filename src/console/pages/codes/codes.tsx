import { useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import { call, type ItemOf } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { Button, Link } from '../../parts/buttons.js';
import { ConfirmWrite } from '../../parts/confirm-write.js';
import { Filter } from '../../parts/filter.js';
import type { ListQuery } from '../../parts/list.js';
import { isId } from '../../parts/record.js';
import { RowMenu } from '../../parts/row-menu.js';
import { toast } from '../../parts/toast.js';
import { Ago, Money, State } from '../../parts/values.js';
import { createdOf, momentOf } from '../../parts/shown.js';
import { resource } from '../../resource.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import { Batches } from './batches.js';
import { MakeCodes } from './make.js';

type Code = ItemOf<'searchRedemptionCodes'>;

const USED = 3;
const DISABLED = 2;
const STATUSES = [1, DISABLED, USED] as const;
const STATE_NAMES = { 1: 'left', 2: 'disabled', 3: 'used' } as const;
const FILTERS = ['keyword', 'batch_id', 'status'] as const;

/** Codes that are redeemed for balance: making a batch, showing it once, and what became of the codes. */
export const Codes = resource({
  kind: 'code',
  filters: FILTERS,
  useList: ({ query: { keyword, batch_id, status }, page }) =>
    useRead('searchRedemptionCodes', {
      query: {
        ...{ p: page, page_size: 30, keyword, batch_id },
        status: STATUSES.find((one) => String(one) === status),
      },
    }),
  useOne: (id) =>
    useRead(
      'getRedemptionCode',
      { params: { id: Number(id) } },
      { keep: false, enabled: isId(id) },
    ),
  idOf: ({ id }) => id,
  titleOf: ({ name }) => name,
  shows: (_, nameOf) => {
    const words = wp().codes;
    return [
      { title: w().name, cell: ({ id, name }) => nameOf(id, name), fact: false },
      { title: wp().kinds.code, cell: ({ key_hint }) => <code>{key_hint}</code> },
      { title: words.each, numeric: true, cell: ({ quota }) => <Money units={quota} /> },
      { title: w().status, cell: (code) => <CodeState code={code} /> },
      { title: words.redeemed, minor: true, cell: (code) => <Redeemed code={code} /> },
      { ...momentOf(wp().keys.ends, (code) => code.expired_time, wp().keys.noEnd), minor: true },
      createdOf(),
    ];
  },
  Filters,
  make: () =>
    isAdmin() ? { label: wp().codes.make, onClick: () => setQuery({ new: '1' }) } : undefined,
  Make: MakeCodes,
  empty: () => ({
    title: wp().codes.none,
    children: wp().codes.noneHelp,
    command: 'npm run cli -- codes create --name meetup --quota 5usd --count 100',
  }),
  Above: ({ filtered }) => (filtered ? null : <Batches />),
  Actions: ({ of }) => (isAdmin() ? <CodeActions code={of} /> : null),
  Details: ({ of: { batch_id: batch } }) =>
    batch === '' ? null : (
      <div class="row">
        <Link class="button" to={`codes?batch_id=${batch}`}>
          {wp().codes.ofBatch}
        </Link>
      </div>
    ),
});

function Filters(list: ListQuery<(typeof FILTERS)[number]>) {
  const [pruning, setPruning] = useState(false);
  const words = wp().codes;
  return (
    <>
      <Filter of={list} name="keyword" label={w().name} />
      <Filter
        of={list}
        name="status"
        label={wp().keys.anyState}
        choices={STATUSES.map((one) => ({
          value: String(one),
          label: words.states[STATE_NAMES[one]],
        }))}
      />
      {isAdmin() ? <Button onClick={() => setPruning(true)}>{words.deleteInvalid}</Button> : null}
      {pruning ? (
        <ConfirmWrite
          title={words.deleteInvalidTitle}
          action={w().delete}
          write={(why) => call('deleteInvalidRedemptionCodes', { query: why })}
          onDone={(count) => toast(words.deletedCount(count))}
          onClose={() => setPruning(false)}
        />
      ) : null}
    </>
  );
}

/** By whom a code was redeemed, and when. */
function Redeemed({
  code: { redeemed_time: at, used_user_id: user, used_by: name },
}: {
  readonly code: Code;
}) {
  return at === 0 ? (
    <span class="muted">–</span>
  ) : (
    <>
      <Link to={`people?open=${user}`}>{name ?? `#${user}`}</Link> <Ago seconds={at} />
    </>
  );
}

function CodeState({ code: { status, expired_time: ends } }: { readonly code: Code }) {
  const { states } = wp().codes;
  if (status === USED) return <State sign="off">{states.used}</State>;
  if (status === DISABLED) return <State sign="off">{states.disabled}</State>;
  if (ends !== 0 && ends * 1000 <= Date.now()) return <State sign="bad">{states.expired}</State>;
  return <State sign="ok">{states.left}</State>;
}

function CodeActions({ code: { id, status, key_hint: hint } }: { readonly code: Code }) {
  const update = (wanted: 1 | 2) => () =>
    call('updateRedemptionCode', { query: { status_only: 'true' }, body: { id, status: wanted } });
  return (
    <RowMenu
      name={hint}
      items={[
        status === 1
          ? { label: w().disable, write: update(2) }
          : status === DISABLED
            ? { label: w().enable, write: update(1) }
            : undefined,
        {
          label: `${w().delete}…`,
          danger: true,
          ask: (onClose) => (
            <ConfirmWrite
              title={wp().codes.deleteTitle(hint)}
              action={w().delete}
              write={(why) => call('deleteRedemptionCode', { params: { id }, query: why })}
              onDone={() => toast(w().deleted)}
              onClose={onClose}
            />
          ),
        },
      ]}
    />
  );
}
