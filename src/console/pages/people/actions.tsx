import { useState } from 'preact/hooks';
import { about, isAdmin } from '../../about.js';
import { call } from '../../api/call.js';
import { useRead } from '../../api/query.js';
import { Button } from '../../parts/buttons.js';
import type { Closable } from '../../parts/dialog.js';
import { ConfirmWrite } from '../../parts/confirm-write.js';
import { FormDialog, savedThen } from '../../parts/form-dialog.js';
import { Fields } from '../../parts/form.js';
import { RowMenu, type Ask } from '../../parts/row-menu.js';
import { toast } from '../../parts/toast.js';
import { setQuery } from '../../router.js';
import { w, wp } from '../../words.js';
import { EditUser, type User } from './form.js';

const ROOT = 100;

/** Whether the user's role is below one’s own; nobody may act on an equal or higher role. */
export function isBelow({ role }: User): boolean {
  return isAdmin() && role < (about.get()?.self?.role ?? 0);
}

export function UserActions({ user }: { readonly user: User }) {
  const { id, username, email, role, status } = user;
  const words = wp().people;
  const isRoot = about.get()?.self?.role === ROOT;
  if (!isBelow(user)) {
    return (
      <Button
        kind="icon"
        disabled
        title={words.outOfReach}
        label={`${words.outOfReach} ${username}`}
      >
        ⋯
      </Button>
    );
  }
  const manage =
    (action: Managed): Ask =>
    (onClose) => <Manage user={user} action={action} onClose={onClose} />;
  return (
    <RowMenu
      name={username}
      items={[
        { label: w().open, onClick: () => setQuery({ open: id }) },
        {
          label: `${w().edit}…`,
          ask: (onClose) => <EditUser user={user} onClose={onClose} />,
        },
        email === '' || status !== 1
          ? undefined
          : {
              label: `${words.mailReset}…`,
              ask: (onClose) => <MailReset user={user} onClose={onClose} />,
            },
        {
          label: words.setPassword,
          ask: (onClose) => <SetPassword user={user} onClose={onClose} />,
        },
        !isRoot
          ? undefined
          : role < 10
            ? { label: words.promote, ask: manage('promote') }
            : { label: words.demote, ask: manage('demote') },
        status === 1
          ? { label: `${w().disable}…`, ask: manage('disable') }
          : {
              label: w().enable,
              write: () => call('manageUser', { body: { id, action: 'enable' } }),
            },
        { label: `${w().delete}…`, danger: true, ask: manage('delete') },
      ]}
    />
  );
}

/** Has a one-time code mailed, with which somebody sets a password of their own. */
function MailReset({ user: { id, username, email }, onClose }: Closable & { readonly user: User }) {
  const words = wp().people;
  return (
    <ConfirmWrite
      title={words.mailTitle(username)}
      action={words.mailReset}
      write={(why) => call('mailPasswordReset', { params: { id }, body: why })}
      onDone={() => toast(words.mailed(email))}
      onClose={onClose}
    >
      <p>{about.get()?.mail === 'outbox' ? words.outbox : words.mailHelp(email)}</p>
    </ConfirmWrite>
  );
}

type Managed = 'disable' | 'promote' | 'demote' | 'delete';

function Manage({
  user: { id, username },
  action,
  onClose,
}: Closable & { readonly user: User; readonly action: Managed }) {
  const words = wp().people;
  const keys = useRead(
    'listTokens',
    { query: { user_id: id, page_size: 1 } },
    { enabled: action === 'delete' },
  );
  const isDelete = action === 'delete';
  return (
    <ConfirmWrite
      title={words.titles[action](username)}
      action={words.actions[action]}
      typed={isDelete ? username : undefined}
      needs={isDelete ? keys : undefined}
      write={(why) => call('manageUser', { body: { id, action, ...why } })}
      onDone={() => {
        if (isDelete) setQuery({ open: '' }, { replace: true });
        toast(isDelete ? w().deleted : w().saved);
      }}
      onClose={onClose}
    >
      <p>{words.consequences[action]}</p>
      {isDelete && keys.data !== undefined ? <p>{words.keysGo(keys.data.total)}</p> : null}
    </ConfirmWrite>
  );
}

function SetPassword({ user: { id, username }, onClose }: Closable & { readonly user: User }) {
  const [values, setValues] = useState({ password: '', reason: '' });
  const words = wp().people;
  return (
    <FormDialog
      title={words.passwordTitle(username)}
      action={words.setPassword}
      ready={values.password !== ''}
      body={{ id, ...values }}
      write={(body) => call('updateUser', { body })}
      onDone={savedThen(onClose)}
      onClose={onClose}
      fields={['password', 'reason']}
    >
      {(error) => (
        <>
          <p class="muted">{words.passwordHelp}</p>
          <Fields
            values={values}
            onChange={setValues}
            error={error}
            fields={[
              {
                name: 'password',
                label: w().login.newPassword,
                help: w().login.passwordHelp,
                type: 'password',
                autocomplete: 'new-password',
                required: true,
              },
              { name: 'reason', label: w().reason, help: w().reasonHelp },
            ]}
          />
        </>
      )}
    </FormDialog>
  );
}
