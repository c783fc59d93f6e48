import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import { unitsOf } from '../../lib/format.js';
import { extension, isSpent } from '../../lib/key-draft.js';
import { SegmentsField } from '../../parts/choice.js';
import type { Closable } from '../../parts/dialog.js';
import { ConfirmWrite } from '../../parts/confirm-write.js';
import { TextField } from '../../parts/fields.js';
import { ForEach } from '../../parts/for-each.js';
import { ChosenBar, RowMenu } from '../../parts/row-menu.js';
import { toast } from '../../parts/toast.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import type { PageWords } from '../../words/en-pages.js';
import { EditKey, inDays } from './form.js';
import { ShownOnce, type Made } from './shown-once.js';
import type { Key } from './view.js';

const KEEP_OLD: readonly (readonly [keyof PageWords['keys']['keepOld'], number])[] = [
  ['none', 0],
  ['hour', 3_600],
  ['day', 86_400],
  ['week', 604_800],
];

/** A new secret for a key, shown once; the old one may continue to work for a while. */
function RollKey({ token: { id, name }, onClose }: Closable & { readonly token: Key }) {
  const [keep, setKeep] = useState('0');
  const [made, setMade] = useState<Made>();
  if (made !== undefined) return <ShownOnce made={made} onClose={onClose} />;
  return (
    <ConfirmWrite
      title={wp().keys.rollTitle(name)}
      action={wp().keys.rollAction}
      write={(why, key) =>
        call('rollToken', { params: { id }, body: { keep_old_s: Number(keep), ...why }, key })
      }
      onDone={setMade}
      onClose={onClose}
      staysOpen
    >
      <p>{wp().keys.rollHelp}</p>
      <SegmentsField
        label={wp().keys.oldWorks}
        value={keep}
        choices={KEEP_OLD.map(([span, seconds]) => ({
          value: String(seconds),
          label: wp().keys.keepOld[span],
        }))}
        onChange={setKeep}
      />
    </ConfirmWrite>
  );
}

export function KeyActions({ token }: { readonly token: Key }) {
  const { id, name, status } = token;
  const words = wp().keys;
  return (
    <RowMenu
      name={name}
      items={[
        { label: w().open, onClick: () => setQuery({ open: id }) },
        {
          label: `${w().edit}…`,
          ask: (onClose) => <EditKey token={token} onClose={onClose} />,
        },
        {
          label: `${words.extend}…`,
          ask: (onClose) => <Extend keys={[token]} onClose={onClose} />,
        },
        status !== 2
          ? {
              label: `${w().disable}…`,
              ask: (onClose) => <SwitchKeys keys={[token]} status={2} onClose={onClose} />,
            }
          : isSpent(token)
            ? {
                label: `${w().enable}…`,
                ask: (onClose) => <Extend keys={[token]} enables onClose={onClose} />,
              }
            : {
                label: w().enable,
                write: () => call('updateToken', { body: { id, status: 1 } }),
              },
        {
          label: `${words.roll}…`,
          ask: (onClose) => <RollKey token={token} onClose={onClose} />,
        },
        {
          label: `${w().delete}…`,
          danger: true,
          ask: (onClose) => <DeleteKeys keys={[token]} onClose={onClose} />,
        },
      ]}
    />
  );
}

const SPANS = ['30', '90', '365'] as const;

/** A later end, more budget and, for a key that is disabled, its switch: in one write for each key. */
function Extend({
  keys,
  enables = false,
  onClose,
}: Closable & { readonly keys: readonly Key[]; readonly enables?: boolean }) {
  const [ends, setEnds] = useState<'same' | 'never' | (typeof SPANS)[number]>('same');
  const [amount, setAmount] = useState('');
  const words = wp().keys;
  const wanted = {
    ends: ends === 'same' ? undefined : ends === 'never' ? '' : inDays(Number(ends)),
    units: unitsOf(amount),
    enables,
  };
  return (
    <ForEach
      items={keys}
      title={words.extendTitle(keys.length, keys[0]?.name ?? '')}
      action={enables ? words.extendAndEnable : words.extend}
      ready={wanted.ends !== undefined || wanted.units > 0}
      write={(key, why) => call('updateToken', { body: { ...extension(key, wanted), ...why } })}
      onClose={onClose}
    >
      <SegmentsField
        label={words.ends}
        value={ends}
        choices={[
          { value: 'same' as const, label: words.asItIs },
          ...SPANS.map((value) => ({ value, label: words.days(Number(value)) })),
          { value: 'never' as const, label: words.noEnd },
        ]}
        onChange={setEnds}
      />
      {keys.every((key) => key.unlimited_quota) ? null : (
        <TextField
          label={words.addBudget}
          type="number"
          min={0}
          step="any"
          value={amount}
          onInput={setAmount}
        />
      )}
    </ForEach>
  );
}

/** Actions on several keys at once. */
export function ChosenKeys({
  keys,
  onDone,
}: {
  readonly keys: readonly Key[];
  readonly onDone: () => void;
}) {
  const words = wp().keys;
  const both = (onClose: () => void) => (): void => {
    onClose();
    onDone();
  };
  return (
    <ChosenBar
      count={keys.length}
      onDone={onDone}
      items={[
        {
          label: `${words.extend}…`,
          ask: (onClose) => <Extend keys={keys} onClose={both(onClose)} />,
        },
        {
          label: `${w().enable}…`,
          ask: (onClose) => <SwitchKeys keys={keys} status={1} onClose={both(onClose)} />,
        },
        {
          label: `${w().disable}…`,
          ask: (onClose) => <SwitchKeys keys={keys} status={2} onClose={both(onClose)} />,
        },
        {
          label: `${w().delete}…`,
          ask: (onClose) => <DeleteKeys keys={keys} onClose={both(onClose)} />,
        },
      ]}
    />
  );
}

/** Deletes one key or several, which then are named. */
function DeleteKeys({ keys, onClose }: Closable & { readonly keys: readonly Key[] }) {
  const words = wp().keys;
  const [first] = keys;
  const isOne = keys.length === 1 && first !== undefined;
  return (
    <ConfirmWrite
      title={isOne ? words.deleteTitle(first.name) : words.deleteManyTitle(keys.length)}
      action={w().delete}
      write={(why) =>
        isOne
          ? call('deleteToken', { params: { id: first.id }, query: why })
          : call('deleteTokens', { body: { ids: keys.map(({ id }) => id), ...why } })
      }
      onDone={() => toast(w().deleted)}
      onClose={onClose}
    >
      <p>{words.deleteHelp}</p>
      {isOne ? null : <Names of={keys} />}
    </ConfirmWrite>
  );
}

function Names({ of: keys }: { readonly of: readonly Key[] }) {
  return <p class="muted">{keys.map(({ name }) => name).join(', ')}</p>;
}

function SwitchKeys({
  keys,
  status,
  onClose,
}: Closable & { readonly keys: readonly Key[]; readonly status: 1 | 2 }) {
  const words = wp().keys;
  return (
    <ForEach
      items={keys}
      title={(status === 1 ? words.enableTitle : words.disableTitle)(
        keys.length,
        keys[0]?.name ?? '',
      )}
      action={status === 1 ? w().enable : w().disable}
      danger={status === 2}
      write={({ id }, why) => call('updateToken', { body: { id, status, ...why } })}
      onClose={onClose}
    >
      {status === 2 ? <p>{words.disableHelp}</p> : null}
      <Names of={keys} />
    </ForEach>
  );
}
