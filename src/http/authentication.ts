import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
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

/** Finds the key's token; at once where this node knows it already. */
export type Authenticate = (req: IncomingMessage) => Identity | Promise<Identity>;

/** Longer than any key: such a header is refused before it is hashed. */
const MAX_KEY_CHARACTERS = 512;

const BEARER = 'Bearer ';
const PLAIN_BEARER = /^Bearer [\w.~+/=-]{1,512}$/;

type Verified = (error: unknown, user?: Identity | false) => void;

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

  /** Made from the strategy, as passport makes one for each request; what passport would bind to it are its methods. */
  class Attempt {
    #identity: Identity | undefined;
    #failure: Error | undefined;
    #later: { resolve: (identity: Identity) => void; reject: (reason: Error) => void } | undefined;

    success(identity: Identity): void {
      this.#identity = identity;
      this.#later?.resolve(identity);
    }

    fail(): void {
      this.error(unknownKey());
    }

    error(failure: unknown): void {
      this.#failure = failure instanceof Error ? failure : new Error(String(failure));
      this.#later?.reject(this.#failure);
    }

    outcome(): Identity | Promise<Identity> {
      if (this.#identity !== undefined) return this.#identity;
      return new Promise((resolve, reject) => {
        if (this.#failure !== undefined) reject(this.#failure);
        else this.#later = { resolve, reject };
      });
    }
  }
  Object.setPrototypeOf(Attempt.prototype, strategy);

  /** The header that a connection sent last and the hash of its key: callers send the same again and again. */
  const recognized = new WeakMap<Socket, { readonly header: string; readonly keyHash: string }>();

  return (req) => {
    const { authorization } = req.headers;
    const last = recognized.get(req.socket);
    if (last !== undefined && last.header === authorization) {
      const { keyHash } = last;
      const credential = credentials.peek(keyHash);
      if (credential !== undefined) return { keyHash, credential };
    }
    const key = presentedKey(req);
    if (key === undefined) {
      throw new GatewayError(
        'missing_api_key',
        'No API key was sent. Send it as "Authorization: Bearer <key>".',
      );
    }
    const attempt = new Attempt() as Attempt & Authenticating;
    attempt.authenticate({ headers: { authorization: `Bearer ${key}` } });
    const outcome = attempt.outcome();
    if (authorization !== undefined && 'keyHash' in outcome) {
      recognized.set(req.socket, { header: authorization, keyHash: outcome.keyHash });
    }
    return outcome;
  };
}

interface Authenticating {
  authenticate(req: Pick<IncomingMessage, 'headers'>): void;
}

/** The key as clients send it: a bearer token, the bare header, `x-api-key` or `api-key`. */
function presentedKey(req: IncomingMessage): string | undefined {
  const { authorization } = req.headers;
  // As nearly all send it; the length bounds what is hashed.
  if (authorization !== undefined && PLAIN_BEARER.test(authorization)) {
    return authorization.slice(BEARER.length);
  }
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
