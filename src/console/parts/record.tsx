import type { ComponentChildren } from 'preact';
import { seesAll } from '../about.js';
import { useRead, type Reading } from '../api/query.js';
import { w, wp } from '../words.js';
import { Link } from './buttons.js';
import { ErrorNotice, Skeleton } from './notices.js';
import { Ago } from './values.js';
import { Dialog } from './dialog.js';

/** What has an address of its own: the list that it is in, and what the audit log calls it. */
export const KINDS = {
  key: { list: 'keys', audited: 'token' },
  account: { list: 'people', audited: 'user' },
  channel: { list: 'channels', audited: 'channel' },
  code: { list: 'codes', audited: 'redemption' },
  tag: { list: 'tags', audited: 'tag' },
  model: { list: 'models', audited: undefined },
} as const;

export type RecordKind = keyof typeof KINDS;

interface RecordProps<T> {
  readonly kind: RecordKind;
  readonly id: string | number;
  readonly reading: Reading<T>;
  /** Its name, once it is known. */
  readonly title: string | undefined;
  readonly onClose?: (() => void) | undefined;
  readonly onKey?: ((event: KeyboardEvent) => void) | undefined;
  /** Whether what is shown is a card already. */
  readonly isCard?: boolean;
  readonly children: (record: T) => ComponentChildren;
}

/** Whether a part of an address can be the id of a record: nothing else is asked for. */
export function isId(text: string | number): boolean {
  return /^\d{1,15}$/.test(String(text));
}

/** The address of a record. */
export function recordAddress(kind: RecordKind, id: string | number): string {
  return `${KINDS[kind].list}/${encodeURIComponent(id)}`;
}

/** A record beside its list, if it can be closed; else as a page of its own, for links. */
export function Record<T>(props: RecordProps<T>) {
  const { kind, id, title, onClose, onKey } = props;
  const name = title ?? wp().kinds[kind];
  if (onClose !== undefined) {
    return (
      <Dialog
        kind="drawer"
        title={<Link to={recordAddress(kind, id)}>{name}</Link>}
        onClose={onClose}
        onKey={onKey}
      >
        <RecordBody {...props} />
      </Dialog>
    );
  }
  return (
    <>
      <RecordHead kind={kind} title={name} />
      <div class={props.isCard === true ? 'stack' : 'card'}>
        <RecordBody {...props} />
      </div>
    </>
  );
}

/** The name of a record as the title of its page, with the way to the list. */
function RecordHead({ kind, title }: { readonly kind: RecordKind; readonly title: string }) {
  const { list } = KINDS[kind];
  return (
    <div class="head">
      <h1 class="wrap">{title}</h1>
      <h2 class="hidden">{wp().kinds[kind]}</h2>
      <Link to={list}>{w().nav[list]}</Link>
    </div>
  );
}

function RecordBody<T>({ kind, id, reading, children }: RecordProps<T>) {
  const { data, error, loading, again } = reading;
  const isMissing = error === undefined && data === undefined && !loading;
  if (isMissing || error?.status === 404) return <Missing kind={kind} id={id} />;
  return (
    <>
      <ErrorNotice error={error} onAgain={again} />
      {data !== undefined ? children(data) : error === undefined ? <Skeleton /> : null}
    </>
  );
}

/** Tells that there is no such record, and those who see the audit log who deleted it. */
function Missing({ kind, id }: { readonly kind: RecordKind; readonly id: string | number }) {
  const { list, audited } = KINDS[kind];
  const target = `${audited ?? ''}:${id}`;
  const asks = seesAll() && audited !== undefined && kind !== 'tag' && isId(id);
  const audit = useRead('listAudit', { query: { target, page_size: 1 } }, { enabled: asks });
  const last = asks ? audit.data?.items[0] : undefined;
  const words = wp().records;
  return (
    <div class="empty" role="status">
      <strong class="wrap">{words.missing[kind](String(id))}</strong>
      {last?.action.endsWith('.delete') === true ? (
        <p>
          {words.deletedBy(last.actor)} <Ago seconds={last.created_at} />
          {typeof last.detail.reason === 'string' ? `: ${last.detail.reason}` : ''}
        </p>
      ) : null}
      <div class="row">
        {last === undefined ? null : (
          <Link to={`audit?target=${encodeURIComponent(target)}`}>{words.changes}</Link>
        )}
        <Link to={list}>{w().nav[list]}</Link>
      </div>
    </div>
  );
}
