import { useState } from 'preact/hooks';
import { isAdmin } from '../about.js';
import { call, type ApiError, type ReplyOf } from '../api/call.js';
import { MEMBERS } from '../api/members.js';
import { useRead, useWrite } from '../api/query.js';
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
} from '../lib/key-draft.js';
import { Button } from '../parts/buttons.js';
import { TextField } from '../parts/fields.js';
import { FormError, fieldError } from '../parts/notices.js';
import { money } from '../parts/values.js';
import { SegmentsField } from '../parts/choice.js';
import { Dialog } from '../parts/dialog.js';
import { Meanwhile, presentOf, type Comparable } from '../parts/meanwhile.js';
import { MemberFields, unitsPerDollar } from '../parts/members.js';
import { toast } from '../parts/toast.js';
import { w, wp } from '../words.js';

export type Made = ReplyOf<'createToken'>;

const DAYS = ['30', '90', '365'] as const;

/** The date in so many days, as a date field has it. */
export function inDays(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

const FIELDS = [
  ...['name', 'remain_quota', 'expired_time', 'model_limits', 'tags', 'allow_ips'],
  ...['default_model', 'aliases', 'fallbacks', 'user_id'],
  ...MEMBERS.key.map(({ name }) => name),
];

interface PartProps {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  readonly error: ApiError | undefined;
}

/** Every member of a key that the API takes. */
function KeyFields({ draft, onChange, error, more }: PartProps & { readonly more: boolean }) {
  const words = wp().keys;
  const ids = (useRead('listOwnModels').data ?? []).map(({ id }) => id);
  const admin = isAdmin();
  const put = (change: Partial<KeyDraft>): void => onChange({ ...draft, ...change });
  const segment = DAYS.find((days) => draft.ends === inDays(Number(days)));
  return (
    <>
      <TextField
        label={w().name}
        value={draft.name}
        onInput={(name) => put({ name })}
        error={fieldError(error, 'name')}
        required
        autofocus
      />
      <TextField
        label={words.budget}
        help={words.budgetHelp}
        type="number"
        min={0}
        step="any"
        value={draft.quota}
        onInput={(quota) => put({ quota })}
        error={fieldError(error, 'remain_quota')}
      />
      <TextField
        label={w().nav.models}
        help={words.modelsHelp}
        value={draft.models}
        onInput={(text) => put({ models: text })}
        error={fieldError(error, 'model_limits')}
        options={withOneMore(draft.models, ids)}
      />
      <SegmentsField
        label={words.ends}
        value={draft.ends === '' ? 'never' : (segment ?? 'date')}
        choices={[
          { value: 'never', label: words.noEnd },
          ...DAYS.map((value) => ({ value, label: words.days(Number(value)) })),
          { value: 'date', label: words.date },
        ]}
        onChange={(picked) =>
          put({ ends: picked === 'never' ? '' : inDays(picked === 'date' ? 7 : Number(picked)) })
        }
      />
      {draft.ends === '' || segment !== undefined ? null : (
        <TextField
          label={words.endsOn}
          type="date"
          value={draft.ends}
          onInput={(ends) => put({ ends })}
          error={fieldError(error, 'expired_time')}
        />
      )}
      <details open={more}>
        <summary>{words.limits}</summary>
        <div class="stack">
          <MemberFields
            rows={MEMBERS.key.filter(({ name }) => admin || name !== 'may_explain')}
            texts={draft.members}
            onChange={(members) => put({ members })}
            error={error}
          />
          <TextField
            label={w().nav.tags}
            help={words.tagsHelp}
            value={draft.tags}
            onInput={(tags) => put({ tags })}
            error={fieldError(error, 'tags')}
          />
          <TextField
            label={words.addresses}
            help={words.addressesHelp}
            value={draft.addresses}
            onInput={(addresses) => put({ addresses })}
            error={fieldError(error, 'allow_ips')}
          />
          <TextField
            label={words.defaultModel}
            help={words.defaultModelHelp}
            value={draft.defaultModel}
            onInput={(defaultModel) => put({ defaultModel })}
            error={fieldError(error, 'default_model')}
            options={ids}
          />
          <TextField
            label={words.aliases}
            help={words.aliasesHelp}
            value={draft.aliases}
            onInput={(aliases) => put({ aliases })}
            error={fieldError(error, 'aliases')}
            rows={2}
            mono
          />
          <TextField
            label={words.fallbacks}
            help={words.fallbacksHelp}
            value={draft.fallbacks}
            onInput={(fallbacks) => put({ fallbacks })}
            error={fieldError(error, 'fallbacks')}
          />
        </div>
      </details>
    </>
  );
}

export function NewKey({
  onClose,
  onMade,
}: {
  readonly onClose: () => void;
  readonly onMade: (made: Made) => void;
}) {
  const [draft, setDraft] = useState(EMPTY_KEY);
  const [owner, setOwner] = useState('');
  const [reason, setReason] = useState('');
  const perDollar = unitsPerDollar();
  const body = {
    ...createKeyBody(draft, perDollar),
    ...(reason === '' ? {} : { reason }),
  };
  const make = useWrite(async (wanted: typeof body, key) => {
    const userId = owner.trim() === '' ? undefined : await idOf(owner.trim());
    const whole = userId === undefined ? wanted : { ...wanted, user_id: userId };
    return call('createToken', { body: whole, key });
  });
  const rate = draft.members.rate_limit ?? '';
  return (
    <Dialog
      title={wp().keys.new}
      onClose={onClose}
      onSubmit={() =>
        void make.run(body).then((made) => {
          if (made !== undefined) onMade(made);
        })
      }
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={make.busy || draft.name.trim() === ''}>
            {wp().keys.make}
          </Button>
        </>
      }
    >
      <KeyFields draft={draft} onChange={setDraft} error={make.error} more={false} />
      {isAdmin() ? (
        <Owner value={owner} onInput={setOwner} error={fieldError(make.error, 'user_id')} />
      ) : null}
      <TextField label={w().reason} help={w().reasonHelp} value={reason} onInput={setReason} />
      <p role="status">
        {wp().keys.sentence(
          draft.quota === '' ? undefined : money(Math.round(Number(draft.quota) * perDollar)),
          namesIn(draft.models),
          draft.ends === '' ? undefined : daysUntil(draft.ends),
          rate === '' ? undefined : Number(rate),
        )}
      </p>
      <code class="small muted wrap">$ {createKeyCommand(draft, perDollar, owner)}</code>
      <FormError error={make.error} fields={FIELDS} />
    </Dialog>
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
export function EditKey({
  token,
  onClose,
}: {
  readonly token: KnownKey;
  readonly onClose: () => void;
}) {
  const perDollar = unitsPerDollar();
  const [base, setBase] = useState(token);
  const [draft, setDraft] = useState(() => keyDraftOf(token, perDollar));
  const [reason, setReason] = useState('');
  const save = useWrite((from: KnownKey) =>
    call('updateToken', {
      body: {
        ...updateKeyBody(from, draft, perDollar),
        if_revision: from.revision,
        ...(reason === '' ? {} : { reason }),
      },
    }),
  );
  const send = (from: KnownKey): void =>
    void save.run(from).then((done) => {
      if (done === undefined) return;
      toast(w().saved);
      onClose();
    });
  const present = presentOf(save.error) as KnownKey | undefined;
  return (
    <Dialog
      title={wp().keys.editTitle(token.name)}
      onClose={onClose}
      onSubmit={() => send(base)}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={save.busy || draft.name.trim() === ''}>
            {w().save}
          </Button>
        </>
      }
    >
      <KeyFields draft={draft} onChange={setDraft} error={save.error} more />
      <TextField label={w().reason} help={w().reasonHelp} value={reason} onInput={setReason} />
      {present !== undefined ? (
        <Meanwhile
          now={present}
          theirs={(now) => comparable(keyDraftOf(now, perDollar))}
          mine={comparable(draft)}
          labels={labels()}
          onKeep={(now) => {
            setBase(now);
            send(now);
          }}
          onTake={(now) => {
            setBase(now);
            setDraft(keyDraftOf(now, perDollar));
            save.clear();
          }}
        />
      ) : (
        <FormError error={save.error} fields={FIELDS} />
      )}
    </Dialog>
  );
}

function comparable({ members, ...plain }: KeyDraft): Comparable {
  return { ...plain, ...members };
}

function labels(): Comparable {
  const words = wp().keys;
  const members = Object.entries(wp().members).map(([name, { label }]) => [name, label] as const);
  return {
    ...Object.fromEntries(members),
    ...{ name: w().name, quota: words.budget, models: w().nav.models, tags: w().nav.tags },
    ...{ addresses: words.addresses, defaultModel: words.defaultModel, aliases: words.aliases },
    ...{ fallbacks: words.fallbacks, ends: words.ends },
  };
}
