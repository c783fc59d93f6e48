/* global fetch */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { after, before, test } from 'node:test';
import Provider from 'oidc-provider';
import { startConsole } from './support.mjs';

const CLIENT = { id: 'gateway', secret: 'a secret of both' };
const servers = [];
let open;
let stop;
let provider;
/** Where browsers find the gateway: it must be known before the gateway has a port. */
let place;
let gateway = '';

async function listen() {
  const server = createServer();
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

/** A proxy in front of the gateway. */
function handOn(req, res) {
  const there = request(
    gateway + req.url,
    { method: req.method, headers: req.headers },
    (reply) => {
      res.writeHead(reply.statusCode, reply.headers);
      reply.pipe(res);
    },
  );
  there.on('error', () => res.destroy());
  req.pipe(there);
}

/** A real provider, where ann logs in without being asked. */
function createProvider(issuer) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...privateKey.export({ format: 'jwk' }), kid: 'one', use: 'sig', alg: 'RS256' };
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [`${place.url}/api/user/oidc/callback`],
        post_logout_redirect_uris: [`${place.url}/console/login`],
        backchannel_logout_uri: `${place.url}/api/user/oidc/logout`,
        backchannel_logout_session_required: true,
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ['a key of the test'] },
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups'] },
    pkce: { required: () => true },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, preferred_username: id, groups: ['readers'] }),
    }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    // Its own agent refuses addresses of this machine.
    fetch: (address, { method, headers, body } = {}) => fetch(address, { method, headers, body }),
    async loadExistingGrant(ctx) {
      const { client, session, provider: own } = ctx.oidc;
      const grant = new own.Grant({ clientId: client.clientId, accountId: session.accountId });
      grant.addOIDCScope('openid profile email');
      await grant.save();
      return grant;
    },
  });
}

before(async () => {
  place = await listen();
  place.server.on('request', handOn);
  const { server, url: issuer } = await listen();
  provider = createProvider(issuer);
  const answer = provider.callback();
  server.on('request', (req, res) => {
    if (!req.url.startsWith('/interaction/')) answer(req, res);
    else void provider.interactionFinished(req, res, { login: { accountId: 'ann' } });
  });
  let url;
  ({ open, stop, url } = await startConsole({
    server: { public_url: place.url },
    oidc: {
      issuer,
      client_id: CLIENT.id,
      client_secret: CLIENT.secret,
      label: 'Log in with our house',
    },
    login: { create: true, roles: { readers: 'auditor', '*': 'user' } },
  }));
  gateway = url;
});

after(async () => {
  await stop?.();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A browser that has logged in by the button, on the page that it asked for. */
async function logIn() {
  const opened = await open('', { login: false });
  await opened.page.goto(`${place.url}/console/requests?outcome=failed`);
  await opened.page.getByRole('link', { name: 'Log in with our house' }).click();
  await opened.page.getByRole('heading', { name: 'Requests' }).waitFor();
  return opened;
}

test('the button of the provider leads to the page that was wanted, as the account of the claims', async () => {
  const { context, page, said } = await logIn();

  assert.equal(page.url(), `${place.url}/console/requests?outcome=failed`);
  const self = await (await context.request.get(`${place.url}/api/user/self`)).json();
  assert.deepEqual([self.data.username, self.data.role], ['ann', 5]);
  await page.getByRole('link', { name: 'ann', exact: true }).waitFor();
  assert.deepEqual(said, []);
  await context.close();
});

test('the logout ends the session there and at the provider, and leads back', async () => {
  const { context, page } = await logIn();

  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.getByRole('link', { name: 'Log in with our house' }).waitFor();

  assert.equal(new URL(page.url()).pathname, '/console/login');
  assert.equal((await context.request.get(`${place.url}/api/user/self`)).status(), 401);
  const cookies = await context.cookies();
  assert.deepEqual(
    cookies.filter(({ name }) => name.startsWith('rerank_')),
    [],
  );
  await context.close();
});

test('a session ends when the provider says so, and the open page asks to log in', async () => {
  const { context, page } = await logIn();
  const elsewhere = await context.newPage();
  await elsewhere.goto(`${provider.issuer}/session/end`);
  await elsewhere.getByRole('button', { name: 'Yes, sign me out' }).click();
  await elsewhere.getByText('Sign-out Success').first().waitFor();

  await page.getByRole('link', { name: /^Overview/ }).click();
  await page.getByRole('link', { name: 'Log in with our house' }).waitFor();

  assert.equal((await context.request.get(`${place.url}/api/user/self`)).status(), 401);
  await context.close();
});
