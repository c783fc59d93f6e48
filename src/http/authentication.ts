import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import passport from 'passport';
import { Strategy as BearerStrategy } from 'passport-http-bearer';
import { GatewayError } from '../core/errors.js';
import { storeAnswers, type Caller, type Identity } from '../gateway/admission.js';
import { sha256Of } from '../gateway/transport/body-hash.js';
import { unknownKey } from '../gateway/key-refusals.js';
import type { TokenCache } from '../gateway/token-cache.js';
import type { Secret } from '../core/secret.js';
import { hashSecret } from '../management/secrets.js';
import { askPassport } from './ask-passport.js';
import { AddressList, clientAddress, isRebound } from './client-address.js';
import { readSignature, signatureFault, SIGV4, type SignatureFault } from './sigv4.js';

/** Finds the key's token; synchronously if this node already knows it. */
export type Authenticate = (
  req: Pick<IncomingMessage, 'headers' | 'socket'>,
) => Identity | Promise<Identity>;

/** The holder of a key, at the address that a request comes from. */
export function callerOf(
  req: IncomingMessage,
  { keyHash, credential }: Identity,
  trustedProxies: AddressList | undefined,
): Caller {
  return {
    keyHash,
    credential,
    addressAllowed: (allowIps) =>
      new AddressList(allowIps).includes(clientAddress(req, trustedProxies)),
  };
}

/** Longer than any key: such a header is refused before it is hashed. */
const MAX_KEY_CHARACTERS = 512;

const BEARER = 'Bearer ';
const PLAIN_BEARER = /^Bearer [\w.~+/=-]{1,512}$/;

type Verified = (error: unknown, user?: Identity | false) => void;

/**
 * Authentication by API key with passport-http-bearer. The strategy sees a request of the key alone: it would also take a key
 * from a query or a body, where keys end up in logs.
 * @returns a function that finds the key's token, or throws 401 `missing_api_key` or `invalid_api_key`.
 */
export function createAuthenticate(credentials: TokenCache): Authenticate {
  const keys = new passport.Passport();
  keys.use(
    'key',
    new BearerStrategy((key: string, done: Verified) => {
      const keyHash = hashSecret(key);
      storeAnswers(() => credentials.find(keyHash)).then(
        (credential) => done(null, credential === undefined ? false : { keyHash, credential }),
        (error: unknown) => done(error),
      );
    }),
  );

  /** The header that a connection sent last, and the hash of its key: callers send the same one again and again. */
  const recognized = new WeakMap<Socket, { readonly header: string; readonly keyHash: string }>();

  const identify = async (key: string): Promise<Identity> => {
    const alone = { headers: { authorization: `${BEARER}${key}` } };
    const identity = await askPassport<Identity>(keys, 'key', alone);
    if (identity === undefined) throw unknownKey();
    return identity;
  };

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
    return identify(key).then((identity) => {
      if (authorization !== undefined) {
        recognized.set(req.socket, { header: authorization, keyHash: identity.keyHash });
      }
      return identity;
    });
  };
}

/** The addresses that may call without a key, and the key used for them. */
export interface Anonymous {
  readonly addresses: AddressList;
  readonly key: Secret;
}

/** Callers from some addresses may come without a key: they are served with the key bound to those addresses. */
export function allowAnonymous(
  authenticate: Authenticate,
  { addresses, key }: Anonymous,
  trustedProxies: AddressList | undefined,
  ownHost?: string,
): Authenticate {
  return (req) => {
    if (
      presentedKey(req) !== undefined ||
      !addresses.includes(clientAddress(req, trustedProxies)) ||
      isRebound(req, trustedProxies, ownHost)
    ) {
      return authenticate(req);
    }
    return authenticate(withKey(req, key));
  };
}

/** The request as if it had been sent with this key. */
function withKey(
  { socket }: Pick<IncomingMessage, 'socket'>,
  key: Secret,
): Pick<IncomingMessage, 'headers' | 'socket'> {
  return { socket, headers: { authorization: `${BEARER}${key.reveal()}` } };
}

