import type { ClientAuth, Configuration } from 'openid-client';
import type { JWTVerifyGetKey } from 'jose';
import { GatewayError } from '../core/errors.js';
import { isRecord } from '../core/records.js';
import type { Secret } from '../core/secret.js';
import type { OpenId, OpenIdLogin } from '../management/open-id.js';

export interface OpenIdOptions {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: Secret | undefined;
  readonly scopes: string;
  readonly label: string;
  readonly usernameClaim: string;
  readonly groupsClaim: string;
  /** Where people reach the gateway; the provider sends them back below it. */
  readonly publicUrl: string;
  readonly now: () => number;
}

/** The path under which the provider must know the gateway. */
const CALLBACK_PATH = '/api/user/oidc/callback';

const TIMEOUT_S = 10;
/** Of one reply of the provider: one without an end would fill the memory before its time is up. */
const MOST_REPLY_BYTES = 524_288;
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
/** How old a logout token may be; ids of used ones are kept for longer. */
const LOGOUT_AGE_S = 300;
/** How far the provider's clock may be ahead; openid-client allows ID tokens as much. */
const CLOCK_TOLERANCE_S = 30;
/** Signatures of the provider; never `none`, nor one made with the secret that we share. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'EdDSA',
];

type Claims = Readonly<Record<string, unknown>>;

/** The packages are loaded when somebody first logs in: a gateway without a provider never has them in memory. */
const load = async () => ({
  oidc: await import('openid-client'),
  jose: await import('jose'),
});

/** A provider over its standard endpoints, which are looked up when they are first needed. */
export function createOpenId(options: OpenIdOptions): OpenId {
  const { clientId, scopes, label, now } = options;
  const base = options.publicUrl.replace(/\/+$/, '');
  const redirectUri = base + CALLBACK_PATH;
  let known: Promise<Configuration> | undefined;
  let keys: JWTVerifyGetKey | undefined;

  /** Once it is known it stays so; a failure is tried again. */
  function configuration(): Promise<Configuration> {
    known ??= discover(options).catch((error: unknown) => {
      known = undefined;
      throw unreachable(error);
    });
    return known;
  }

  return {
    label,

    async begin(to) {
      const config = await configuration();
      const { oidc } = await load();
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
      const verifier = oidc.randomPKCECodeVerifier();
      const location = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes,
        ...{ state, nonce, code_challenge_method: 'S256' },
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      });
      return { location: location.href, flow: { state, nonce, verifier, to, atMs: now() } };
    },

    async finish(query, { state, nonce, verifier }) {
      const config = await configuration();
      const { oidc } = await load();
      const address = new URL(`${redirectUri}?${query.toString()}`);
      try {
        const tokens = await oidc.authorizationCodeGrant(config, address, {
          ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier },
          idTokenExpected: true,
        });
        const claims = tokens.claims();
        if (claims === undefined) throw new Error('There is no ID token.');
        const told =
          config.serverMetadata().userinfo_endpoint === undefined
            ? {}
            : await oidc.fetchUserInfo(config, tokens.access_token, claims.sub);
        const { issuer } = config.serverMetadata();
        return loginOf({ ...told, ...claims }, issuer, tokens.id_token ?? '', options);
      } catch (error) {
        throw refusal(error, oidc.AuthorizationResponseError);
      }
    },

    async endAddress(idToken) {
      const config = await configuration();
      if (config.serverMetadata().end_session_endpoint === undefined) return undefined;
      const { oidc } = await load();
      return oidc.buildEndSessionUrl(config, {
        post_logout_redirect_uri: `${base}/console/login`,
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
      }).href;
    },

    async readLogout(token) {
      const { jwks_uri: address, issuer } = (await configuration()).serverMetadata();
      const { jose } = await load();
      if (address === undefined) throw unreachable(new Error('The provider has no keys.'));
      keys ??= jose.createRemoteJWKSet(new URL(address), {
        timeoutDuration: TIMEOUT_S * 1_000,
        [jose.customFetch]: boundedFetch,
      });
      try {
        const { payload } = await jose.jwtVerify(token, asked(keys, jose.errors), {
          ...{ issuer, audience: clientId, algorithms: ALGORITHMS },
          ...{ maxTokenAge: LOGOUT_AGE_S, clockTolerance: CLOCK_TOLERANCE_S },
          requiredClaims: ['jti', 'events'],
          currentDate: new Date(now()),
        });
        const { sub: subject, sid, jti: id = '', events, nonce } = payload;
        const isLogout = isRecord(events) && Object.hasOwn(events, LOGOUT_EVENT);
        if (!isLogout || nonce !== undefined) throw new Error('It is not a logout token.');
        const session = textOf(sid);
        if (subject === undefined && session === undefined) {
          throw new Error('It says neither who nor which session.');
        }
        return { issuer, subject, sid: session, id };
      } catch (error) {
        if (error instanceof GatewayError) throw error;
        throw new GatewayError('invalid_request', 'The logout token is not valid.', {
          ...{ param: 'logout_token', cause: error },
        });
      }
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OpenIdOptions): Promise<Configuration> {
  const { oidc } = await load();
  const address = new URL(issuer);
  const secret = clientSecret?.reveal();
  return oidc.discovery(address, clientId, undefined, clientAuthentication(oidc, secret), {
    timeout: TIMEOUT_S,
    [oidc.customFetch]: boundedFetch,
    // The settings allow http for a provider on this machine alone.
    execute: [
      oidc.enableNonRepudiationChecks,
      // oxlint-disable-next-line typescript/no-deprecated -- marked so that it stands out
      ...(address.protocol === 'http:' ? [oidc.allowInsecureRequests] : []),
    ],
  });
}

