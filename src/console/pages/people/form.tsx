import { useState } from 'preact/hooks';
import { about } from '../../about.js';
import { call, type ItemOf } from '../../api/call.js';
import { MEMBERS } from '../../api/members.js';
import type { Operations } from '../../api/operations.js';
import { unitsOf } from '../../lib/format.js';
import { changedMembers, textsOf, type MemberTexts } from '../../lib/members.js';
import { SegmentsField, choicesOf } from '../../parts/choice.js';
import { EditDialog, FormDialog, savedThen } from '../../parts/form-dialog.js';
import { Fields, SelectField } from '../../parts/form.js';
import { MemberFields, memberLabels } from '../../parts/members.js';
import { toast } from '../../parts/toast.js';
import type { Closable } from '../../parts/dialog.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';

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

const FIELDS = ['username', 'password', 'email', 'display_name', 'quota', ...MEMBER_NAMES];

/** A new account: with a password that is passed on, or with a mail that lets its owner choose one. */
export function NewUser({ onClose }: Closable) {
  const [values, setValues] = useState({
    ...{ username: '', password: '', email: '', display_name: '', quota: '', reason: '' },
  });
  const [way, setWay] = useState<'password' | 'mail'>('password');
  const [role, setRole] = useState<Role>(1);
  const [members, setMembers] = useState<MemberTexts>({});
  const words = wp().people;
  const { quota, password, ...texts } = values;
  const invites = way === 'mail';
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  return (
    <FormDialog
      title={words.new}
      action={invites ? words.invite : words.make}
      ready={values.username !== '' && (invites ? values.email : password) !== ''}
      body={
        {
          ...Object.fromEntries(given),
          ...{ username: values.username, role },
          ...(quota === '' ? {} : { quota: unitsOf(quota) }),
          ...changedMembers(MEMBERS.account, members),
        } as Operations['inviteUser']['body']
      }
      write={(body, key) =>
        invites
          ? call('inviteUser', { body, key })
          : call('createUser', { body: { ...body, password }, key })
      }
      onDone={(made) => {
        if (invites) toast(words.invited(made.email));
        setQuery({ new: '', open: made.id }, { replace: true });
      }}
      onClose={onClose}
      fields={FIELDS}
    >
      {(error) => (
        <>
          <SegmentsField
            label={words.way}
            value={way}
            choices={choicesOf(words.ways)}
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
            error={error}
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
              { name: 'email', label: w().login.email, type: 'email', required: invites },
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
                error={error}
              />
            </div>
          </details>
        </>
      )}
    </FormDialog>
  );
}

/** What somebody types to change an account. */
interface Draft {
  readonly texts: Texts;
  readonly role: Role;
  readonly members: MemberTexts;
}

/** Changes an account; whoever changed it meanwhile is not overwritten without a question. */
export function EditUser({ user, onClose }: Closable & { readonly user: User }) {
  const words = wp().people;
  return (
    <EditDialog
      of={user}
      title={words.editTitle(user.username)}
      draftOf={(of): Draft => ({
        texts: valuesOf(of),
        role: of.role,
        members: textsOf(MEMBERS.account, of),
      })}
      ready={({ texts }) => texts.username !== ''}
      write={(from, { texts, role, members }, why) =>
        call('updateUser', {
          body: {
            id: from.id,
            ...changedTexts(valuesOf(from), texts),
            ...(role === from.role ? {} : { role }),
            ...changedMembers(MEMBERS.account, members, from),
            if_revision: from.revision,
            ...why,
          },
        })
      }
      comparable={({ texts, role, members }) => ({
        ...texts,
        role: words.roles[role],
        ...members,
      })}
      labels={{
        ...memberLabels(),
        ...{ username: w().name, email: w().login.email, role: words.role },
        display_name: wp().account.displayName,
      }}
      fields={FIELDS}
      onDone={savedThen(onClose)}
      onClose={onClose}
    >
      {({ draft, onChange, error }) => (
        <>
          <RoleField value={draft.role} onChange={(role) => onChange({ ...draft, role })} />
          <Fields
            values={draft.texts}
            onChange={(texts) => onChange({ ...draft, texts })}
            error={error}
            fields={[
              { name: 'username', label: w().name, required: true, autofocus: true },
              { name: 'email', label: w().login.email, type: 'email' },
              { name: 'display_name', label: wp().account.displayName },
            ]}
          />
          <MemberFields
            rows={MEMBERS.account}
            texts={draft.members}
            onChange={(members) => onChange({ ...draft, members })}
            error={error}
          />
        </>
      )}
    </EditDialog>
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
