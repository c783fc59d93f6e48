import { useState } from 'preact/hooks';
import { about, readAbout } from '../about.js';
import { actAs, call, loggedInAgain } from '../api/call.js';
import { queries, useWrite } from '../api/query.js';
import { forgetDrafts } from '../drafts.js';
import { tellTabs } from '../tabs.js';
import { Button, Link } from '../parts/buttons.js';
import { TextField } from '../parts/fields.js';
import { ErrorNotice } from '../parts/notices.js';
import { Dialog } from '../parts/dialog.js';
import { Form } from '../parts/form.js';
import { KEEPING, navigate, useRoute } from '../router.js';
import { useAtom } from '../state.js';
import { w, withWords } from '../words.js';
import { Brand } from '../brand.js';
import { lazy } from '../shell/chunks.js';

/** After a login, goes to the page that the user wanted, if it is in the console. */
export function goOn(wanted: string | null): void {
  navigate(wanted !== null && /^[\w/?=&%.,:+*-]+$/.test(wanted) ? wanted : './', KEEPING);
}

function useLogin(onDone: () => void) {
  const [username, setUsername] = useState(about.get()?.self?.username ?? '');
  const [password, setPassword] = useState('');
  const login = useWrite(async () => {
    const self = await call('login', { body: { username, password } });
    actAs(self.id);
    await readAbout();
    return self;
  });
  async function submit(): Promise<void> {
    const before = about.get()?.self?.id;
    const self = await login.run(undefined);
    if (self === undefined) {
      // The last one: the dialog may stand over a page that asks for a password, too.
      [...document.querySelectorAll<HTMLElement>('[autocomplete=current-password]')]
        .at(-1)
        ?.focus();
      return;
    }
    if (before !== self.id) {
      queries.clear();
      if (before !== undefined) forgetDrafts();
    }
    tellTabs({ kind: 'login', userId: self.id });
    setPassword('');
    onDone();
  }
  const fields = (
    <>
      <TextField
        label={w().login.name}
        value={username}
        onInput={setUsername}
        autocomplete="username"
        required
        autofocus
      />
      <TextField
        label={w().login.password}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="current-password"
        required
      />
      <ErrorNotice error={login.error} />
    </>
  );
  return { fields, submit, busy: login.busy };
}

const SignOn = lazy(
  async () => (await withWords(import('./sign-on.js'))).SignOn,
  () => null,
);

/** Whether there is another way in than a password, or something to say about one. */
function hasSignOn(): boolean {
  const { open_id: openId, refusal } = about.get()?.logins ?? {};
  return openId != null || refusal != null;
}

export function Login() {
  const { query } = useRoute();
  const known = useAtom(about);
  const { fields, submit, busy } = useLogin(() => goOn(query.get('to')));
  return (
    <Gate title={w().login.action} onSubmit={() => void submit()}>
      {hasSignOn() ? <SignOn /> : null}
      {known?.logins.passwords === false ? null : (
        <>
          {fields}
          <Button kind="main" type="submit" disabled={busy}>
            {w().login.action}
          </Button>
          <div class="row apart small">
            {known?.registration === true ? (
              <Link to="register">{w().login.register}</Link>
            ) : (
              <span />
            )}
            <Link to="forgot">{w().login.forgot}</Link>
          </div>
        </>
      )}
    </Gate>
  );
}

/** The login dialog over a page whose login has ended: drafts and filters stay, and refused calls are repeated. */
export function LoginAgain() {
  const { fields, submit, busy } = useLogin(loggedInAgain);
  return (
    <Dialog
      title={w().login.over}
      closable={false}
      onClose={() => undefined}
      onSubmit={() => void submit()}
      foot={
        about.get()?.logins.passwords === false ? null : (
          <Button kind="main" type="submit" disabled={busy}>
            {w().login.action}
          </Button>
        )
      }
    >
      <p class="muted">{w().login.overHelp}</p>
      {hasSignOn() ? <SignOn /> : null}
      {about.get()?.logins.passwords === false ? null : fields}
    </Dialog>
  );
}

/** A form on a separate page, for users who are not logged in. */
export function Gate({
  title,
  onSubmit,
  children,
}: {
  readonly title: string;
  readonly onSubmit: () => void;
  readonly children: preact.ComponentChildren;
}) {
  return (
    <main class="gate">
      <Form onSubmit={onSubmit}>
        <Brand />
        <h1>{title}</h1>
        {children}
      </Form>
    </main>
  );
}
