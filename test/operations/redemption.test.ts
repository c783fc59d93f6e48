import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_QUOTA } from '../../src/core/quota.js';
import { callApi, createAccount, type Account, type ApiReply } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

interface CodeWire {
  readonly id: number;
  readonly user_id: number;
  readonly name: string;
  readonly batch_id: string;
  readonly key_hint: string;
  readonly quota: number;
  readonly status: number;
  readonly used_user_id: number;
  readonly expired_time: number;
}

interface ListWire {
  readonly items: readonly CodeWire[];
  readonly total: number;
}

let gateway: TestGateway;
let admin: Account;
let user: Account;

beforeAll(async () => {
  gateway = await startGateway({
    accounts: { attempts_per_account: 1_000, attempts_per_address: 1_000 },
  });
  admin = await createAccount(gateway.store, { role: 10 });
  user = await createAccount(gateway.store);
});
afterAll(() => gateway.close());

function call<T = CodeWire>(
  method: string,
  path: string,
  body?: unknown,
  who: Account = admin,
): Promise<ApiReply<T>> {
  return callApi<T>(gateway.url, method, path, {
    token: who.token,
    ...(body === undefined ? {} : { body }),
  });
}

let names = 0;

/** Codes of a name of their own. */
async function create(
  fields: object = {},
): Promise<{ readonly codes: string[]; readonly records: readonly CodeWire[] }> {
  names += 1;
  const name = `batch ${names}.`;
  const { body } = await call<string[]>('POST', '/api/redemption/', { name, quota: 50, ...fields });
  const found = await call<ListWire>('GET', `/api/redemption/search?keyword=${name}`);
  return { codes: body.data, records: found.body.data.items };
}

async function createOne(fields: object = {}) {
  const { codes, records } = await create(fields);
  const [code = ''] = codes;
  const [record] = records;
  if (record === undefined) throw new Error('no code was made');
  return { code, record };
}

function redeem(code: string, who: Account = user) {
  return call<number>('POST', '/api/user/topup', { key: code }, who);
}

/** A code as a file, by a request of its own. */
async function download(format: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${gateway.url}/api/redemption?format=${format}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ name: '=1+1 "quoted"', quota: 7, count: 2 }),
  });
  return { headers: response.headers, text: await response.text() };
}

const soon = (): number => Math.floor(Date.now() / 1000) + 60;

describe('making codes', () => {
  it('answers with fresh ones, which nothing shows again', async () => {
    const { codes, records } = await create({ count: 100 });

    expect(new Set(codes).size).toBe(100);
    for (const code of codes) expect(code).toMatch(/^[0-9a-f]{32}$/);
    const [last] = records;
    expect(last).toMatchObject({ quota: 50, status: 1, user_id: admin.user.id, expired_time: 0 });
    const shown = JSON.stringify([records, await gateway.store.listAudit({ offset: 0, limit: 5 })]);
    for (const code of codes) expect(shown).not.toContain(code);
  });

  it('exports them as CSV that a spreadsheet takes for text', async () => {
    const { headers, text } = await download('csv');

    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="redemption-codes.csv"');
    const [heading, first, second, end] = text.split('\r\n');
    expect(heading).toBe('id,name,code,quota,expired_time');
    expect(first).toMatch(/^\d+,"'=1\+1 ""quoted""",[0-9a-f]{32},7,0$/);
    expect(second).toMatch(/,[0-9a-f]{32},7,0$/);
    expect(end).toBe('');
  });

  it('exports them as text, the same again for the same idempotency key', async () => {
    const first = await download('text', { 'idempotency-key': 'codes' });
    const again = await download('text', { 'idempotency-key': 'codes' });
    const other = await download('text', { 'idempotency-key': 'others' });

    expect(first.text).toMatch(/^([0-9a-f]{32}\n){2}$/);
    expect(again.text).toBe(first.text);
    expect(again.headers.get('content-disposition')).toContain('redemption-codes.txt');
    expect(other.text).not.toBe(first.text);
  });

  it.each([
    ['count', { count: 0 }],
    ['count', { count: 101 }],
    ['quota', { quota: 0 }],
    ['quota', { quota: 1.5 }],
    ['name', { name: ' ' }],
    ['expired_time', { expired_time: 1 }],
    ['format', {}, '?format=xml'],
  ])('refuses a wrong %s', async (param, fields, query = '') => {
    const body = { name: 'a', quota: 1, ...fields };

    const reply = await call('POST', `/api/redemption${query}`, body);

    expect([reply.status, reply.body.param]).toEqual([400, param]);
  });

  it('is for admins', async () => {
    const reply = await call('POST', '/api/redemption', { name: 'a', quota: 1 }, user);

    expect([reply.status, reply.body.code]).toEqual([403, 'permission_denied']);
  });
});

