import { useState } from 'preact/hooks';
import { about } from '../../about.js';
import { call, type ItemOf } from '../../api/call.js';
import { MEMBERS } from '../../api/members.js';
import type { Operations } from '../../api/operations.js';
import { unitsOf } from '../../lib/format.js';
import { changedMembers, textsOf, type MemberTexts } from '../../lib/members.js';
import { SegmentsField, choicesOf } from '../../parts/choice.js';
import { EditDialog, FormDialog, savedThen, type DraftPart } from '../../parts/form-dialog.js';
import { DraftField, SelectField } from '../../parts/form.js';
import { MemberFields, memberLabels } from '../../parts/members.js';
import { toast } from '../../parts/toast.js';
import type { Closable } from '../../parts/dialog.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';

export type User = ItemOf<'searchUsers'>;
type Role = User['role'];

const MEMBER_NAMES = MEMBERS.account.map(({ name }) => name);

/** The roles that one may give: those below one’s own. */
function RoleField<D extends { readonly role: Role }>({ draft, onChange }: DraftPart<D>) {
  const own = about.get()?.self?.role ?? 0;
  const roles = ([1, 5, 10] as const).filter((role) => role < own);
  return (
    <SelectField
      label={wp().people.role}
      value={String(draft.role)}
      choices={roles.map((one) => ({ value: String(one), label: wp().people.roles[one] }))}
      onChange={(picked) =>
        onChange({ ...draft, role: roles.find((one) => String(one) === picked) ?? 1 })
      }
    />
  );
}

const NOBODY = {
  ...{ username: '', password: '', email: '', display_name: '', quota: '', reason: '' },
  ...{ role: 1 as Role, members: {} as MemberTexts },
};
const FIELDS = ['username', 'password', 'email', 'display_name', 'quota', ...MEMBER_NAMES];

/** A new account: with a password that is passed on, or with a mail that lets its owner choose one. */
export function NewUser({ onClose }: Closable) {
  const [draft, setDraft] = useState(NOBODY);
  const [way, setWay] = useState<'password' | 'mail'>('password');
  const words = wp().people;
  const { quota, password, role, members, ...texts } = draft;
  const invites = way === 'mail';
  const given = Object.entries(texts).filter(([, text]) => text !== '');
  return (
    <FormDialog
      title={words.new}
      action={invites ? words.invite : words.make}
      ready={draft.username !== '' && (invites ? draft.email : password) !== ''}
      body={
        {
          ...Object.fromEntries(given),
          ...{ username: draft.username, role },
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
      {(error) => {
        const form = { draft, onChange: setDraft, error };
        return (
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
            <RoleField {...form} />
            <DraftField {...form} name="username" label={w().name} required autofocus />
            {invites ? null : (
              <DraftField
                {...form}
                name="password"
                label={w().login.password}
                help={words.passwordHelpNew}
                type="password"
                autocomplete="new-password"
                required
              />
            )}
            <DraftField
              {...form}
              name="email"
              label={w().login.email}
              type="email"
              required={invites}
            />
            <DraftField {...form} name="display_name" label={wp().account.displayName} />
            <DraftField
              {...form}
              name="quota"
              label={words.startBalance}
              type="number"
              min={0}
              step="any"
            />
            <DraftField {...form} name="reason" label={w().reason} help={w().reasonHelp} />
            <details>
              <summary>{wp().keys.limits}</summary>
              <div class="stack">
                <MemberFields {...form} rows={MEMBERS.account} />
              </div>
            </details>
          </>
        );
      }}
    </FormDialog>
  );
}

/** What somebody types to change an account. */
function draftOf(user: User) {
  const { username, email, display_name, role } = user;
  return { username, email, display_name, role, members: textsOf(MEMBERS.account, user) };
}

/** Changes an account; whoever changed it meanwhile is not overwritten without a question. */
export function EditUser({ user, onClose }: Closable & { readonly user: User }) {
  const words = wp().people;
  return (
    <EditDialog
      of={user}
      title={words.editTitle(user.username)}
      draftOf={draftOf}
      ready={({ username }) => username !== ''}
      write={(from, { members, ...plain }, why) => {
        const changed = Object.entries(plain).filter(
          ([name, value]) => value !== from[name as keyof typeof plain],
        );
        return call('updateUser', {
          body: {
            id: from.id,
            ...Object.fromEntries(changed),
            ...changedMembers(MEMBERS.account, members, from),
            if_revision: from.revision,
            ...why,
          },
        });
      }}
      comparable={({ role, members, ...texts }) => ({
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
      {(form) => (
        <>
          <RoleField {...form} />
          <DraftField {...form} name="username" label={w().name} required autofocus />
          <DraftField {...form} name="email" label={w().login.email} type="email" />
          <DraftField {...form} name="display_name" label={wp().account.displayName} />
          <MemberFields {...form} rows={MEMBERS.account} />
        </>
      )}
    </EditDialog>
  );
}
