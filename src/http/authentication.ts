import type { IncomingMessage } from 'node:http';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import { GatewayError } from '../core/errors.js';
import { storeAnswers, unknownKey } from '../gateway/admission.js';
import type { CredentialCache } from '../gateway/credential-cache.js';
import { hashSecret } from '../management/secrets.js';
import type { Credential } from '../store/store.js';

/** A key that was found, with the hash that it was found by. */
export interface Identity {
  readonly keyHash: string;
  readonly credential: Credential;
}

export type Authenticate = (req: IncomingMessage) => Promise<Identity>;

/** Longer than any key: such a header is refused before it is hashed. */
const MAX_KEY_CHARACTERS = 512;

type Verified = (error: unknown, user?: Identity | false) => void;

/** What a passport strategy calls on itself; passport binds these for each request. */
interface Attempt {
  success: (user: Identity) => void;
  fail: (challenge?: unknown, status?: number) => void;
  error: (error: unknown) => void;
  authenticate: (req: Pick<IncomingMessage, 'headers'>) => void;
}

/**
 * Authentication by API key with passport-http-bearer. The strategy is run as passport runs it, on an object made from it
 * for each request, but without passport's patching of the request, and it sees the header alone: keys in a query or in
 * a body, which the strategy would take, would end up in logs.
 * @returns a function that finds the key's token, or throws 401 `missing_api_key` or `invalid_api_key`.
 */
export function createAuthenticate(credentials: CredentialCache): Authenticate {
  const strategy = new BearerStrategy((key: string, done: Verified) => {
    const keyHash = hashSecret(key);
    const known = credentials.peek(keyHash);
    if (known !== undefined) {
      done(null, { keyHash, credential: known });
      return;
    }
    storeAnswers(() => credentials.findFresh(keyHash)).then(
      (credential) => done(null, credential === undefined ? false : { keyHash, credential }),
      (error: unknown) => done(error),
    );
  });

  return (req) =>
    new Promise((resolve, reject) => {
      const key = presentedKey(req);
      if (key === undefined) {
        reject(
          new GatewayError(
            'missing_api_key',
            'No API key was sent. Send it as "Authorization: Bearer <key>".',
          ),
        );
        return;
      }
      const attempt = Object.create(strategy) as Attempt;
      attempt.success = resolve;
      attempt.fail = () => reject(unknownKey());
      attempt.error = (error) => reject(error instanceof Error ? error : new Error(String(error)));
      attempt.authenticate({ headers: { authorization: `Bearer ${key}` } });
    });
}

/** The key as clients send it: a bearer token, the bare header, `x-api-key` or `api-key`. */
function presentedKey(req: IncomingMessage): string | undefined {
  const { authorization } = req.headers;
  if (authorization !== undefined && authorization.trim() !== '') {
    const match = /^bearer(?:\s+(.*))?$/is.exec(authorization.trim());
    return cleanKey(match === null ? authorization : (match[1] ?? ''));
  }
  return cleanKey(oneHeader(req.headers['x-api-key']) ?? oneHeader(req.headers['api-key']) ?? '');
}

/** A key that may be looked up; blanks inside or an absurd length cannot be one, but are a wrong key, not a missing one. */
function cleanKey(text: string): string | undefined {
  const key = text.trim();
  if (key === '') return undefined;
  if (key.length > MAX_KEY_CHARACTERS || /\s/.test(key)) throw unknownKey();
  return key;
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
