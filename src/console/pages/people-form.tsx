import { useState } from 'preact/hooks';
import { about } from '../about.js';
import { call, type ItemOf } from '../api/call.js';
import { MEMBERS } from '../api/members.js';
import type { Operations } from '../api/operations.js';
import { useWrite } from '../api/query.js';
import { changedMembers, textsOf, type MemberTexts } from '../lib/members.js';
import { Button } from '../parts/buttons.js';
import { FormError } from '../parts/notices.js';
import { SegmentsField } from '../parts/choice.js';
import { Dialog } from '../parts/dialog.js';
import { Fields, FormFields, SelectField } from '../parts/form.js';
import { Meanwhile, presentOf, type Comparable } from '../parts/meanwhile.js';
import { MemberFields, unitsPerDollar } from '../parts/members.js';
import { toast } from '../parts/toast.js';
import { setQuery } from '../router.js';
import { w, wp } from '../words.js';

export type User = ItemOf<'searchUsers'>;
type Role = User['role'];

const MEMBER_NAMES = MEMBERS.account.map(({ name }) => name);

/** The roles that one may give: those below one’s own. */
function RoleField({
  value,
  onChange,
}: {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}) {
  const own = about.get()?.self?.role ?? 0;
  const roles = ([1, 5, 10] as const).filter((role) => role < own);
  return (
    <SelectField
      label={wp().people.role}
      value={String(value)}
      choices={roles.map((one) => ({ value: String(one), label: wp().people.roles[one] }))}
      onChange={(picked) => onChange(roles.find((one) => String(one) === picked) ?? 1)}
    />
  );
}

/** A new account: with a password that is passed on, or with a mail that lets its owner choose one. */
export function NewUser() {
  const [values, setValues] = useState({
    ...{ username: '', password: '', email: '', display_name: '', quota: '', reason: '' },
  });
  const [way, setWay] = useState<'password' | 'mail'>('password');
  const [role, setRole] = useState<Role>(1);
  const [members, setMembers] = useState<MemberTexts>({});
  const words = wp().people;
  const perDollar = unitsPerDollar();
  const { quota, password, ...texts } = values;
  const invites = way === 'mail';
  const make = useWrite((body: Operations['inviteUser']['body'], key) =>
    invites
      ? call('inviteUser', { body, key })
      : call('createUser', { body: { ...body, password }, key }),
  );
  const close = (): void => setQuery({ new: '' }, { replace: true });
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  const isWhole = values.username !== '' && (invites ? values.email : password) !== '';
  return (
    <Dialog
      title={words.new}
      onClose={close}
      onSubmit={() =>
        void make
          .run({
            ...Object.fromEntries(given),
            ...{ username: values.username, role },
            ...(quota === '' ? {} : { quota: Math.round(Number(quota) * perDollar) }),
            ...changedMembers(MEMBERS.account, members, perDollar),
          } as Operations['inviteUser']['body'])
          .then((made) => {
            if (made === undefined) return;
            if (invites) toast(words.invited(made.email));
            setQuery({ new: '', open: made.id }, { replace: true });
          })
      }
      foot={
        <>
          <Button onClick={close}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={make.busy || !isWhole}>
            {invites ? words.invite : words.make}
          </Button>
        </>
      }
    >
      <SegmentsField
        label={words.way}
        value={way}
        choices={(['password', 'mail'] as const).map((value) => ({
          value,
          label: words.ways[value],
        }))}
        onChange={setWay}
      />
      {invites ? (
        <p class="muted small">
          {about.get()?.mail === 'outbox' ? words.outbox : words.inviteHelp}
        </p>
      ) : null}
      <RoleField value={role} onChange={setRole} />
      <Fields
        values={values}
        onChange={setValues}
        error={make.error}
        fields={[
          { name: 'username', label: w().name, required: true, autofocus: true },
          ...(invites
            ? []
            : ([
                {
                  name: 'password',
                  label: w().login.password,
                  help: words.passwordHelpNew,
                  type: 'password',
                  autocomplete: 'new-password',
                  required: true,
                },
              ] as const)),
          { name: 'email', label: words.email, type: 'email', required: invites },
          { name: 'display_name', label: wp().account.displayName },
          {
            ...{ name: 'quota', label: words.startBalance },
            ...({ type: 'number', min: 0, step: 'any' } as const),
          },
          { name: 'reason', label: w().reason, help: w().reasonHelp },
        ]}
      />
      <details>
        <summary>{wp().keys.limits}</summary>
        <div class="stack">
          <MemberFields
            rows={MEMBERS.account}
            texts={members}
            onChange={setMembers}
            error={make.error}
          />
        </div>
      </details>
      <FormError
        error={make.error}
        fields={['username', 'password', 'email', 'display_name', 'quota', ...MEMBER_NAMES]}
      />
    </Dialog>
  );
}

