import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** Where browsers believe the gateway to be; both sides of a test translate it. */
export const PUBLIC_URL = 'http://gateway.test/base';
const PUBLIC_HTTP_OR_HTTPS = /^https?:\/\/gateway\.test\/base/;
export const CLIENT = { id: 'gateway', secret: 'a secret of both' };

export interface TestProvider {
  readonly issuer: string;
  /** Who logs in next; `undefined` refuses. */
  person: string | undefined;
  /** The claims of people, by subject. */
  readonly people: Record<string, Record<string, unknown>>;
  /** Where `PUBLIC_URL` really is. */
  gateway: string;
  /** Signs claims as the provider does, or with other keys or headers. */
  close(): Promise<void>;
}

/** A real provider on loopback, whose people log in without being asked. */
export async function startProvider(jwk: Record<string, unknown>): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const self: TestProvider = {
    issuer,
    person: 'ann',
    people: { ann: { preferred_username: 'ann' } },
    gateway: '',
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${PUBLIC_URL}/api/user/oidc/callback`],
        post_logout_redirect_uris: [`${PUBLIC_URL}/console/login`],
        backchannel_logout_uri: `${PUBLIC_URL}/api/user/oidc/logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key of the test'] },
    claims: {
      openid: ['sub'],
      profile: ['preferred_username', 'groups', 'realm_access'],
      email: ['email', 'email_verified'],
    },
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...self.people[id] }),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    // Its own agent refuses addresses of this machine.
    fetch: (address: string | URL | Request, { method, headers, body }: RequestInit = {}) =>
      fetch(addressOf(address).replace(PUBLIC_URL, self.gateway), {
        ...(method === undefined ? {} : { method }),
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body }),
      }),
    async loadExistingGrant(ctx) {
      const { client, session, provider: own } = ctx.oidc;
      const grant = new own.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
  const callback = provider.callback();
  server.on('request', (req, res) => {
    if (req.url?.startsWith('/interaction/') !== true) {
      void callback(req, res);
      return;
    }
    const { person } = self;
    const result =
      person === undefined ? { error: 'access_denied' } : { login: { accountId: person } };
    void provider.interactionFinished(req, res, result);
  });
  return self;
}

function addressOf(given: string | URL | Request): string {
  return given instanceof Request ? given.url : given.toString();
}

export interface Visit {
  readonly status: number;
  /** Where the browser is, or is sent and does not go. */
  readonly address: string;
  readonly text: string;
}

/** As much of a browser as a login needs: cookies by host and path, and redirects. */
export class Browser {
  readonly #gateway: () => string;
  /** Values by name for each host; a path is part of the name. */
  readonly cookies = new Map<string, { value: string; path: string; host: string }>();
  /** Every Set-Cookie so far. */
  readonly set: string[] = [];

  constructor(gateway: () => string) {
    this.#gateway = gateway;
  }

  /** Goes to an address and on, until no redirect follows or `stop` says that it leads far enough. */
  async visit(
    address: string,
    stop: (address: string) => boolean = () => false,
    init: RequestInit = {},
  ): Promise<Visit> {
    for (let hop = 0; hop < 20; hop += 1) {
      const reply = await this.ask(address, hop === 0 ? init : {});
      const location = reply.headers.get('location');
      if (location === null) {
        return { status: reply.status, address, text: await reply.text() };
      }
      await reply.arrayBuffer();
      address = new URL(location, address).href;
      if (stop(address)) return { status: reply.status, address, text: '' };
    }
    throw new Error('the redirects do not end');
  }

  async ask(address: string, init: RequestInit = {}): Promise<Response> {
    const { host, pathname } = new URL(address);
    const cookie = [...this.cookies]
      .filter(([, one]) => one.host === host && pathname.startsWith(one.path))
      .map(([name, { value }]) => `${name.split(' ')[0] ?? ''}=${value}`)
      .join('; ');
    const reply = await fetch(address.replace(PUBLIC_HTTP_OR_HTTPS, this.#gateway()), {
      ...init,
      redirect: 'manual',
      headers: { ...(init.headers as Record<string, string>), cookie },
    });
    for (const line of reply.headers.getSetCookie()) {
      this.set.push(line);
      const [pair = '', ...attributes] = line.split(/;\s*/);
      const at = pair.indexOf('=');
      const path = attributes.find((one) => /^path=/i.test(one))?.slice(5) ?? '/';
      const key = `${pair.slice(0, at)} ${path}`;
      const isOver = /max-age=0|expires=thu, 01 jan 1970/i.test(line);
      if (isOver) this.cookies.delete(key);
      else this.cookies.set(key, { value: pair.slice(at + 1), path, host });
    }
    return reply;
  }

  /** The value of a cookie of the gateway. */
  cookie(name: string): string | undefined {
    return [...this.cookies].find(([key]) => key.startsWith(`${name} `))?.[1].value;
  }
}
