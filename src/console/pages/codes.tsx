import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { about, isAdmin } from '../about.js';
import { call, save, type ItemOf, type ReplyOf } from '../api/call.js';
import type { Operations } from '../api/operations.js';
import { useRead, useWrite } from '../api/query.js';
import { csvOf } from '../lib/csv.js';
import { Button, CopyButton, Link } from '../parts/buttons.js';
import { FilterText } from '../parts/fields.js';
import { Empty, ErrorNotice } from '../parts/notices.js';
import { Ago, Count, Moment, Money, State, money, style } from '../parts/values.js';
import { ConfirmWrite, WriteFailed, useShownOnce } from '../parts/confirm-write.js';
import { Dialog, Menu } from '../parts/dialog.js';
import { FilterSelect, FormFields } from '../parts/form.js';
import { ListHead } from '../parts/list-head.js';
import { isId, Record, RecordLink } from '../parts/record.js';
import { List, createdColumn, Table, useListQuery, useOpenRow } from '../parts/table.js';
import { toast } from '../parts/toast.js';
import { gatewayAddress, setQuery, useRoute } from '../router.js';
import { w, wp } from '../words.js';

type Code = ItemOf<'searchRedemptionCodes'>;
type Batch = ReplyOf<'listRedemptionBatches'>[number];
type Body = Operations['createRedemptionCodes']['body'];

/** Codes that were just made. They exist only in their dialog. */
interface Fresh {
  readonly codes: readonly string[];
  readonly body: Body;
}

const USED = 3;
const DISABLED = 2;
const STATUSES = [1, DISABLED, USED] as const;
const STATE_NAMES = { 1: 'left', 2: 'disabled', 3: 'used' } as const;

/** Codes that are redeemed for balance: making a batch, showing it once, and what became of the codes. */
export function Codes() {
  const { path } = useRoute();
  return path[1] === undefined ? <CodeList /> : <OneCode id={path[1]} />;
}

function CodeList() {
  const { query: address } = useRoute();
  const { query, page, filtered, set, clear } = useListQuery(['keyword', 'batch_id', 'status']);
  const status = STATUSES.find((one) => String(one) === query.status);
  const reading = useRead('searchRedemptionCodes', {
    query: {
      ...{ p: page, page_size: 30, keyword: query.keyword },
      ...{ batch_id: query.batch_id, status },
    },
  });
  const [fresh, setFresh] = useState<Fresh>();
  const [pruning, setPruning] = useState(false);
  const { openId, onOpen, close } = useOpenRow();
  const words = wp().codes;
  const make = { label: words.make, onClick: () => setQuery({ new: '1' }) };
  const making = isAdmin() ? { make } : {};
  const closeNew = (): void => setQuery({ new: '' }, { replace: true });
  return (
    <>
      <ListHead title={w().nav.codes} total={reading.data?.total} {...making}>
        <FilterText
          label={words.find}
          value={query.keyword}
          onChange={(keyword) => set({ keyword })}
        />
        <FilterSelect
          label={words.anyState}
          value={query.status}
          choices={STATUSES.map((one) => ({
            value: String(one),
            label: words.states[STATE_NAMES[one]],
          }))}
          onChange={(picked) => set({ status: picked })}
        />
        {isAdmin() ? <Button onClick={() => setPruning(true)}>{words.deleteInvalid}</Button> : null}
      </ListHead>
      {filtered ? null : <Batches />}
      <List
        reading={reading}
        filtered={filtered}
        clear={clear}
        empty={
          <Empty
            title={words.none}
            {...making}
            command="npm run cli -- codes create --name meetup --quota 5usd --count 100"
          >
            {words.noneHelp}
          </Empty>
        }
        label={w().nav.codes}
        idOf={({ id }) => id}
        openId={openId}
        onOpen={onOpen}
        columns={[
          {
            title: w().name,
            cell: ({ id, name }) => (
              <RecordLink kind="code" id={id} onOpen={() => onOpen({ id })}>
                {name}
              </RecordLink>
            ),
          },
          { title: words.code, cell: ({ key_hint }) => <code>{key_hint}</code> },
          {
            title: words.each,
            numeric: true,
            cell: ({ quota }) => <Money units={quota} />,
          },
          { title: w().status, cell: (code) => <CodeState code={code} /> },
          {
            title: words.redeemed,
            minor: true,
            cell: (code) => <Redeemed code={code} />,
          },
          {
            title: words.ends,
            minor: true,
            cell: ({ expired_time: ends }) =>
              ends === 0 ? wp().keys.noEnd : <Ago seconds={ends} />,
          },
          createdColumn(),
        ]}
        actions={(code) => (isAdmin() ? <CodeActions code={code} /> : null)}
      />
      {address.get('new') === null ? null : (
        <MakeCodes
          onClose={closeNew}
          onMade={(made) => {
            setFresh(made);
            closeNew();
          }}
        />
      )}
      {fresh === undefined ? null : <ShownOnce fresh={fresh} onClose={() => setFresh(undefined)} />}
      {openId === undefined ? null : <OneCode key="open" id={openId} onClose={close} />}
      {pruning ? <DeleteInvalid onClose={() => setPruning(false)} /> : null}
    </>
  );
}

