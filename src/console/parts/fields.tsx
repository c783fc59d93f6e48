import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface FieldProps {
  readonly label: ComponentChildren;
  readonly help?: ComponentChildren;
  readonly error?: string | undefined;
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby': string | undefined;
    readonly 'aria-invalid': boolean;
  }) => ComponentChildren;
}

/** A control with a label above it, and help and error below. */
export function Field({ label, help, error, children }: FieldProps) {
  const id = useId();
  const described = [
    help === undefined ? '' : `${id}-help`,
    error === undefined ? '' : `${id}-wrong`,
  ].filter((name) => name !== '');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described.length === 0 ? undefined : described.join(' '),
        'aria-invalid': error !== undefined,
      })}
      {help === undefined ? null : (
        <span class="small muted" id={`${id}-help`}>
          {help}
        </span>
      )}
      {error === undefined ? null : (
        <span class="small bad" id={`${id}-wrong`} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

export interface TextFieldProps {
  readonly label: ComponentChildren;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly help?: ComponentChildren;
  readonly error?: string | undefined;
  readonly type?: 'text' | 'password' | 'email' | 'number' | 'search' | 'date' | 'datetime-local';
  readonly autocomplete?: string;
  readonly required?: boolean;
  readonly placeholder?: string;
  readonly rows?: number;
  readonly options?: readonly string[];
  readonly autofocus?: boolean;
  readonly min?: number | string;
  readonly max?: number | string;
  readonly step?: number | string;
  readonly mono?: boolean;
}

export function TextField(props: TextFieldProps) {
  const { label, value, onInput, help, error, rows, options, autofocus = false, mono } = props;
  const { type = 'text', autocomplete = 'off', required = false, placeholder } = props;
  const list = useId();
  const field = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useEffect(() => {
    if (autofocus) field.current?.focus();
  }, [autofocus]);
  const className = mono === true ? 'input mono' : 'input';
  return (
    <Field label={label} help={help} error={error}>
      {(ids) =>
        rows === undefined ? (
          <>
            <input
              {...ids}
              ref={field}
              class={className}
              // Preact's types differ by the type of the input, which varies here.
              {...({
                type,
                value,
                autocomplete,
                required,
                placeholder,
                list: options === undefined ? undefined : list,
                min: props.min,
                max: props.max,
                step: props.step,
                spellcheck: false,
              } as InputHTMLAttributes)}
              onInput={(event) => onInput(event.currentTarget.value)}
            />
            {options === undefined ? null : (
              <datalist id={list}>
                {options.map((option) => (
                  <option key={option} value={option} />
                ))}
              </datalist>
            )}
          </>
        ) : (
          <textarea
            {...ids}
            ref={field}
            class={className}
            rows={rows}
            value={value}
            required={required}
            placeholder={placeholder}
            spellcheck={false}
            onInput={(event) => onInput(event.currentTarget.value)}
          />
        )
      }
    </Field>
  );
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

/** A choice of one. */
export interface Choosing<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
}

/** A choice of one among a few, all of them visible. */
export function Segments<T extends string>({ label, value, choices, onChange }: Choosing<T>) {
  const name = useId();
  return (
    <div class="segments" role="radiogroup" aria-label={label}>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name={name}
            value={choice.value}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          {choice.label}
        </label>
      ))}
    </div>
  );
}

export function Check({
  label,
  checked,
  onChange,
}: {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
}) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={checked}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      {label}
    </label>
  );
}
