import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApiError } from '../api/call.js';
import { about } from '../about.js';
import { age, count, dollars, moment, type Style } from '../lib/format.js';
import { hrefOf, navigate } from '../router.js';
import { settings } from '../settings.js';
import { useAtom } from '../state.js';
import { w } from '../words.js';
import type { DragProps } from './drag.js';
import { toast } from './toast.js';

export function style(): Style {
  return settings.get();
}

interface ButtonProps {
  readonly kind?: 'main' | 'plain' | 'danger' | 'quiet' | 'icon';
  readonly type?: 'button' | 'submit';
  readonly disabled?: boolean | undefined;
  readonly title?: string | undefined;
  readonly label?: string | undefined;
  /** Whether a button that switches something is on. */
  readonly pressed?: boolean | undefined;
  readonly onClick?: ((event: MouseEvent) => void) | undefined;
  readonly children: ComponentChildren;
}

export function Button({
  kind = 'plain',
  type = 'button',
  disabled = false,
  title,
  label,
  pressed,
  onClick,
  children,
}: ButtonProps) {
  const own = useRef<HTMLButtonElement>(null);
  // A button that ends while it works would take the focus with it.
  const held = disabled && own.current === document.activeElement;
  return (
    <button
      ref={own}
      class={`button ${kind}`}
      type={type}
      disabled={disabled && !held}
      aria-disabled={held || undefined}
      title={title}
      aria-label={label}
      aria-pressed={pressed}
      onClick={held ? (event) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  );
}

/** A link within the console; opening it in a new tab or window still works. */
export function Link({
  to,
  class: className,
  current = false,
  title,
  children,
}: {
  readonly to: string;
  readonly class?: string | undefined;
  readonly current?: boolean;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <a
      class={className}
      href={hrefOf(to)}
      title={title}
      aria-current={current ? 'page' : undefined}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        navigate(to);
      }}
    >
      {children}
    </a>
  );
}

