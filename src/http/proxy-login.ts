import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { withoutKeys } from '../core/secret.js';
import { storeAnswers } from '../gateway/admission.js';
import { hashSecret } from '../management/secrets.js';
import { findLogin } from '../management/sessions.js';
import { signOn, type SignOnDeps, type Vouched } from '../management/sign-on.js';
import { sessionCookieHeader } from '../operations/session-cookie.js';
import { addressBlock, clientAddress, isSecure, type AddressList } from './client-address.js';
import { sessionCookie, type FindLogin } from './login.js';

/** The headers in which a proxy names whom it has authenticated. */
export interface ProxyHeaders {
  readonly header: string;
  readonly emailHeader: string | undefined;
  readonly groupsHeader: string | undefined;
}

/** A header from which nobody can tell whom the proxy names. */
export class ProxyHeaderError extends GatewayError {}

const MAX_HEADER = 1_000;
const MAX_AGENT = 256;
const PROXY = 'proxy';
/** What no name has: control characters, and what separates values. */
const ODD = /[\p{C},;]/u;
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The word of a proxy counts with every request: a session is for exactly what the headers say, and ends for the browser
 * when they are gone or say something else. Headers from any other peer are nothing but noise.
 */
export function createFindVouched(
  deps: SignOnDeps,
  headers: ProxyHeaders,
  trusted: AddressList | undefined,
): FindLogin {
  return (req, res) =>
    storeAnswers(async () => {
      const secret = sessionCookie(req);
      const login = secret === undefined ? undefined : await findLogin(deps, secret, 'session');
      const isTrusted = trusted?.includes(req.socket.remoteAddress ?? '') === true;
      const vouched = isTrusted ? vouchedFor(req, headers) : undefined;
      const source = login?.session.source ?? '';
      if (vouched === undefined) {
        if (secret === undefined) return undefined;
        if (login !== undefined && !source.startsWith(`${PROXY}:`)) return login;
        throw new GatewayError('unauthorized', 'Your login has ended; log in again.');
      }
      if (source === vouched.source) return login;
      const address = clientAddress(req, trusted);
      const begun = await signOn(deps, vouched, {
        ...{ address, block: addressBlock(address) },
        agent: withoutKeys(req.headers['user-agent'] ?? '').slice(0, MAX_AGENT),
      });
      if (login !== undefined) await deps.store.deleteSession(login.session.idHash);
      const life = deps.accounts.sessionMaxMs;
      res.setHeader('Set-Cookie', sessionCookieHeader(begun.secret, isSecure(req, trusted), life));
      return findLogin(deps, begun.secret, 'session');
    });
}

/** The person that the headers name; `undefined` if there is none. Throws 401 for headers that no well-meaning proxy sends. */
function vouchedFor(req: IncomingMessage, names: ProxyHeaders): Vouched | undefined {
  const subject = headerText(req, names.header);
  if (subject === '') return undefined;
  if (ODD.test(subject)) throw badHeader(names.header);
  const email = names.emailHeader === undefined ? '' : headerText(req, names.emailHeader);
  const listed = names.groupsHeader === undefined ? '' : headerText(req, names.groupsHeader);
  const groups = listed
    .split(/[,;]/)
    .map((group) => group.trim())
    .filter((group) => group !== '');
  const source = `${PROXY}:${hashSecret(JSON.stringify([subject, email, groups]))}`;
  return {
    ...{ by: PROXY, subject, name: subject, owns: subject, groups, source },
    email: email === '' ? undefined : email,
  };
}

/** A header that came once, in UTF-8; '' if it did not come. Two of a name are a caller's and the proxy's: neither counts. */
function headerText({ rawHeaders }: IncomingMessage, name: string): string {
  const values = rawHeaders.filter(
    (_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name,
  );
  const [value = ''] = values;
  if (values.length > 1 || value.length > MAX_HEADER) throw badHeader(name);
  try {
    return UTF8.decode(Buffer.from(value, 'latin1')).trim();
  } catch (error) {
    throw badHeader(name, error);
  }
}

function badHeader(name: string, cause?: unknown): ProxyHeaderError {
  const words = `The proxy’s header ${name} cannot be used: it must come once, with one value in UTF-8 of at most ${MAX_HEADER} bytes.`;
  return new ProxyHeaderError('unauthorized', words, { cause });
}
