import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, save } from '../../api/call.js';
import type { Operations } from '../../api/operations.js';
import { unitsOf } from '../../lib/format.js';
import { csvOf } from '../../../core/csv.js';
import { Button, CopyButton } from '../../parts/buttons.js';
import { useShownOnce } from '../../parts/confirm-write.js';
import { Dialog, type Closable } from '../../parts/dialog.js';
import { FormDialog } from '../../parts/form-dialog.js';
import { Fields } from '../../parts/form.js';
import { money, style } from '../../parts/values.js';
import { gatewayAddress } from '../../router.js';
import { w, wp } from '../../words.js';

type Body = Operations['createRedemptionCodes']['body'];

/** Codes that were just made. They exist only in their dialog. */
interface Fresh {
  readonly codes: readonly string[];
  readonly body: Body;
}

const MOST_AT_ONCE = 100;
const FIELDS = ['name', 'quota', 'count', 'expired_time', 'reason'] as const;

/** Makes a batch of codes, and shows it once. */
export function MakeCodes({ onClose }: Closable) {
  const [values, setValues] = useState({
    ...{ name: '', quota: '', count: '1', expired_time: '', reason: '' },
  });
  const [fresh, setFresh] = useState<Fresh>();
  if (fresh !== undefined) return <ShownOnce fresh={fresh} onClose={onClose} />;
  const words = wp().codes;
  const each = unitsOf(values.quota);
  const count = Number(values.count);
  const body: Body = {
    ...{ name: values.name.trim(), quota: each, count },
    ...(values.expired_time === ''
      ? {}
      : { expired_time: Math.floor(new Date(values.expired_time).getTime() / 1000) }),
    ...(values.reason === '' ? {} : { reason: values.reason }),
  };
  const isReady = body.name !== '' && each > 0 && count >= 1;
  return (
    <FormDialog
      title={words.makeTitle}
      action={words.make}
      ready={isReady}
      body={body}
      write={(wanted, key) => call('createRedemptionCodes', { body: wanted, key })}
      onDone={(codes) => setFresh({ codes, body })}
      onClose={onClose}
      fields={FIELDS}
    >
      {(error) => (
        <>
          <Fields
            values={values}
            onChange={setValues}
            error={error}
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
        </>
      )}
    </FormDialog>
  );
}

function ShownOnce({ fresh: { codes, body }, onClose }: Closable & { readonly fresh: Fresh }) {
  const { warns, leaving, note, take, copied, close } = useShownOnce(onClose);
  const words = wp().codes;
  const ends = body.expired_time ?? 0;
  const csv = csvOf(
    ['name', 'code', 'units', 'worth', 'until'],
    codes.map((code) => [
      ...[body.name, code, body.quota, money(body.quota)],
      ends === 0 ? '' : new Date(ends * 1000).toISOString(),
    ]),
  );
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