describe('changing a code', () => {
  it('merges, and accepts a whole one as it was read', async () => {
    const { record } = await createOne();
    const expired_time = soon();

    const changed = await call('PUT', '/api/redemption/', { id: record.id, expired_time });
    const back = await call('PUT', '/api/redemption', { ...changed.body.data, quota: 60 });

    const revision = expect.any(String);
    expect(changed.body.data).toEqual({ ...record, expired_time, revision });
    expect(back.body.data).toEqual({ ...record, expired_time, quota: 60, revision });
  });

  it('switches it off and on, and nothing else if that is asked for', async () => {
    const { code, record } = await createOne();
    const path = '/api/redemption?status_only=true';

    const off = await call('PUT', path, { id: record.id, status: 2, quota: 1_000 });
    const refused = await redeem(code);
    const on = await call('PUT', path, { id: record.id, status: 1 });
    const taken = await redeem(code);

    expect(off.body.data).toMatchObject({ status: 2, quota: 50 });
    expect(refused.status).toBe(400);
    expect(on.body.data.status).toBe(1);
    expect(taken.body.data).toBe(50);
  });

  it('ends once it was used', async () => {
    const { code, record } = await createOne();
    await redeem(code);
    const { body } = await call('GET', `/api/redemption/${record.id}`);

    const edits = [{ status: 1 }, { status: 2 }, { quota: 9 }, body.data];
    const statuses = [];
    for (const edit of edits) {
      const reply = await call('PUT', '/api/redemption', { ...edit, id: record.id });
      statuses.push([reply.status, reply.body.code]);
    }

    expect(body.data).toMatchObject({ status: 3, used_user_id: user.user.id });
    expect(body.data).toMatchObject({ used_by: user.user.username });
    expect(record).toMatchObject({ used_by: null });
    const listed = await call<{ items: object[] }>(
      'GET',
      `/api/redemption?status=3&name=${encodeURIComponent(record.name)}`,
    );
    expect(listed.body.data.items[0]).toMatchObject({ used_by: user.user.username });
    expect(statuses).toEqual(edits.map(() => [409, 'conflict']));
  });

  it('cannot make it used', async () => {
    const { record } = await createOne();

    const reply = await call('PUT', '/api/redemption', { id: record.id, status: 3 });

    expect([reply.status, reply.body.param]).toEqual([400, 'status']);
  });

  it('says what does not exist', async () => {
    for (const fields of [{ name: 'x' }, { status: 1 }, { status: 3 }]) {
      const reply = await call('PUT', '/api/redemption', { id: 999_999_999, ...fields });
      expect([reply.status, reply.body.code]).toEqual([404, 'not_found']);
    }
  });
});

describe('redeeming a code', () => {
  it('happens once, whoever tries at the same time', async () => {
    const [a, b] = [await createAccount(gateway.store), await createAccount(gateway.store)];
    const { code } = await createOne();

    const tries = Array.from({ length: 20 }, (_, index) => redeem(code, index % 2 === 0 ? a : b));
    const statuses = (await Promise.all(tries)).map(({ status }) => status);

    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    const balances = await Promise.all(
      [a, b].map(async ({ user: { id } }) => (await gateway.store.getUser(id, Date.now()))?.quota),
    );
    expect(balances.sort()).toEqual([0, 50]);
  });

  it('is refused where the balance cannot hold it, and the code stays good', async () => {
    const rich = await createAccount(gateway.store, { quota: MAX_QUOTA });
    const { code } = await createOne();

    const refused = await redeem(code, rich);

    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect((await redeem(code)).status).toBe(200);
  });

  it('is in the audit log by the name of the code, and outlives the account under a neutral one', async () => {
    const somebody = await createAccount(gateway.store);
    const { id } = somebody.user;
    const { code, record } = await createOne();
    await redeem(code, somebody);
    await gateway.store.deleteUser(id);

    const logged = await call<ListWire>('GET', `/api/audit?target=redemption:${record.id}`);
    const shown = await call('GET', `/api/redemption/${record.id}`);

    expect(logged.body.data.items[0]).toMatchObject({
      ...{ action: 'redemption.redeem', name: record.name },
    });
    expect(shown.body.data).toMatchObject({ used_by: `deleted user ${id}` });
  });
});

