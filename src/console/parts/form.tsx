import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/call.js';
import { Field, TextField, type Choice, type Choosing, type TextFieldProps } from './fields.js';
import type { DraftPart } from './form-dialog.js';
import { FormError, fieldError } from './notices.js';

/** A field of a form; `name` is the API's name for it, which errors refer to. */
interface FormField<N extends string> extends Omit<TextFieldProps, 'value' | 'onInput' | 'error'> {
  readonly name: N;
}

type Values<N extends string> = Readonly<Record<N, string>>;

interface FieldsProps<N extends string> {
  readonly fields: readonly FormField<N>[];
  readonly values: Values<N>;
  readonly onChange: (values: Values<N>) => void;
  readonly error: ApiError | undefined;
}

/** Fields of a form, each with its error. */
export function Fields<N extends string>({ fields, values, onChange, error }: FieldsProps<N>) {
  return (
    <>
      {fields.map(({ name, ...field }) => (
        <TextField
          key={name}
          {...field}
          value={values[name]}
          onInput={(value) => onChange({ ...values, [name]: value })}
          error={fieldError(error, name)}
        />
      ))}
    </>
  );
}

/** A text of a draft that has the API's names for its members. */
export function DraftField<N extends string, D extends Values<N>>({
  draft,
  onChange,
  error,
  name,
  ...field
}: DraftPart<D> & FormField<N>) {
  return (
    <TextField
      {...field}
      value={draft[name]}
      onInput={(text) => onChange({ ...draft, [name]: text })}
      error={fieldError(error, name)}
    />
  );
}

/** All fields of a form, and below them any error that belongs to none of them. */
export function FormFields<N extends string>(props: FieldsProps<N>) {
  return (
    <>
      <Fields {...props} />
      <FormError error={props.error} fields={props.fields.map(({ name }) => name)} />
    </>
  );
}

/** A form on a page, perhaps the only thing on it. */
export function Form({
  class: className,
  onSubmit,
  children,
}: {
  readonly class?: string;
  readonly onSubmit: () => void;
  readonly children: ComponentChildren;
}) {
  return (
    <form
      class={className}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

export function Choices({ choices }: { readonly choices: readonly Choice<string>[] }) {
  return (
    <>
      {choices.map(({ value, label }) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}

/** A choice of one among many, under a label. */
export function SelectField<T extends string>({
  label,
  value,
  choices,
  onChange,
  help,
  error,
}: Choosing<T> & { readonly help?: ComponentChildren; readonly error?: string | undefined }) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <select
          {...ids}
          class="input"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value as T)}
        >
          <Choices choices={choices} />
        </select>
      )}
    </Field>
  );
}