/** One code: beside the list if that can be closed, else as a page. */
function OneCode({
  id,
  onClose,
}: {
  readonly id: string | number;
  readonly onClose?: (() => void) | undefined;
}) {
  const reading = useRead(
    'getRedemptionCode',
    { params: { id: Number(id) } },
    { keep: false, enabled: isId(id) },
  );
  return (
    <Record kind="code" id={id} reading={reading} title={reading.data?.name} onClose={onClose}>
      {(code) => <CodeDetails code={code} />}
    </Record>
  );
}

function CodeDetails({ code }: { readonly code: Code }) {
  const words = wp().codes;
  return (
    <div class="stack wide">
      {isAdmin() ? (
        <div class="row end">
          <CodeActions code={code} />
        </div>
      ) : null}
      <dl class="facts">
        <dt>{words.code}</dt>
        <dd>
          <code>{code.key_hint}</code>
        </dd>
        <dt>{words.each}</dt>
        <dd>
          <Money units={code.quota} />
        </dd>
        <dt>{w().status}</dt>
        <dd>
          <CodeState code={code} />
        </dd>
        <dt>{words.redeemed}</dt>
        <dd>
          <Redeemed code={code} />
        </dd>
        <dt>{words.ends}</dt>
        <dd>
          {code.expired_time === 0 ? wp().keys.noEnd : <Moment seconds={code.expired_time} />}
        </dd>
        <dt>{w().created}</dt>
        <dd>
          <Moment seconds={code.created_time} />
        </dd>
      </dl>
      {code.batch_id === '' ? null : (
        <div class="row">
          <Link class="button" to={`codes?batch_id=${code.batch_id}`}>
            {words.ofBatch}
          </Link>
        </div>
      )}
    </div>
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
  const [deleting, setDeleting] = useState(false);
  const update = useWrite((wanted: 1 | 2) =>
    call('updateRedemptionCode', {
      query: { status_only: 'true' },
      body: { id, status: wanted },
    }),
  );
  return (
    <>
      <Menu
        label={`${w().actions}: ${hint}`}
        items={[
          status === 1
            ? { label: w().disable, onClick: () => void update.run(2) }
            : status === DISABLED
              ? { label: w().enable, onClick: () => void update.run(1) }
              : undefined,
          { label: `${w().delete}…`, danger: true, onClick: () => setDeleting(true) },
        ]}
      >
        ⋯
      </Menu>
      <WriteFailed title={hint} of={update} />
      {deleting ? (
        <ConfirmWrite
          title={wp().codes.deleteTitle(hint)}
          action={w().delete}
          write={(why) => call('deleteRedemptionCode', { params: { id }, query: why })}
          onDone={() => toast(w().deleted)}
          onClose={() => setDeleting(false)}
        />
      ) : null}
    </>
  );
}

/** Batches of codes made under one name, and what is left of each. */
function Batches() {
  const { data, error, again } = useRead('listRedemptionBatches');
  const [disabling, setDisabling] = useState<Batch>();
  const words = wp().codes;
  if (data === undefined || data.length === 0) return <ErrorNotice error={error} onAgain={again} />;
  return (
    <section class="stack tight">
      <h2>{words.batches}</h2>
      <Table
        label={words.batches}
        rows={data}
        idOf={({ batch_id, name }) => (batch_id === '' ? name : batch_id)}
        columns={[
          {
            title: w().name,
            cell: ({ batch_id, name }) => (
              <Link
                to={
                  batch_id === ''
                    ? `codes?keyword=${encodeURIComponent(name)}`
                    : `codes?batch_id=${batch_id}`
                }
              >
                {name}
              </Link>
            ),
          },
          { title: words.made, numeric: true, cell: ({ made }) => <Count value={made} /> },
          { title: words.used, numeric: true, cell: ({ used }) => <Count value={used} /> },
          { title: words.left, numeric: true, cell: ({ left }) => <Count value={left} /> },
          {
            title: words.leftWorth,
            numeric: true,
            cell: ({ left_quota }) => <Money units={left_quota} />,
          },
          createdColumn(),
        ]}
        actions={(batch) =>
          batch.left === 0 || !isAdmin() ? null : (
            <Button
              kind="quiet"
              label={`${words.disableRest} ${batch.name}`}
              onClick={() => setDisabling(batch)}
            >
              {words.disableRest}
            </Button>
          )
        }
      />
      {disabling === undefined ? null : (
        <DisableRest batch={disabling} onClose={() => setDisabling(undefined)} />
      )}
    </section>
  );
}

function DisableRest({
  batch: { batch_id, name, left },
  onClose,
}: {
  readonly batch: Batch;
  readonly onClose: () => void;
}) {
  const words = wp().codes;
  return (
    <ConfirmWrite
      title={words.disableRestTitle(name)}
      action={w().disable}
      write={(why) =>
        call('disableRedemptionBatch', {
          body: batch_id === '' ? { name, ...why } : { batch_id, ...why },
        })
      }
      onDone={(count) => toast(words.disabledCount(count))}
      onClose={onClose}
    >
      <p>{words.disableRestHelp(left)}</p>
    </ConfirmWrite>
  );
}

function DeleteInvalid({ onClose }: { readonly onClose: () => void }) {
  const words = wp().codes;
  return (
    <ConfirmWrite
      title={words.deleteInvalidTitle}
      action={w().delete}
      write={(why) => call('deleteInvalidRedemptionCodes', { query: why })}
      onDone={(count) => toast(words.deletedCount(count))}
      onClose={onClose}
    />
  );
}

const MOST_AT_ONCE = 100;

function MakeCodes({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (fresh: Fresh) => void;
}) {
  const [values, setValues] = useState({
    ...{ name: '', quota: '', count: '1', expired_time: '', reason: '' },
  });
  const words = wp().codes;
  const perDollar = about.get()?.units_per_usd ?? 1;
  const each = Math.round(Number(values.quota) * perDollar);
  const count = Number(values.count);
  const make = useWrite((body: Body, key) => call('createRedemptionCodes', { body, key }));
  const body: Body = {
    ...{ name: values.name.trim(), quota: each, count },
    ...(values.expired_time === ''
      ? {}
      : { expired_time: Math.floor(new Date(values.expired_time).getTime() / 1000) }),
    ...(values.reason === '' ? {} : { reason: values.reason }),
  };
  const isReady = body.name !== '' && each > 0 && count >= 1;
  return (
    <Dialog
      title={words.makeTitle}
      onClose={onClose}
      onSubmit={() => {
        if (!isReady || make.busy) return;
        void make.run(body).then((codes) => {
          if (codes !== undefined) onMade({ codes, body });
        });
      }}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={make.busy || !isReady}>
            {words.make}
          </Button>
        </>
      }
    >
      <FormFields
        values={values}
        onChange={setValues}
        error={make.error}
        fields={[
          { name: 'name', label: w().name, required: true, autofocus: true },
          {
            ...{ name: 'quota', label: words.worth, required: true },
            ...({ type: 'number', min: 0, step: 'any' } as const),
          },
          {
            ...{ name: 'count', label: words.count, required: true },
            ...({ type: 'number', min: 1, max: MOST_AT_ONCE, step: 1 } as const),
          },
          {
            ...{ name: 'expired_time', label: words.until, help: words.untilHelp },
            type: 'datetime-local',
          },
          { name: 'reason', label: w().reason, help: w().reasonHelp },
        ]}
      />
      {isReady ? (
        <p role="status">
          <strong>{words.sum(count, money(each), money(each * count))}</strong>
        </p>
      ) : null}
      <code class="small muted wrap">
        $ npm run cli -- codes create --name {JSON.stringify(body.name)} --quota {each} --count{' '}
        {count}
      </code>
    </Dialog>
  );
}