/** The provider's keys. That it does not give them is its fault, not the token's: it should send the token again. */
function asked(
  keys: JWTVerifyGetKey,
  {
    JWKSNoMatchingKey,
    JWKSMultipleMatchingKeys,
  }: Awaited<ReturnType<typeof load>>['jose']['errors'],
): JWTVerifyGetKey {
  return async (...token) => {
    try {
      return await keys(...token);
    } catch (error) {
      const isOfToken =
        error instanceof JWKSNoMatchingKey || error instanceof JWKSMultipleMatchingKeys;
      throw isOfToken ? error : unreachable(error);
    }
  };
}

/** As `fetch`, of a reply that is not too large, with all of it. Throws if the provider does not answer as it should. */
async function boundedFetch(address: string, options: object): Promise<Response> {
  try {
    const { body, status, headers } = await fetch(address, options);
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      if (bytes > MOST_REPLY_BYTES) throw new Error('The reply is too large.');
      pieces.push(piece);
    }
    if (status >= 500) throw new Error(`${address} answers with ${status}.`);
    return new Response(body && Buffer.concat(pieces), { status, headers });
  } catch (error) {
    throw unreachable(error);
  }
}

/** How the provider wants the secret: in the body if it says so, else as the standard has it for those that say nothing. */
function clientAuthentication(
  oidc: Awaited<ReturnType<typeof load>>['oidc'],
  secret: string | undefined,
): ClientAuth {
  if (secret === undefined) return oidc.None();
  const [post, basic] = [oidc.ClientSecretPost(secret), oidc.ClientSecretBasic(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? [];
    (methods.includes('client_secret_post') ? post : basic)(server, ...rest);
  };
}

function loginOf(
  claims: Claims,
  issuer: string,
  idToken: string,
  { usernameClaim, groupsClaim }: OpenIdOptions,
): OpenIdLogin {
  const email = claims.email_verified === true ? textOf(claims.email) : undefined;
  const subject = textOf(claims.sub);
  if (subject === undefined) throw new Error('The ID token has no subject.');
  const vouched = {
    ...{ by: issuer, subject, email, owns: email },
    name: textOf(claims[usernameClaim]) ?? textOf(claims.email) ?? '',
    groups: groupsIn(claims, groupsClaim),
  };
  return { vouched, sid: textOf(claims.sid), idToken };
}

/** The groups under a name of their own, else down a path of claims. */
function groupsIn(claims: Claims, path: string): string[] {
  const found: unknown = Object.hasOwn(claims, path)
    ? claims[path]
    : path
        .split('.')
        .reduce<unknown>(
          (value, name) =>
            isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined,
          claims,
        );
  const listed: unknown[] = Array.isArray(found) ? found : [found];
  return listed.filter((group) => typeof group === 'string');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The provider's own refusal, no answer, or an answer that is not what it must be. */
function refusal(
  error: unknown,
  Refused: new (...args: never[]) => Error & { readonly error: string },
): GatewayError {
  if (error instanceof Error && error.cause instanceof GatewayError) return error.cause;
  if (error instanceof Refused) {
    // All others, such as `invalid_scope`, are about the settings, or about the provider itself.
    if (error.error !== 'access_denied') return unreachable(error);
    return new GatewayError('permission_denied', 'The provider refused the login.', {
      cause: error,
    });
  }
  return new GatewayError('unauthorized', 'The login at the provider is not valid.', {
    cause: error,
  });
}

function unreachable(error: unknown): GatewayError {
  const words = 'The OpenID provider does not answer as it should; try again later.';
  return new GatewayError('upstream_error', words, { cause: error });
}