interface FieldProps {
  readonly label: string;
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
        <span class="help" id={`${id}-help`}>
          {help}
        </span>
      )}
      {error === undefined ? null : (
        <span class="wrong" id={`${id}-wrong`} role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

export interface TextFieldProps {
  readonly label: string;
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
            <Suggestions id={list} options={options} />
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

/** Suggestions of a field while somebody types. */
function Suggestions({
  id,
  options,
}: {
  readonly id: string;
  readonly options: readonly string[] | undefined;
}) {
  if (options === undefined) return null;
  return (
    <datalist id={id}>
      {options.map((option) => (
        <option key={option} value={option} />
      ))}
    </datalist>
  );
}

export interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

const PAUSE_MS = 250;

/** A text filter; it takes effect after a pause in typing. */
export function FilterText({
  label,
  value,
  onChange,
  options,
}: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options?: readonly string[];
}) {
  const [typed, setTyped] = useState(value);
  const list = useId();
  // What comes back is what was told, and somebody may have typed on since.
  const told = useRef(value);
  useLayoutEffect(() => {
    if (value === told.current) return;
    told.current = value;
    setTyped(value);
  }, [value]);
  useEffect(() => {
    if (typed === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = typed;
      onChange(typed);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <>
      <input
        class="input filter"
        type="search"
        aria-label={label}
        placeholder={label}
        value={typed}
        list={options === undefined ? undefined : list}
        spellcheck={false}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <Suggestions id={list} options={options} />
    </>
  );
}

/** A choice of one among a few, all of them visible. */
export function Segments<T extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChange: (value: T) => void;
}) {
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

export function Money({ units }: { readonly units: number }) {
  const inUnits = useAtom(settings).units;
  const perDollar = about.get()?.units_per_usd ?? 500_000;
  return (
    <span class="nowrap" title={`${count(units, style())} ${w().units}`}>
      {inUnits ? count(units, style()) : dollars(units, perDollar)}
    </span>
  );
}

export function money(units: number): string {
  const perDollar = about.get()?.units_per_usd ?? 500_000;
  return settings.get().units ? `${count(units, style())} ${w().units}` : dollars(units, perDollar);
}

export function Count({ value }: { readonly value: number }) {
  return <>{count(value, style())}</>;
}

/** How long ago, with the exact time as its title. */
export function Ago({ seconds }: { readonly seconds: number }) {
  if (seconds <= 0) return <span class="muted">{w().never}</span>;
  const date = new Date(seconds * 1000);
  return (
    <time
      class="nowrap"
      dateTime={date.toISOString()}
      title={`${moment(seconds, style())} (${date.toISOString()})`}
    >
      {age(seconds, Date.now() / 1000, style())}
    </time>
  );
}

/** A date and time, with UTC as its title. */
export function Moment({ seconds }: { readonly seconds: number }) {
  if (seconds <= 0) return <span class="muted">{w().never}</span>;
  const iso = new Date(seconds * 1000).toISOString();
  return (
    <time class="nowrap" dateTime={iso} title={iso}>
      {moment(seconds, style())}
    </time>
  );
}

const SIGNS = { ok: '●', off: '○', busy: '◐', warn: '▲', bad: '✕', hollow: '◦' } as const;
const SHADES = {
  ok: 'ok',
  off: 'muted',
  busy: 'warn',
  warn: 'warn',
  bad: 'bad',
  hollow: 'bad',
} as const;

/** A state: a sign and a word, so that colour alone never carries the meaning. */
export function State({
  sign,
  children,
}: {
  readonly sign: keyof typeof SIGNS;
  readonly children: ComponentChildren;
}) {
  return (
    <span class="state">
      <span class={`sign ${SHADES[sign]}`} aria-hidden="true">
        {SIGNS[sign]}
      </span>
      <span>{children}</span>
    </span>
  );
}

export function Chip({
  children,
  onRemove,
  title,
  drag,
}: {
  readonly children: ComponentChildren;
  readonly onRemove?: () => void;
  readonly title?: string;
  readonly drag?: DragProps;
}) {
  return (
    <span class="chip" title={title} {...drag}>
      <span class="clip">{children}</span>
      {onRemove === undefined ? null : (
        <button type="button" aria-label={w().remove} onClick={onRemove}>
          ✕
        </button>
      )}
    </span>
  );
}

/** Calls `onCopied` only if the clipboard has it. */
export async function copyText(text: string, onCopied?: () => void): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(w().copied);
    onCopied?.();
  } catch (error) {
    // Pages without TLS have no clipboard, nor have pages that nobody has interacted with.
    console.info('no clipboard:', error);
    toast(w().notCopied);
  }
}

export function CopyButton({
  text,
  label,
  kind = 'plain',
  onCopied,
}: {
  readonly text: string;
  readonly label?: string;
  readonly kind?: 'plain' | 'main' | 'quiet';
  readonly onCopied?: () => void;
}) {
  return (
    <Button
      kind={kind}
      onClick={() => {
        void copyText(text, onCopied);
      }}
    >
      {label ?? w().copy}
    </Button>
  );
}

export function CodeBox({ text }: { readonly text: string }) {
  return (
    <div class="codebox">
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <span class="copy">
        <CopyButton text={text} kind="quiet" />
      </span>
    </div>
  );
}

/** An API message in the reader's language if a translation exists; otherwise the original. */
export function messageOf(error: ApiError): string {
  const { errors } = w();
  const known = (errors as Readonly<Record<string, string | undefined>>)[error.code];
  if (error.status === 0 && error.code === 'no_connection') return errors.no_connection;
  return style().language === 'en' || known === undefined
    ? error.message
    : `${known} (${error.message})`;
}

/** What is refused for good: asking again gives the same answer. */
const FINAL: ReadonlySet<number> = new Set([400, 403, 404]);

export function ErrorNotice({
  error,
  onAgain,
}: {
  readonly error: ApiError | undefined;
  readonly onAgain?: () => void;
}) {
  if (error === undefined) return null;
  return (
    <div class="notice bad-bar" role="alert">
      <span class="bad" aria-hidden="true">
        ✕
      </span>
      <div class="grow stack tight">
        <span class="wrap">{messageOf(error)}</span>{' '}
        <span class="small muted wrap">
          {error.code}
          {error.retryAfterS === undefined ? '' : ` · ${w().tryAgainIn(error.retryAfterS)}`}
          {error.requestId === undefined ? '' : ` · ${error.requestId}`}
        </span>
      </div>
      {error.requestId === undefined ? null : (
        <CopyButton text={`${error.code} ${error.message} ${error.requestId}`} kind="quiet" />
      )}
      {onAgain === undefined || FINAL.has(error.status) ? null : (
        <Button onClick={onAgain}>{w().again}</Button>
      )}
    </div>
  );
}

/** The error message for a field, if the API named that field. */
export function fieldError(error: ApiError | undefined, name: string): string | undefined {
  return error?.param === name || error?.param?.startsWith(`${name}.`) === true
    ? messageOf(error)
    : undefined;
}

/** An error of the form as a whole, which belongs to none of its fields. */
export function FormError({
  error,
  fields,
}: {
  readonly error: ApiError | undefined;
  readonly fields: readonly string[];
}) {
  if (error?.param !== undefined && fields.includes(error.param.split('.')[0] ?? '')) return null;
  return <ErrorNotice error={error} />;
}

export function Skeleton({ lines = 4 }: { readonly lines?: number }) {
  const widths = ['82%', '64%', '91%', '73%', '55%'];
  return (
    <div class="stack" aria-busy="true" aria-label={w().loading}>
      {Array.from({ length: lines }, (_, index) => {
        const width = widths[index % widths.length] ?? '80%';
        return <span class="skeleton" key={index} style={{ width }} />;
      })}
    </div>
  );
}

/** The button above a list that makes a new entry. */
export interface Making {
  readonly label: string;
  readonly onClick: () => void;
}

/** Shown before anything has been made: what it is for, how to begin, and the equivalent command. */
export function Empty({
  title,
  children,
  make,
  action,
  command,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
  readonly make?: Making;
  readonly action?: ComponentChildren;
  readonly command?: string;
}) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children === undefined ? null : <p>{children}</p>}
      {make === undefined ? null : (
        <Button kind="main" onClick={make.onClick}>
          {make.label}
        </Button>
      )}
      {action}
      {command === undefined ? null : <code class="small">$ {command}</code>}
    </div>
  );
}

/** A small chart of a series, from zero to its maximum; the numbers are shown beside it. */
export function Bars({ values }: { readonly values: readonly number[] }) {
  const most = Math.max(1, ...values);
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${values.length} 1`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {values.map((value, at) => (
        <rect key={at} x={at + 0.1} width={0.8} y={1 - value / most} height={value / most} />
      ))}
    </svg>
  );
}

export function Meter({ share, low = false }: { readonly share: number; readonly low?: boolean }) {
  const width = `${Math.max(0, Math.min(1, share)) * 100}%`;
  return (
    <span class={low ? 'meter low' : 'meter'} aria-hidden="true">
      <i style={{ width }} />
    </span>
  );
}