function ShownOnce({
  fresh: { codes, body },
  onClose,
}: {
  readonly fresh: Fresh;
  readonly onClose: () => void;
}) {
  const { warns, leaving, note, take, copied, close } = useShownOnce(onClose);
  const words = wp().codes;
  const ends = body.expired_time ?? 0;
  const csv = csvOf([
    ['name', 'code', 'units', 'worth', 'until'],
    ...codes.map((code) => [
      ...[body.name, code, String(body.quota), money(body.quota)],
      ends === 0 ? '' : new Date(ends * 1000).toISOString(),
    ]),
  ]);
  const saveAs = (name: string, type: string, text: string): void => {
    save(name, new Blob([text], { type }));
    take();
  };
  useEffect(() => {
    // Outside the page, because a dialog on top of it would be printed on one sheet.
    const host = document.createElement('div');
    host.className = 'print-cards';
    document.body.append(host);
    render(<Cards codes={codes} body={body} />, host);
    return () => {
      render(null, host);
      host.remove();
    };
  }, []);
  return (
    <Dialog
      kind="wide"
      title={words.madeTitle(codes.length, body.name)}
      onClose={close}
      foot={
        <>
          <CopyButton text={codes.join('\n')} label={words.copyAll} kind="main" onCopied={copied} />
          <Button onClick={() => saveAs('codes.csv', 'text/csv', csv)}>{w().csv}</Button>
          <Button onClick={() => saveAs('codes.txt', 'text/plain', `${codes.join('\n')}\n`)}>
            {words.text}
          </Button>
          <Button
            onClick={() => {
              take();
              print();
            }}
          >
            {words.print}
          </Button>
          <Button onClick={close}>{leaving ? words.closeAnyway : words.have}</Button>
        </>
      }
    >
      {warns ? (
        <p class="notice warn-bar" role="alert">
          {words.notTaken}
        </p>
      ) : null}
      <p class="muted" role="status">
        {note}
      </p>
      <ul class="secret codes" tabIndex={0} aria-label={w().nav.codes}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
    </Dialog>
  );
}

/** Cards to cut out and give away; visible only in print. */
function Cards({ codes, body }: Fresh) {
  const words = wp().codes;
  const ends = body.expired_time ?? 0;
  return (
    <>
      {codes.map((code) => (
        <div class="print-card" key={code}>
          <strong>
            {body.name} · {money(body.quota)}
          </strong>
          <code>
            {(code.match(/.{1,4}/g) ?? []).map((part, index) => (
              <span key={index}>{part}</span>
            ))}
          </code>
          <span>
            {words.redeemAt} {gatewayAddress()}/console/
          </span>
          {ends === 0 ? null : <span>{words.untilDay(dayOf(ends))}</span>}
        </div>
      ))}
    </>
  );
}

function dayOf(seconds: number): string {
  const { language } = style();
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    dateStyle: 'long',
  }).format(seconds * 1000);
}
