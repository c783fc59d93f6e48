import { useState } from 'preact/hooks';
import { about, readAbout } from '../about.js';
import { actAs, call } from '../api/call.js';
import { useWrite } from '../api/query.js';
import { Button, Link } from '../parts/buttons.js';
import { FormFields } from '../parts/form.js';
import { navigate, useFragment } from '../router.js';
import { useAtom } from '../state.js';
import { w } from '../words.js';
import { Gate, goOn } from './login.js';

export function Register() {
  const [values, setValues] = useState({ username: '', email: '', password: '' });
  const register = useWrite(
    async () => {
      const { username, password, email } = values;
      await call('register', {
        body: { username, password, ...(email === '' ? {} : { email }) },
      });
      const self = await call('login', { body: { username, password } });
      actAs(self.id);
      await readAbout();
    },
    () => goOn(null),
  );
  return (
    <Gate title={w().login.register} onSubmit={() => void register.run(undefined)}>
      <FormFields
        values={values}
        onChange={setValues}
        error={register.error}
        fields={[
          {
            name: 'username',
            label: w().login.username,
            autocomplete: 'username',
            required: true,
            autofocus: true,
          },
          { ...emailField(), help: w().login.emailHelp },
          newPasswordField(w().login.password),
        ]}
      />
      <Foot action={w().login.registerAction} busy={register.busy} />
    </Gate>
  );
}

export function Forgot() {
  const [values, setValues] = useState({ email: '' });
  const mail = useWrite(
    () => call('requestPasswordReset', { query: values }),
    () => navigate('reset'),
  );
  const known = useAtom(about);
  return (
    <Gate title={w().login.forgot} onSubmit={() => void mail.run(undefined)}>
      {known?.mail === 'outbox' ? <p class="muted">{w().login.outbox}</p> : null}
      <FormFields
        values={values}
        onChange={setValues}
        error={mail.error}
        fields={[{ ...emailField(), required: true, autofocus: true }]}
      />
      <Foot action={w().login.forgotAction} busy={mail.busy}>
        <Link to="reset">{w().login.haveCode}</Link>
      </Foot>
    </Gate>
  );
}

export function Reset() {
  const given = new URLSearchParams(useFragment());
  const [values, setValues] = useState({
    email: given.get('email') ?? '',
    token: given.get('code') ?? '',
    password: '',
  });
  const reset = useWrite(
    () => call('resetPassword', { body: values }),
    () => navigate('login'),
  );
  return (
    <Gate title={w().login.resetTitle} onSubmit={() => void reset.run(undefined)}>
      <p class="muted">{w().login.resetHelp}</p>
      <FormFields
        values={values}
        onChange={setValues}
        error={reset.error}
        fields={[
          { ...emailField(), required: true },
          {
            name: 'token',
            label: w().login.code,
            autocomplete: 'one-time-code',
            required: true,
            mono: true,
          },
          newPasswordField(w().login.newPassword),
        ]}
      />
      <Foot action={w().login.resetAction} busy={reset.busy} />
    </Gate>
  );
}

function emailField() {
  return { name: 'email', label: w().login.email, type: 'email', autocomplete: 'email' } as const;
}

function newPasswordField(label: string) {
  return {
    name: 'password',
    label,
    help: w().login.passwordHelp,
    type: 'password',
    autocomplete: 'new-password',
    required: true,
  } as const;
}

function Foot({
  action,
  busy,
  children,
}: {
  readonly action: string;
  readonly busy: boolean;
  readonly children?: preact.ComponentChildren;
}) {
  return (
    <>
      <Button kind="main" type="submit" disabled={busy}>
        {action}
      </Button>
      <div class="row apart small">
        <Link to="login">{w().login.back}</Link>
        {children}
      </div>
    </>
  );
}