/** Changes an account; whoever changed it meanwhile is not overwritten without a question. */
export function EditUser({ user, onClose }: { readonly user: User; readonly onClose: () => void }) {
  const words = wp().people;
  const perDollar = unitsPerDollar();
  const [base, setBase] = useState(user);
  const [values, setValues] = useState(() => valuesOf(user));
  const [members, setMembers] = useState(() => textsOf(MEMBERS.account, user, perDollar));
  const [role, setRole] = useState(user.role);
  const [reason, setReason] = useState({ reason: '' });
  const save = useWrite((from: User) =>
    call('updateUser', {
      body: {
        id: from.id,
        ...changedTexts(valuesOf(from), values),
        ...(role === from.role ? {} : { role }),
        ...changedMembers(MEMBERS.account, members, perDollar, from),
        if_revision: from.revision,
        ...(reason.reason === '' ? {} : reason),
      },
    }),
  );
  const send = (from: User): void =>
    void save.run(from).then((done) => {
      if (done === undefined) return;
      toast(w().saved);
      onClose();
    });
  const comparable = (texts: Texts, of: MemberTexts, given: Role): Comparable => ({
    ...texts,
    role: words.roles[given],
    ...of,
  });
  const memberLabels = MEMBER_NAMES.map((name) => [name, wp().members[name].label] as const);
  const present = presentOf(save.error) as User | undefined;
  return (
    <Dialog
      title={words.editTitle(user.username)}
      onClose={onClose}
      onSubmit={() => send(base)}
      foot={
        <>
          <Button onClick={onClose}>{w().cancel}</Button>
          <Button kind="main" type="submit" disabled={save.busy || values.username === ''}>
            {w().save}
          </Button>
        </>
      }
    >
      <RoleField value={role} onChange={setRole} />
      <Fields
        values={values}
        onChange={setValues}
        error={save.error}
        fields={[
          { name: 'username', label: w().name, required: true, autofocus: true },
          { name: 'email', label: words.email, type: 'email' },
          { name: 'display_name', label: wp().account.displayName },
        ]}
      />
      <MemberFields
        rows={MEMBERS.account}
        texts={members}
        onChange={setMembers}
        error={save.error}
      />
      <FormFields
        values={reason}
        onChange={setReason}
        error={undefined}
        fields={[{ name: 'reason', label: w().reason, help: w().reasonHelp }]}
      />
      {present !== undefined ? (
        <Meanwhile
          now={present}
          theirs={(now) =>
            comparable(valuesOf(now), textsOf(MEMBERS.account, now, perDollar), now.role)
          }
          mine={comparable(values, members, role)}
          labels={{
            ...Object.fromEntries(memberLabels),
            ...{ username: w().name, email: words.email, role: words.role },
            display_name: wp().account.displayName,
          }}
          onKeep={(now) => {
            setBase(now);
            send(now);
          }}
          onTake={(now) => {
            setBase(now);
            setValues(valuesOf(now));
            setMembers(textsOf(MEMBERS.account, now, perDollar));
            setRole(now.role);
            save.clear();
          }}
        />
      ) : (
        <FormError
          error={save.error}
          fields={['username', 'email', 'display_name', ...MEMBER_NAMES]}
        />
      )}
    </Dialog>
  );
}

type Texts = Pick<User, 'username' | 'email' | 'display_name'>;

function valuesOf({ username, email, display_name }: User): Texts {
  return { username, email, display_name };
}

function changedTexts(before: Texts, after: Texts): Partial<Texts> {
  const names = ['username', 'email', 'display_name'] as const;
  return Object.fromEntries(
    names.filter((name) => after[name] !== before[name]).map((name) => [name, after[name]]),
  );
}
