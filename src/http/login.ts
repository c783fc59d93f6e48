import type { IncomingMessage } from 'node:http';
import type { Request, Response } from 'express';
import passport from 'passport';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import { GatewayError } from '../core/errors.js';
import { storeAnswers } from '../gateway/admission.js';
import { cookieNamed, SESSION_COOKIE } from '../operations/session-cookie.js';
import { findLogin, type Login, type SessionDeps } from '../management/sessions.js';
import { askPassport } from './ask-passport.js';

/** Finds who is logged in; `undefined` for a caller without credentials. Throws 401 for wrong or expired ones. */
export type FindLogin = (req: Request, res: Response) => Promise<Login | undefined>;

/** Longer than any session or access token. */
const MAX_SECRET_CHARACTERS = 256;

type Verified = (error: unknown, login?: Login | false) => void;

/** Passport's strategy for the cookie of a login that is kept in the store. */
class SessionCookieStrategy extends passport.Strategy {
  // Not `#verify`: passport works on objects derived from the strategy, and those cannot see private members.
  private readonly verify: (secret: string, verified: Verified) => void;

  constructor(verify: (secret: string, verified: Verified) => void) {
    super();
    this.verify = verify;
  }

  override authenticate(req: Request): void {
    const secret = sessionCookie(req);
    if (secret === undefined) {
      this.fail(401);
      return;
    }
    this.verify(secret, (error, login) => {
      if (error !== null && error !== undefined) this.error(error);
      else if (login === undefined || login === false) this.fail(401);
      else this.success(login);
    });
  }
}

/**
 * Logins of the management API, both through passport: the session cookie of a browser, and access tokens as `Authorization:
 * Bearer`. The header wins, so that it is never mixed with a cookie that happens to be there. Where a proxy authenticates,
 * `byProxy` finds whom it names, and judges the cookie.
 */
export function createFindLogin(deps: SessionDeps, byProxy?: FindLogin): FindLogin {
  const verify =
    (kind: Login['session']['kind']) =>
    (secret: string, verified: Verified): void => {
      storeAnswers(() => findLogin(deps, secret, kind)).then(
        (login) => verified(null, login ?? false),
        (error: unknown) => verified(error),
      );
    };
  const authenticator = new passport.Passport();
  authenticator.use('session', new SessionCookieStrategy(verify('session')));
  authenticator.use('access-token', new BearerStrategy(verify('access_token')));

  return (req, res) => {
    const strategy = strategyFor(req);
    if (strategy !== 'access-token' && byProxy !== undefined) return byProxy(req, res);
    if (strategy === undefined) return Promise.resolve(undefined);
    return askPassport<Login>(authenticator, strategy, req, res).then((login) => {
      if (login === undefined) throw notLoggedIn();
      return login;
    });
  };
}

/** The session secret that a browser sends. */
export function sessionCookie(req: Pick<IncomingMessage, 'headers'>): string | undefined {
  const value = cookieNamed(SESSION_COOKIE, req.headers.cookie) ?? '';
  return value === '' || value.length > MAX_SECRET_CHARACTERS ? undefined : value;
}

function strategyFor(req: Request): 'session' | 'access-token' | undefined {
  // The bearer strategy would also take a token from the query, where it ends up in logs.
  if ('access_token' in req.query) {
    throw new GatewayError(
      'invalid_request',
      'Send an access token in the header "Authorization: Bearer <access token>", not in the address.',
      { param: 'access_token' },
    );
  }
  const { authorization } = req.headers;
  if (authorization === undefined || authorization.trim() === '') {
    return sessionCookie(req) === undefined ? undefined : 'session';
  }
  const secret = authorization.trim().replace(/^bearer\s+/i, '');
  if (secret.startsWith('sk-')) {
    throw new GatewayError(
      'unauthorized',
      'API keys are not accepted here; log in, or send an access token.',
    );
  }
  // Some clients send the bare token.
  req.headers.authorization = `Bearer ${secret}`;
  return 'access-token';
}

function notLoggedIn(): GatewayError {
  return new GatewayError(
    'unauthorized',
    'You are not logged in, or your login has expired; log in.',
  );
}
