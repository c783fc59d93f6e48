import { useState } from 'preact/hooks';
import { readAbout } from '../about.js';
import { call } from '../api/call.js';
import { useWrite } from '../api/query.js';
import { wp } from '../words.js';
import { Button } from './buttons.js';
import { TextField } from './fields.js';
import { Form } from './form.js';
import { fieldError, FormError } from './notices.js';
import { money } from './values.js';
import { toast } from './toast.js';

export function Redeem() {
  const [code, setCode] = useState('');
  const redeem = useWrite(
    (key: string, idempotencyKey) => call('topUp', { body: { key }, key: idempotencyKey }),
    (added) => {
      setCode('');
      toast(wp().home.redeemed(money(added)));
      void readAbout();
    },
  );
  return (
    <Form class="card stack" onSubmit={() => void redeem.run(code.trim())}>
      <TextField
        label={wp().home.redeem}
        value={code}
        onInput={setCode}
        error={fieldError(redeem.error, 'key')}
        mono
      />
      <FormError error={redeem.error} fields={['key']} />
      <div class="row end">
        <Button type="submit" disabled={redeem.busy || code.trim() === ''}>
          {wp().home.redeemAction}
        </Button>
      </div>
    </Form>
  );
}
