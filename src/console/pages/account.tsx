import { useState } from 'preact/hooks';
import { about, isAdmin, readAbout } from '../about.js';
import { actAs, call } from '../api/call.js';
import { queries, useRead, useWrite } from '../api/query.js';
import { Button, CopyButton } from '../parts/buttons.js';
import { Check } from '../parts/fields.js';
import { ErrorNotice } from '../parts/notices.js';
import { SegmentsField, choicesOf } from '../parts/choice.js';
import { ConfirmWrite } from '../parts/confirm-write.js';
import { Dialog } from '../parts/dialog.js';
import { Form, FormFields } from '../parts/form.js';
import { LoginList } from '../parts/logins.js';
import { Redeem } from '../parts/redeem.js';
import { toast } from '../parts/toast.js';
import { navigate } from '../router.js';
import { changeSettings, settings, type Settings } from '../settings.js';
import { useAtom } from '../state.js';
import { tellTabs } from '../tabs.js';
import { w, wp } from '../words.js';

async function leave(): Promise<void> {
  queries.clear();
  actAs(undefined);
  tellTabs({ kind: 'logout' });
  await readAbout();
  navigate('login', { replace: true });
}

/** Who I am, how I log in, and what I prefer. */
export function Account() {
  return (
    <>
      <div class="head">
        <h1>{w().nav.account}</h1>
      </div>
      <div class="halves">
        <Profile />
        <Preferences />
        <Password />
        <AccessToken />
        <Logins />
        {isAdmin() ? <Redeem /> : null}
      </div>
    </>
  );
}

function Profile() {
  const self = useAtom(about)?.self;
  const [values, setValues] = useState({
    display_name: self?.display_name ?? '',
    email: self?.email ?? '',
  });
  const save = useWrite(
    () => call('updateSelf', { body: values }),
    () => void readAbout().then(() => toast(w().saved)),
  );
  return (
    <Form class="card stack" onSubmit={() => void save.run(undefined)}>
      <h2>{wp().account.profile}</h2>
      <p class="muted">{self?.username}</p>
      <FormFields
        values={values}
        onChange={setValues}
        error={save.error}
        fields={[
          { name: 'display_name', label: wp().account.displayName, autocomplete: 'name' },
          { name: 'email', label: w().login.email, type: 'email', autocomplete: 'email' },
        ]}
      />
      <div class="row end">
        <Button kind="main" type="submit" disabled={save.busy}>
          {w().save}
        </Button>
      </div>
    </Form>
  );
}

const NO_PASSWORDS = { original_password: '', password: '' };

function Password() {
  const [values, setValues] = useState(NO_PASSWORDS);
  const save = useWrite(
    () => call('updateSelf', { body: values }),
    () => {
      setValues(NO_PASSWORDS);
      toast(wp().account.passwordChanged);
    },
  );
  return (
    <Form class="card stack" onSubmit={() => void save.run(undefined)}>
      <h2>{w().login.password}</h2>
      <FormFields
        values={values}
        onChange={setValues}
        error={save.error}
        fields={[
          {
            name: 'original_password',
            label: wp().account.oldPassword,
            type: 'password',
            autocomplete: 'current-password',
          },
          {
            name: 'password',
            label: w().login.newPassword,
            help: w().login.passwordHelp,
            type: 'password',
            autocomplete: 'new-password',
          },
        ]}
      />
      <div class="row end">
        <Button type="submit" disabled={save.busy || values.password === ''}>
          {wp().account.changePassword}
        </Button>
      </div>
    </Form>
  );
}

function AccessToken() {
  const [token, setToken] = useState<string>();
  const make = useWrite((_: undefined, key) => call('createAccessToken', { key }), setToken);
  return (
    <section class="card stack">
      <h2>{wp().account.accessToken}</h2>
      <p class="muted">{wp().account.accessTokenHelp}</p>
      <ErrorNotice error={make.error} />
      <div class="row end">
        <Button disabled={make.busy} onClick={() => void make.run(undefined)}>
          {wp().account.makeToken}
        </Button>
      </div>
      {token === undefined ? null : (
        <Dialog
          title={wp().account.tokenTitle}
          onClose={() => setToken(undefined)}
          foot={<CopyButton text={token} kind="main" />}
        >
          <p class="muted">{w().shownOnce}</p>
          <div class="secret">{token}</div>
        </Dialog>
      )}
    </section>
  );
}

const SWITCHES = ['units', 'utc', 'letterKeys'] as const;

function Preferences() {
  const now = useAtom(settings);
  const words = wp().account;
  const choice = <N extends 'language' | 'theme' | 'density'>(
    name: N,
    labels: Readonly<Record<Settings[N], string>>,
  ) => (
    <SegmentsField
      label={words[name]}
      value={now[name]}
      choices={choicesOf(labels)}
      onChange={(value) => changeSettings({ [name]: value })}
    />
  );
  return (
    <section class="card stack">
      <h2>{words.view}</h2>
      <div class="stack">
        {choice('language', { en: 'English', zh: '中文' })}
        {choice('theme', words.themes)}
        {choice('density', words.densities)}
      </div>
      {SWITCHES.map((name) => (
        <Check
          key={name}
          label={words[name]}
          checked={now[name]}
          onChange={(checked) => changeSettings({ [name]: checked })}
        />
      ))}
    </section>
  );
}

function Logins() {
  const self = useAtom(about)?.self;
  const [deleting, setDeleting] = useState(false);
  const reading = useRead('listSessions');
  const everywhere = useWrite(async () => {
    await call('logout', { body: { everywhere: true } });
    await leave();
  });
  return (
    <section class="card stack">
      <h2>{wp().account.logins}</h2>
      <LoginList reading={reading} end={(id) => call('endSession', { params: { id } })} />
      <p class="muted">{wp().account.logoutEverywhereHelp}</p>
      <ErrorNotice error={everywhere.error} />
      <div class="row end">
        <Button disabled={everywhere.busy} onClick={() => void everywhere.run(undefined)}>
          {wp().account.logoutEverywhere}
        </Button>
        {self?.role === 100 ? null : (
          <Button kind="quiet" onClick={() => setDeleting(true)}>
            {wp().account.deleteAction}
          </Button>
        )}
      </div>
      {deleting ? (
        <ConfirmWrite
          title={wp().account.deleteTitle}
          action={w().delete}
          typed={self?.username}
          askReason={false}
          write={() => call('deleteSelf')}
          onDone={() => void leave()}
          onClose={() => setDeleting(false)}
        >
          <p>{wp().account.deleteHelp}</p>
        </ConfirmWrite>
      ) : null}
    </section>
  );
}
