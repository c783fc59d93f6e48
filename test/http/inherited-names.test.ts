import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callApi, createAccount, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

let gateway: TestGateway;
let admin: Account;
let key = '';

beforeAll(async () => {
  gateway = await startGateway({ channels: [{ name: 'own', provider: 'local', models: ['m'] }] });
  admin = await createAccount(gateway.store, { role: 10 });
  ({ key } = await gateway.createKey());
});
afterAll(() => gateway.close());

const ranked = async (model: string): Promise<number> =>
  (await gateway.post(key, { model, query: 'q', documents: ['a', 'b'] })).status;

/** What every object in JavaScript inherits. */
describe.each(['constructor', 'toString', 'hasOwnProperty'])('a name such as %s', (name) => {
  it('is nobody’s model until a channel has it, and then one like any other', async () => {
    expect(await ranked(name)).toBe(404);

    const made = await callApi<{ id: number }>(gateway.url, 'POST', '/api/channel/', {
      token: admin.token,
      body: { name: `for ${name}`, provider: 'local', models: [name], tag: name },
    });
    const tested = await callApi<{ upstream_model: string }>(
      gateway.url,
      'POST',
      `/api/channel/test/${made.body.data.id}`,
      { token: admin.token, body: { model: name } },
    );

    expect(made.status).toBe(200);
    expect([await ranked('m'), await ranked(name)]).toEqual([200, 200]);
    expect(tested.status).toBe(200);
  });

  it.each(['settings', 'credentials'])('is none of a provider’s %s', async (member) => {
    const { status, body } = await callApi(gateway.url, 'POST', '/api/channel/', {
      token: admin.token,
      body: {
        ...{ name: `odd ${name} ${member}`, provider: 'cohere', models: ['c'] },
        credentials: { api_key: 'k' },
        [member]: { api_key: 'k', [name]: 'x' },
      },
    });

    expect(status).toBe(400);
    expect(body.message).toContain('is not known to cohere');
  });
});

it('__proto__ is as unknown as any other member that nobody knows', async () => {
  const response = await fetch(`${gateway.url}/api/token/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body: '{"name":"odd","__proto__":{"remain_quota":5}}',
  });

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ param: '__proto__' });
});
