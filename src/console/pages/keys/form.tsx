import { useState } from 'preact/hooks';
import { isAdmin } from '../../about.js';
import { call } from '../../api/call.js';
import { MEMBERS } from '../../api/members.js';
import { useRead } from '../../api/query.js';
import { unitsOf } from '../../lib/format.js';
import {
  createKeyBody,
  createKeyCommand,
  EMPTY_KEY,
  keyDraftOf,
  namesIn,
  updateKeyBody,
  withOneMore,
  type KeyDraft,
  type KnownKey,
} from '../../lib/key-draft.js';
import { SegmentsField } from '../../parts/choice.js';
import { TextField } from '../../parts/fields.js';
import { DraftField } from '../../parts/form.js';
import {
  EditDialog,
  FormDialog,
  ReasonField,
  savedThen,
  whyOf,
  type DraftPart,
} from '../../parts/form-dialog.js';
import { MemberFields, memberLabels } from '../../parts/members.js';
import type { Comparable } from '../../parts/meanwhile.js';
import { fieldError } from '../../parts/notices.js';
import { money } from '../../parts/values.js';
import type { Closable } from '../../parts/dialog.js';
import { w, wp } from '../../words.js';
import { ShownOnce, type Made } from './shown-once.js';

const DAYS = ['30', '90', '365'] as const;

/** The date in so many days, as a date field has it. */
export function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const FIELDS = [...Object.keys(EMPTY_KEY), 'user_id', ...MEMBERS.key.map(({ name }) => name)];
/** The texts of a draft that are folded away. */
const RARER = ['tags', 'allow_ips', 'default_model', 'aliases', 'fallbacks'] as const;

/** Every member of a key that the API takes. */
function KeyFields({ more, ...form }: DraftPart<KeyDraft> & { readonly more: boolean }) {
  const { draft, onChange } = form;
  const words = wp().keys;
  const names = labels();
  const ids = (useRead('listOwnModels').data ?? []).map(({ id }) => id);
  const admin = isAdmin();
  const put = (change: Partial<KeyDraft>): void => onChange({ ...draft, ...change });
  const segment = DAYS.find((days) => draft.expired_time === inDays(Number(days)));
  return (
    <>
      <DraftField {...form} name="name" label={names.name} required autofocus />
      <DraftField
        {...form}
        name="remain_quota"
        label={names.remain_quota}
        help={words.budgetHelp}
        type="number"
        min={0}
        step="any"
      />
      <DraftField
        {...form}
        name="model_limits"
        label={names.model_limits}
        help={words.modelsHelp}
        options={withOneMore(draft.model_limits, ids)}
      />
      <SegmentsField
        label={names.expired_time}
        value={draft.expired_time === '' ? 'never' : (segment ?? 'date')}
        choices={[
          { value: 'never', label: words.noEnd },
          ...DAYS.map((value) => ({ value, label: words.days(Number(value)) })),
          { value: 'date', label: words.date },
        ]}
        onChange={(picked) =>
          put({
            expired_time: picked === 'never' ? '' : inDays(picked === 'date' ? 7 : Number(picked)),
          })
        }
      />
      {draft.expired_time === '' || segment !== undefined ? null : (
        <DraftField {...form} name="expired_time" label={words.endsOn} type="date" />
      )}
      <details open={more}>
        <summary>{words.limits}</summary>
        <div class="stack">
          <MemberFields
            {...form}
            rows={MEMBERS.key.filter(({ name }) => admin || name !== 'may_explain')}
          />
          {RARER.map((name) => (
            <DraftField
              key={name}
              {...form}
              name={name}
              label={names[name]}
              help={words[`${name}Help`]}
              {...(name === 'default_model' ? { options: ids } : {})}
              {...(name === 'aliases' ? { rows: 2, mono: true } : {})}
            />
          ))}
        </div>
      </details>
    </>
  );
}