/** A signed request: its key is known by the access key id, and proven once the body has arrived. */
export interface SignedCall {
  identity(): Identity | Promise<Identity>;
  /** Rejects with a GatewayError 403 unless the key signed this body a moment ago. */
  prove(body: Buffer): Promise<void>;
}

/** Reads signatures as AWS's clients make them; `undefined` for an unsigned request. */
export type ReadSigned = (req: Addressed) => SignedCall | undefined;

/** Express has the whole address where it shows its routes the rest of one. */
type Addressed = IncomingMessage & { readonly originalUrl?: string };

/** `keys`: the API keys that access key ids stand for. Each signs with itself as the secret. */
export function createReadSigned(
  authenticate: Authenticate,
  keys: Readonly<Record<string, Secret>>,
  now: () => number,
): ReadSigned {
  return (req) => {
    const { authorization } = req.headers;
    if (authorization?.startsWith(SIGV4) !== true) return undefined;
    const signature = readSignature(authorization);
    const key =
      signature !== undefined && Object.hasOwn(keys, signature.accessKeyId)
        ? keys[signature.accessKeyId]
        : undefined;
    return {
      identity: () => {
        if (signature === undefined) throw badSignature('The signature is incomplete.');
        if (!SERVICES.has(signature.service)) throw badSignature(WRONG_SERVICE);
        if (key === undefined) throw unknownKey();
        return authenticate(withKey(req, key));
      },
      prove: async (body) => {
        if (signature === undefined || key === undefined) throw unknownKey();
        const { method = '', originalUrl: target = req.url ?? '/', headers } = req;
        const request = { method, target, headers };
        const sha256 = (await sha256Of(body)).toString('hex');
        const fault = signatureFault(request, signature, sha256, key.reveal(), now());
        if (fault !== undefined) throw badSignature(FAULTS[fault]);
      },
    };
  };
}

/** The services that are served: signatures for others were not meant for this gateway. */
const SERVICES: ReadonlySet<string> = new Set(['bedrock', 'sagemaker']);
const WRONG_SERVICE = 'The signature must be scoped to the service bedrock (or sagemaker).';

const FAULTS: Readonly<Record<SignatureFault, string>> = {
  incomplete: 'The signature must cover the headers host and x-amz-date, and be of the same day.',
  expired: 'The signature has expired: its time is more than five minutes off.',
  mismatch: 'The signature does not match the request. Check the secret access key.',
};

function badSignature(message: string): GatewayError {
  return new GatewayError('invalid_signature', message);
}

/** Other headers in which clients send a key. */
const KEY_HEADERS = [
  'x-api-key',
  'api-key',
  'ocp-apim-subscription-key',
  'x-goog-api-key',
] as const;

/** The key as clients send it: a bearer token, under another scheme, as the bare header, or in a separate header. */
function presentedKey(req: Pick<IncomingMessage, 'headers'>): string | undefined {
  const { authorization } = req.headers;
  // The usual form; the length limits what is hashed.
  if (authorization !== undefined && PLAIN_BEARER.test(authorization)) {
    return authorization.slice(BEARER.length);
  }
  if (authorization !== undefined && authorization.trim() !== '') {
    const match = /^(?:bearer|apikey|token|zenapikey)(?:\s+(.*))?$/is.exec(authorization.trim());
    const key = cleanKey(match === null ? authorization : (match[1] ?? ''));
    // A client whose key was left blank sends the scheme alone.
    if (key !== undefined) return key;
  }
  const name = KEY_HEADERS.find((header) => req.headers[header] !== undefined);
  return cleanKey(name === undefined ? '' : (oneHeader(req.headers[name]) ?? ''));
}

/**
 * A key that may be looked up. A value with blanks or of absurd length cannot be a key, but counts as a wrong key, not a
 * missing one.
 */
function cleanKey(text: string): string | undefined {
  const key = text.trim();
  if (key === '') return undefined;
  if (key.length > MAX_KEY_CHARACTERS || /\s/.test(key)) throw unknownKey();
  return key;
}

function oneHeader(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
