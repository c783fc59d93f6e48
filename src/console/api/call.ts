import { apiAddress } from '../router.js';
import { atom } from '../state.js';
import { ROUTES, type Operations } from './operations.js';

export type OperationId = keyof Operations;
export type ReplyOf<Id extends OperationId> = Operations[Id]['reply'];
/** An item of a list operation. */
export type ItemOf<Id extends OperationId> = ReplyOf<Id> extends { items: (infer T)[] } ? T : never;

type Loose<T> = { [K in keyof T]?: T[K] | undefined };

export interface CallInput<Id extends OperationId> {
  readonly params?: Operations[Id]['params'];
  readonly query?: Loose<Operations[Id]['query']>;
  readonly body?: Operations[Id]['body'];
  /** Requests with the same key are carried out once: the form that sends the request makes the key. */
  readonly key?: string;
  readonly signal?: AbortSignal;
}

/** The API refused a request, or could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** 0 if no answer came. */
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly retryAfterS: number | undefined;
  readonly requestId: string | undefined;
  /** All members of the answer. */
  readonly body: Readonly<Record<string, unknown>>;

  constructor(
    status: number,
    code: string,
    message: string,
    more: {
      param?: string | undefined;
      retryAfterS?: number | undefined;
      requestId?: string | undefined;
      body?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.param = more.param;
    this.retryAfterS = more.retryAfterS;
    this.requestId = more.requestId;
    this.body = more.body ?? {};
  }
}

/** The account that this tab acts for: the gateway refuses a call made in the name of another. */
let actingAs: number | undefined;

export function actAs(userId: number | undefined): void {
  actingAs = userId;
}

/** Whether somebody must log in before the waiting calls can continue. */
export const loginIsOver = atom(false);
/** Which of gateway and store does not answer, and since when. */
export const trouble = atom<
  { readonly kind: 'gateway' | 'store'; readonly sinceMs: number } | undefined
>(undefined);

const waiting: (() => void)[] = [];

/** Resumes the calls that were answered with 401. */
export function loggedInAgain(): void {
  loginIsOver.set(false);
  for (const proceed of waiting.splice(0)) proceed();
}

const PUBLIC: ReadonlySet<OperationId> = new Set<OperationId>([
  'about',
  'login',
  'logout',
  'register',
  'requestPasswordReset',
  'resetPassword',
]);

/** If the login has ended, a dialog over the page asks for it, and the attempt is repeated. */
async function loggedIn<T>(id: OperationId, attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401 || PUBLIC.has(id)) throw error;
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
      loginIsOver.set(true);
    });
    return loggedIn(id, attempt);
  }
}

/** Calls an operation of the API. */
export function call<Id extends OperationId>(
  id: Id,
  input: CallInput<Id> = {},
): Promise<ReplyOf<Id>> {
  return loggedIn(id, async () => (await read(await send(id, input))).data as ReplyOf<Id>);
}

/** Saves a list as the file that the API makes of it. */
export async function download<Id extends OperationId>(
  id: Id,
  input: CallInput<Id>,
  name: string,
): Promise<void> {
  const reply = await loggedIn(id, async () => {
    const got = await send(id, {
      ...input,
      query: { ...input.query, format: 'csv' } as unknown as CallInput<Id>['query'],
    } as CallInput<Id>);
    if (!got.ok) await read(got);
    return got;
  });
  save(name, await reply.blob());
}

export function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The address of an operation with what is asked for. */
function urlOf<Id extends OperationId>(id: Id, { params, query }: CallInput<Id>): URL {
  const [, pattern = ''] = ROUTES[id].split(' ');
  const given = (params ?? {}) as Readonly<Record<string, string | number>>;
  const url = apiAddress(
    pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name]))),
  );
  const asked = (query ?? {}) as Readonly<Record<string, string | number | boolean | undefined>>;
  for (const [name, value] of Object.entries(asked)) {
    if (value !== undefined && value !== '') url.searchParams.set(name, String(value));
  }
  return url;
}

async function send<Id extends OperationId>(id: Id, input: CallInput<Id>): Promise<Response> {
  const { body, key, signal } = input;
  const [method = 'GET'] = ROUTES[id].split(' ');
  const isNamed = actingAs !== undefined && !PUBLIC.has(id);
  try {
    const reply = await fetch(urlOf(id, input), {
      method,
      credentials: 'same-origin',
      headers: {
        Accept: 'application/json',
        ...(body && { 'Content-Type': 'application/json' }),
        ...(key && { 'Idempotency-Key': key }),
        ...(isNamed && { 'New-Api-User': String(actingAs) }),
      },
      ...(body && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    });
    if (reply.status < 502 && trouble.get() !== undefined) trouble.set(undefined);
    return reply;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    tellTrouble('gateway');
    throw new ApiError(0, 'no_connection', error instanceof Error ? error.message : String(error));
  }
}

function tellTrouble(kind: 'gateway' | 'store'): void {
  if (trouble.get()?.kind !== kind) trouble.set({ kind, sinceMs: Date.now() });
}

async function read(reply: Response): Promise<{ data: unknown }> {
  const requestId = reply.headers.get('x-request-id') ?? undefined;
  let body: Record<string, unknown>;
  try {
    body = (await reply.json()) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    // A proxy answers for gateways that do not.
    if (reply.status > 501) tellTrouble('gateway');
    throw new ApiError(reply.status, 'unreadable', reply.statusText, { requestId });
  }
  if (reply.ok && body.success === true) return { data: body.data };
  const { code, message, param } = body;
  if (code === 'store_unavailable') tellTrouble('store');
  const retryAfter = Number(reply.headers.get('retry-after') ?? Number.NaN);
  throw new ApiError(
    reply.status,
    typeof code === 'string' ? code : 'unreadable',
    typeof message === 'string' ? message : reply.statusText,
    {
      param: typeof param === 'string' ? param : undefined,
      retryAfterS: Number.isFinite(retryAfter) ? retryAfter : undefined,
      requestId,
      body,
    },
  );
}

/** A key for `Idempotency-Key`; `randomUUID` exists only on secure pages. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
