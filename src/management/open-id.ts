import { GatewayError } from '../core/errors.js';
import type { LoggedIn } from './log-in.js';
import { hashSecret } from './secrets.js';
import {
  identityHash,
  signOn,
  type SignOnDeps,
  type SignOnOrigin,
  type Vouched,
} from './sign-on.js';

/** What a browser keeps while its user is at the provider. */
export interface OpenIdFlow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The page of the console to go on with. */
  readonly to: string;
  readonly atMs: number;
}

/** The person who has logged in at the provider. */
export interface OpenIdLogin {
  readonly vouched: Omit<Vouched, 'source'>;
  /** The session at the provider, if it says which. */
  readonly sid: string | undefined;
  readonly idToken: string;
}

/** Whose sessions end, by a logout token: all of a person, or one. */
export interface OpenIdLogout {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  /** The id of the token, which counts once. */
  readonly id: string;
}

/** An OpenID provider. Every method throws a GatewayError if it does not answer, or not as it must. */
export interface OpenId {
  /** What the login page calls it. */
  readonly label: string;
  /** Where a browser goes to log in, and what it keeps meanwhile. */
  begin(to: string): Promise<{ readonly location: string; readonly flow: OpenIdFlow }>;
  /** Checks what the browser came back with against what it kept, and asks the provider who it is. */
  finish(query: URLSearchParams, flow: OpenIdFlow): Promise<OpenIdLogin>;
  /** Where a browser goes to log out there too; `undefined` if the provider has no such page. */
  endAddress(idToken: string | undefined): Promise<string | undefined>;
  readLogout(token: string): Promise<OpenIdLogout>;
}

/** How long a person may take at the provider. */
export const FLOW_MS = 600_000;

export type OpenIdDeps = SignOnDeps & { readonly openId: OpenId | undefined };

/** @throws GatewayError 404 if none is configured. */
export function openIdOf({ openId }: Pick<OpenIdDeps, 'openId'>): OpenId {
  if (openId !== undefined) return openId;
  throw new GatewayError('not_found', 'No OpenID provider is configured here.');
}

/** Ends a login at the provider: begins a session for whoever it vouches for. What a browser kept counts once. */
export async function finishOpenId(
  deps: OpenIdDeps,
  query: URLSearchParams,
  flow: OpenIdFlow | undefined,
  origin: SignOnOrigin,
): Promise<LoggedIn & { readonly idToken: string }> {
  const { store, now, logins } = deps;
  if (flow === undefined || now() - flow.atMs > FLOW_MS) throw overdue();
  await once(deps, `state ${flow.state}`, overdue);
  const { vouched, sid, idToken } = await openIdOf(deps).finish(query, flow);
  const names = [vouched.subject, sid].flatMap((name) => (name === undefined ? [] : [name]));
  const source = sourceOf(vouched.by, vouched.subject, sid);
  const loggedIn = await signOn(deps, { ...vouched, source }, origin);
  await leaveOther(deps, vouched, loggedIn.user.id);
  for (const name of names) {
    const hash = identityHash('session', vouched.by, name);
    await store.linkIdentity(hash, loggedIn.user.id, now(), logins.sessionMaxMs);
  }
  return { ...loggedIn, idToken };
}

/** Ends their sessions of an account that is no longer theirs: a logout at the provider would not find them any more. */
async function leaveOther(
  deps: OpenIdDeps,
  { by: issuer, subject }: OpenIdLogin['vouched'],
  userId: number,
): Promise<void> {
  const before = await deps.store.findIdentity(
    identityHash('session', issuer, subject),
    deps.now(),
  );
  if (before === undefined || before === userId) return;
  await endSessions(deps, before, { issuer, subject, sid: undefined });
}

/** Ends the sessions that a provider says have ended. Resolves to how many there were. */
export async function endOpenId(deps: OpenIdDeps, token: string): Promise<number> {
  const { store, now } = deps;
  const { issuer, subject, sid, id } = await openIdOf(deps).readLogout(token);
  const used = 'The logout token has been used already.';
  await once(deps, `logout ${issuer} ${id}`, () => new GatewayError('invalid_request', used));
  const name = subject ?? sid ?? '';
  const userId = await store.findIdentity(identityHash('session', issuer, name), now());
  if (userId === undefined) return 0;
  return endSessions(deps, userId, { issuer, subject, sid });
}

async function endSessions(
  { store, now }: OpenIdDeps,
  userId: number,
  { issuer, subject, sid }: Omit<OpenIdLogout, 'id'>,
): Promise<number> {
  const [, bySubject, bySid] = sourceOf(issuer, subject ?? '', sid).split(':');
  const ended = (await store.listSessions(userId, now())).filter(({ source }) => {
    const [kind, ofSubject, ofSid] = source.split(':');
    if (kind !== 'oidc' || (subject !== undefined && ofSubject !== bySubject)) return false;
    return sid === undefined || ofSid === bySid;
  });
  for (const { idHash } of ended) await store.deleteSession(idHash);
  return ended.length;
}

function sourceOf(issuer: string, subject: string, sid: string | undefined): string {
  const part = (name: string): string => hashSecret(JSON.stringify([issuer, name])).slice(0, 32);
  return `oidc:${part(subject)}:${sid === undefined ? '' : part(sid)}`;
}

/** Throws what `again` makes if this has been done before. */
async function once(
  { store, now }: Pick<OpenIdDeps, 'store' | 'now'>,
  what: string,
  again: () => Error,
): Promise<void> {
  const claim = await store.claimIdempotent(`oidc ${hashSecret(what)}`, 'once', now(), FLOW_MS);
  if (claim.kind !== 'fresh') throw again();
}

function overdue(): GatewayError {
  return new GatewayError('unauthorized', 'The login took too long, or was begun elsewhere.');
}