/** Makes a key, and shows it once. */
export function NewKey({ onClose }: Closable) {
  const [draft, setDraft] = useState(EMPTY_KEY);
  const [owner, setOwner] = useState('');
  const [reason, setReason] = useState('');
  const [made, setMade] = useState<Made>();
  if (made !== undefined) return <ShownOnce made={made} onClose={onClose} />;
  const rate = draft.members.rate_limit ?? '';
  return (
    <FormDialog
      title={wp().keys.new}
      action={wp().keys.make}
      ready={draft.name.trim() !== ''}
      body={{ ...createKeyBody(draft), ...whyOf(reason) }}
      write={async (wanted, key) => {
        const userId = owner.trim() === '' ? undefined : await idOf(owner.trim());
        const whole = userId === undefined ? wanted : { ...wanted, user_id: userId };
        return call('createToken', { body: whole, key });
      }}
      onDone={setMade}
      onClose={onClose}
      fields={FIELDS}
    >
      {(error) => (
        <>
          <KeyFields draft={draft} onChange={setDraft} error={error} more={false} />
          {isAdmin() ? (
            <Owner value={owner} onInput={setOwner} error={fieldError(error, 'user_id')} />
          ) : null}
          <ReasonField value={reason} onInput={setReason} />
          <p role="status">
            {wp().keys.sentence(
              draft.remain_quota === '' ? undefined : money(unitsOf(draft.remain_quota)),
              namesIn(draft.model_limits),
              draft.expired_time === '' ? undefined : daysUntil(draft.expired_time),
              rate === '' ? undefined : Number(rate),
            )}
          </p>
          <code class="small muted wrap">$ {createKeyCommand(draft, owner)}</code>
        </>
      )}
    </FormDialog>
  );
}

function daysUntil(day: string): number {
  return Math.max(0, Math.round((Date.parse(day) - Date.now()) / 86_400_000));
}

/** Whose the key is to be; the names of accounts are offered as one types. */
function Owner({
  value,
  onInput,
  error,
}: {
  readonly value: string;
  readonly onInput: (text: string) => void;
  readonly error: string | undefined;
}) {
  const found = useRead('searchUsers', { query: { keyword: value, page_size: 20 } });
  return (
    <TextField
      label={wp().keys.owner}
      help={wp().keys.ownerHelp}
      value={value}
      onInput={onInput}
      error={error}
      options={(found.data?.items ?? []).map(({ username }) => username)}
    />
  );
}

/** The id of an account by its name; the gateway refuses 0 by the name of the field. */
async function idOf(username: string): Promise<number> {
  const { items } = await call('searchUsers', { query: { keyword: username, page_size: 100 } });
  const same = items.find((user) => user.username.toLowerCase() === username.toLowerCase());
  return same?.id ?? Number.MAX_SAFE_INTEGER;
}

/** Changes a key; whoever changed it meanwhile is not overwritten without a question. */
export function EditKey({ token, onClose }: Closable & { readonly token: KnownKey }) {
  return (
    <EditDialog
      of={token}
      title={wp().keys.editTitle(token.name)}
      draftOf={keyDraftOf}
      ready={({ name }) => name.trim() !== ''}
      write={(from, draft, why) =>
        call('updateToken', {
          body: {
            ...updateKeyBody(from, draft),
            if_revision: from.revision,
            ...why,
          },
        })
      }
      comparable={comparable}
      labels={{ ...memberLabels(), ...labels() }}
      fields={FIELDS}
      onDone={savedThen(onClose)}
      onClose={onClose}
    >
      {(form) => <KeyFields {...form} more />}
    </EditDialog>
  );
}

function comparable({ members, ...plain }: KeyDraft): Comparable {
  return { ...plain, ...members };
}

/** What the texts of a draft are called. */
function labels() {
  const words = wp().keys;
  return {
    ...{ name: w().name, remain_quota: words.budget, model_limits: w().nav.models },
    ...{ tags: w().nav.tags, allow_ips: words.allow_ips, default_model: words.default_model },
    ...{ aliases: words.aliases, fallbacks: words.fallbacks, expired_time: words.ends },
  };
}
