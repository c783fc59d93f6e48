import { useState } from 'preact/hooks';
import { call } from '../../api/call.js';
import type { Operations } from '../../api/operations.js';
import { useWrite } from '../../api/query.js';
import { unitsOf } from '../../lib/format.js';
import { choicesOf } from '../../parts/choice.js';
import { Button } from '../../parts/buttons.js';
import { Form, FormFields, SelectField } from '../../parts/form.js';
import { toast } from '../../parts/toast.js';
import { w, wp } from '../../words.js';
import type { User } from './form.js';

/** Adds to the balance, takes from it, or sets it, in dollars. */
export function Balance({ user: { id } }: { readonly user: User }) {
  const [mode, setMode] = useState<'add' | 'subtract' | 'override'>('add');
  const [values, setValues] = useState({ value: '', reason: '' });
  const words = wp().people;
  const save = useWrite(
    (body: Operations['manageUser']['body'], key) => call('manageUser', { body, key }),
    () => {
      setValues({ value: '', reason: '' });
      toast(w().saved);
    },
  );
  const amount = Number(values.value);
  const isAmount = values.value !== '' && (mode === 'override' ? amount >= 0 : amount > 0);
  return (
    <Form
      class="stack"
      onSubmit={() => {
        if (!isAmount) return;
        const { reason } = values;
        void save.run({
          ...{ id, action: 'add_quota', mode, value: unitsOf(values.value) },
          ...(reason === '' ? {} : { reason }),
        });
      }}
    >
      <SelectField
        label={w().home.balance}
        value={mode}
        choices={choicesOf(words.modes)}
        onChange={setMode}
      />
      <FormFields
        values={values}
        onChange={setValues}
        error={save.error}
        fields={[
          { ...{ name: 'value', label: words.amount }, type: 'number', min: 0, step: 'any' },
          { name: 'reason', label: w().reason, help: w().reasonHelp },
        ]}
      />
      <div class="row end">
        <Button type="submit" disabled={save.busy || !isAmount}>
          {words.modes[mode]}
        </Button>
      </div>
    </Form>
  );
}