describe('deleting codes', () => {
  it('takes one away', async () => {
    const { code, record } = await createOne();

    const gone = await call('DELETE', `/api/redemption/${record.id}?reason=printed+twice`);
    const again = await call('DELETE', `/api/redemption/${record.id}`);

    expect([gone.status, again.status]).toEqual([200, 404]);
    expect((await redeem(code)).status).toBe(400);
    const target = `redemption:${record.id}`;
    const { items } = await gateway.store.listAudit({ target, offset: 0, limit: 1 });
    expect(items[0]).toMatchObject({
      action: 'redemption.delete',
      detail: { reason: 'printed twice' },
    });
  });

  it('deletes what can no longer be redeemed, and nothing else', async () => {
    await call('DELETE', '/api/redemption/invalid');
    const { codes, records } = await create({ count: 4 });
    const [good, expired, disabled, used] = [...records].reverse();
    await call('PUT', '/api/redemption', { id: expired?.id, expired_time: 1 });
    await call('PUT', '/api/redemption', { id: disabled?.id, status: 2 });
    await redeem(codes[3] ?? '');

    const reply = await call<number>('DELETE', '/api/redemption/invalid/');

    expect(used?.status).toBe(1);
    expect(reply.body.data).toBe(3);
    expect((await call('GET', `/api/redemption/${good?.id ?? 0}`)).status).toBe(200);
    expect((await redeem(codes[0] ?? '')).body.data).toBe(50);
  });
});

describe('codes that were made together', () => {
  interface BatchWire {
    readonly name: string;
    readonly made: number;
    readonly used: number;
    readonly left: number;
    readonly left_quota: number;
  }
  const batchOf = async (name: string) =>
    (await call<BatchWire[]>('GET', '/api/redemption/batch')).body.data.find(
      (batch) => batch.name === name,
    );

  it('are added up by name, and what is left of them is disabled at once', async () => {
    const { codes, records } = await create({ count: 3 });
    const name = records[0]?.name ?? '';
    await call('POST', '/api/user/topup', { key: codes[0] }, user);

    expect(await batchOf(name)).toMatchObject({ made: 3, used: 1, left: 2, left_quota: 100 });
    const reply = await call<number>('POST', '/api/redemption/batch/disabled', {
      ...{ name, reason: 'the event is over' },
    });

    expect(reply.body.data).toBe(2);
    expect(await batchOf(name)).toMatchObject({ made: 3, used: 1, left: 0, left_quota: 0 });
    const refused = await call('POST', '/api/user/topup', { key: codes[1] }, user);
    expect(refused.status).toBe(400);
    const { items } = await gateway.store.listAudit({
      ...{ action: 'redemption.disable_batch', offset: 0, limit: 1 },
    });
    expect(items[0]?.detail).toMatchObject({ name, disabled: 2, reason: 'the event is over' });
  });

  it('stay as they are if somebody of an equal role made them', async () => {
    const other = await createAccount(gateway.store, { role: 10 });
    const { records } = await create({ count: 2 });
    const name = records[0]?.name ?? '';

    const reply = await call<number>('POST', '/api/redemption/batch/disabled', { name }, other);

    expect(reply.body.data).toBe(0);
    expect(await batchOf(name)).toMatchObject({ left: 2 });
  });

  it('are told apart from others of the same name', async () => {
    const { records } = await create({ count: 2 });
    const [{ name, batch_id } = { name: '', batch_id: '' }] = records;
    await call('POST', '/api/redemption', { name, quota: 50, count: 3 });
    const of = async (query: string) =>
      (await call<{ total: number }>('GET', `/api/redemption?${query}`)).body.data.total;

    const reply = await call<number>('POST', '/api/redemption/batch/disabled', { batch_id });
    const both = await call('POST', '/api/redemption/batch/disabled', { batch_id, name });
    const batches = (await call<BatchWire[]>('GET', '/api/redemption/batch')).body.data;

    expect(reply.body.data).toBe(2);
    expect(both.status).toBe(400);
    expect(batches.filter((batch) => batch.name === name)).toMatchObject([
      { made: 3, left: 3 },
      { made: 2, left: 0 },
    ]);
    expect(await of(`batch_id=${batch_id}`)).toBe(2);
    expect(await of(`batch_id=${batch_id}&status=1`)).toBe(0);
  });
});
