import type { ComponentChildren } from 'preact';
import type { ApiError } from '../api/call.js';
import { w } from '../words.js';
import { Button, CopyButton } from './buttons.js';
import { style } from './values.js';

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
