import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

/** What every operation below /api owes to the route: `access.test.ts` walks who may call, this is the rest. */

interface Key {
  readonly id: number;
  readonly key: string;
}

const OWN_HOST = 'gateway.example';
const FOREIGN = { origin: `https://${OWN_HOST}`, 'x-forwarded-host': OWN_HOST };

let gateway: TestGateway;
let behindProxy: TestGateway;
let owner: Account;

beforeAll(async () => {
  gateway = await startGateway({
    accounts: { attempts_per_address: 100_000, attempts_per_account: 100_000 },
  });
  behindProxy = await startGateway({
    server: { trusted_proxies: ['127.0.0.1'] },
    accounts: { attempts_per_account: 3 },
  });
  owner = await createAccount(gateway.store, { quota: 1_000 });
});
afterAll(async () => {
  await gateway.close();
  await behindProxy.close();
});

const createKey = (who: Account, key: string, body: object = { name: 'made' }) =>
  callApi<Key>(gateway.url, 'POST', '/api/token', {
    ...{ token: who.token, body, headers: { 'idempotency-key': key } },
  });

describe('an Idempotency-Key', () => {
  it('is repeated with the first reply, and nothing is done again', async () => {
    const [first, second] = [await createKey(owner, 'again'), await createKey(owner, 'again')];

    expect(first.status).toBe(200);
    expect(second.body).toEqual(first.body);
  });

  it('is a key of its owner: another account may use the same', async () => {
    const other = await createAccount(gateway.store, { quota: 1_000 });
    const [first, second] = [await createKey(owner, 'shared'), await createKey(other, 'shared')];

    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  it('is repeated with the first file, under its name', async () => {
    const admin = await createAccount(gateway.store, { role: 10 });
    const headers = {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      'idempotency-key': 'file',
    };
    const makeCodes = async (format = 'text') => {
      const reply = await fetch(`${gateway.url}/api/redemption?format=${format}`, {
        ...{ method: 'POST', headers, body: JSON.stringify({ name: 'codes', quota: 5, count: 2 }) },
      });
      return [reply.headers.get('content-disposition'), await reply.text()];
    };
    const [first, second] = [await makeCodes(), await makeCodes()];

    expect(first[0]).toContain('redemption-codes');
    expect(second).toEqual(first);
    expect((await makeCodes('csv'))[1]).toContain('used for another request');
  });

  it('stands for one operation: under another one it is new', async () => {
    const { body } = await createKey(owner, 'for two operations');
    const rolled = await callApi<Key>(gateway.url, 'POST', `/api/token/${body.data.id}/roll`, {
      ...{ token: owner.token, body: {}, headers: { 'idempotency-key': 'for two operations' } },
    });

    expect(rolled.status).toBe(200);
    expect(rolled.body.data.key).not.toBe(body.data.key);
  });

  it('stands for one request: with another body or another path it is refused', async () => {
    const [one, two] = [await createKey(owner, 'one'), await createKey(owner, 'two')];
    const roll = (id: number) =>
      callApi<Key>(gateway.url, 'POST', `/api/token/${id}/roll`, {
        ...{ token: owner.token, body: {}, headers: { 'idempotency-key': 'roll' } },
      });
    const rolled = await roll(one.body.data.id);

    expect(rolled.status).toBe(200);
    for (const reply of [
      await roll(two.body.data.id),
      await createKey(owner, 'one', { name: 'another' }),
    ]) {
      expect([reply.status, reply.body.param]).toEqual([409, 'Idempotency-Key']);
    }
  });
});

describe('a change that a browser sends with a cookie', () => {
  const rename = (to: TestGateway, who: Account, headers: Record<string, string>) =>
    callApi(to.url, 'PUT', '/api/user/self', {
      ...{ cookie: who.cookie, body: { display_name: 'Renamed' }, headers },
    });

  it('comes from a page of another site, whatever host a caller says it was forwarded for', async () => {
    expect((await rename(gateway, owner, FOREIGN)).status).toBe(403);
  });

  it('comes from our own page where a trusted proxy says so', async () => {
    const account = await createAccount(behindProxy.store);

    expect((await rename(behindProxy, account, FOREIGN)).status).toBe(200);
    const elsewhere = { ...FOREIGN, 'x-forwarded-host': 'other.example' };
    expect((await rename(behindProxy, account, elsewhere)).status).toBe(403);
  });
});

describe('attempts', () => {
  it('of somebody who is logged in are counted together, wherever they come from', async () => {
    const account = await createAccount(behindProxy.store);
    const statuses: number[] = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4']) {
      const { status } = await callApi(behindProxy.url, 'PUT', '/api/user/self', {
        ...{ token: account.token, body: { display_name: 'Renamed' } },
        headers: { 'x-forwarded-for': address },
      });
      statuses.push(status);
    }

    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

describe('a page for visitors', () => {
  it('takes the session of a disabled account for nobody', async () => {
    const account = await createAccount(gateway.store, { username: 'ada' });
    const about = (who?: Account) => callApi<object>(gateway.url, 'GET', '/api/about', who ?? {});
    const nobody = (await about()).body.data;
    const known = (await about(account)).body.data;
    await gateway.store.updateUser(account.user.id, { enabled: false }, Date.now());

    expect(known).not.toEqual(nobody);
    expect((await about(account)).body.data).toEqual(nobody);
  });
});

describe('places', () => {
  const sockets: Socket[] = [];
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
  });

  /** A change of one's own account whose body does not come. */
  async function begin(who: Account): Promise<{ readonly text: () => string }> {
    let text = '';
    const { port } = new URL(gateway.url);
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(
        `PUT /api/user/self HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${who.token}\r\n` +
          'content-type: application/json\r\ncontent-length: 2\r\n\r\n{',
      );
    });
    socket.on('data', (chunk) => (text += String(chunk))).on('error', () => undefined);
    sockets.push(socket);
    await once(socket, 'connect');
    return { text: () => text };
  }

  it.each([
    ['an auditor has those of everybody', 5, 100],
    ['an admin has those of admins', 10, 50],
  ])('%s', async (_name, role, most) => {
    const account = await createAccount(gateway.store, { role: role as 5 | 10 });
    const begun = await Promise.all(Array.from({ length: most + 1 }, () => begin(account)));

    await until('one is refused', () => begun.some(({ text }) => text() !== ''));
    for (const socket of sockets.splice(0)) socket.write('}');
    await until('all are answered', () => begun.every(({ text }) => text().includes('\r\n\r\n')));

    const refused = begun.filter(({ text }) => !text().startsWith('HTTP/1.1 200'));
    expect(refused.map(({ text }) => text().split('\r\n', 1)[0])).toEqual([
      'HTTP/1.1 503 Service Unavailable',
    ]);
  });
});
