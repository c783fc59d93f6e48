import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.js';
import type { CliIo } from '../../src/cli/session.js';
import { callApi, createAccount, PASSWORD, type Account } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';
import { sendJson, startUpstream } from '../support/upstream.js';

interface Run {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

let gateway: TestGateway;
let folder = '';
let loginFile = '';

beforeAll(async () => {
  gateway = await startGateway(
    {
      // Long enough for this gateway to confirm a switch on a busy machine.
      gateway: { staleness_ms: 20_000 },
      channels: [{ name: 'house', provider: 'local', models: ['local'], tag: 'house' }],
    },
    { ENCRYPTION_KEY: 'a key for the tests' },
  );
});
afterAll(() => gateway.close());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cli-http-'));
  loginFile = join(folder, 'rerank-gateway', 'login.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

async function run(args: readonly string[], io: Partial<CliIo> = {}): Promise<Run> {
  let out = '';
  let error = '';
  const code = await runCli(args, {
    env: { XDG_CONFIG_HOME: folder, UPSTREAM_KEY: 'upstream-secret', TOKEN: 'at-whatever' },
    user: 'alice',
    now: Date.now,
    writeOut: (output) => (out += output),
    writeError: (output) => (error += output),
    ask: undefined,
    readInput: () => Promise.resolve(''),
    ...io,
  });
  return { code, out, error };
}

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, out, error } = await run([...args, '--json']);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${error}`);
  return JSON.parse(out) as Record<string, unknown>;
}

function logIn({ user }: Account): Promise<Run> {
  return run(['login', '--url', `${gateway.url}/`, '--username', user.username], {
    readInput: () => Promise.resolve(`${PASSWORD}\n`),
  });
}

describe('a login', () => {
  it('is kept for its owner alone, without the password, and is what commands go by', async () => {
    const admin = await createAccount(gateway.store, { role: 10 });

    const { code, out } = await logIn(admin);

    expect(code).toBe(0);
    expect(out).toContain(`You are ${admin.user.username} (admin) at ${gateway.url}.`);
    expect(statSync(loginFile).mode & 0o777).toBe(0o600);
    const saved = readFileSync(loginFile, 'utf8');
    expect(saved).not.toContain(PASSWORD);
    expect(out).not.toContain((JSON.parse(saved) as { access_token: string }).access_token);
    expect(await json('whoami')).toMatchObject({
      url: gateway.url,
      user: { id: admin.user.id, username: admin.user.username, role: 10 },
    });
    expect((await run(['whoami', '--local'])).out).toMatch(/^With --local, commands work on the/);
  });

  it('needs an address and a name, and a file that holds it', async () => {
    const nowhere = await run(['login', '--username', 'ada']);
    const nobody = await run(['login', '--url', gateway.url]);
    await logIn(await createAccount(gateway.store));
    writeFileSync(loginFile, '{');
    const broken = await run(['whoami']);

    expect([nowhere.code, nowhere.error]).toEqual([2, expect.stringContaining('--url')]);
    expect([nobody.code, nobody.error]).toEqual([2, expect.stringContaining('--username')]);
    expect([broken.code, broken.error]).toEqual([
      1,
      `${loginFile} does not hold a login; delete it and log in again.\n`,
    ]);
  });

  it('asks for the password unseen, after it has said what will end', async () => {
    const account = await createAccount(gateway.store);
    const asked: unknown[] = [];

    const { code, error } = await run(
      ['login', '--url', gateway.url, '--username', account.user.username],
      {
        ask: (question, unseen) => {
          asked.push([question, unseen]);
          return Promise.resolve(PASSWORD);
        },
      },
    );

    expect(code).toBe(0);
    expect(asked).toEqual([[`Password of ${account.user.username}: `, true]]);
    expect(error).toContain('A new access token will replace the previous one');
  });

  it('can be by an access token that is there, which stays', async () => {
    const { user, token } = await createAccount(gateway.store);

    const { code } = await run(['login', '--url', gateway.url, '--access-token', 'env:TOKEN'], {
      env: { XDG_CONFIG_HOME: folder, TOKEN: token },
    });

    expect(code).toBe(0);
    expect(await json('whoami')).toMatchObject({ user: { id: user.id } });
  });

  it('is not made with a wrong password', async () => {
    const { user } = await createAccount(gateway.store);

    const { code, error } = await run(
      ['login', '--url', gateway.url, '--username', user.username, '--password', '-'],
      { readInput: () => Promise.resolve('wrong password') },
    );

    expect([code, existsSync(loginFile)]).toEqual([1, false]);
    expect(error).not.toContain('wrong password');
  });

  it('ends at the gateway too', async () => {
    await logIn(await createAccount(gateway.store));
    const { access_token: token = '' } = JSON.parse(readFileSync(loginFile, 'utf8')) as {
      access_token?: string;
    };

    const { code } = await run(['logout']);

    expect([code, existsSync(loginFile)]).toEqual([0, false]);
    const reply = await callApi(gateway.url, 'GET', '/api/user/self', { token });
    expect(reply.status).toBe(401);
    expect(await run(['logout'])).toMatchObject({ code: 1, error: 'You are not logged in.\n' });
  });

  it('ends here where it has ended at the gateway', async () => {
    const account = await createAccount(gateway.store);
    await logIn(account);
    await gateway.store.deleteUserSessions(account.user.id);

    const { code, out } = await run(['logout']);

    expect([code, existsSync(loginFile)]).toEqual([0, false]);
    expect(out).toContain('is logged out');
  });

  it('is passed over with --local', async () => {
    await logIn(await createAccount(gateway.store));
    const env = { XDG_CONFIG_HOME: folder, DATA_DIR: folder };

    const { code, out } = await run(['keys', 'list', '--local'], { env });

    expect(code).toBe(0);
    expect(out).toBe(`No keys in ${join(folder, 'gateway.db')}.\n`);
  });

  it('is for its gateway, however the address is written, and gives way to another token', async () => {
    const [saved, other] = [await createAccount(gateway.store), await createAccount(gateway.store)];
    await logIn(saved);
    const env = { XDG_CONFIG_HOME: folder, RERANK_GATEWAY_ACCESS_TOKEN: other.token };

    const [own, others] = [
      await run(['whoami', '--url', `${gateway.url}/`]),
      await run(['whoami'], { env }),
    ];

    expect(own.out).toMatch(new RegExp(`user +${saved.user.username}\n`));
    expect(others.out).toMatch(new RegExp(`user +${other.user.username}\n`));
  });

  it('does not go to another gateway than the one that it was made at', async () => {
    await logIn(await createAccount(gateway.store));

    const { code, error } = await run(['keys', 'list', '--url', 'http://127.0.0.1:9']);

    expect(code).toBe(2);
    expect(error).toContain('There is no login for http://127.0.0.1:9');
  });
});

it('a test of alerts ends with exit code 1 where a target does not take it', async () => {
  const receiver = await startUpstream((_request, res) => void res.writeHead(500).end());
  const alerted = await startGateway({ alerts: { webhook_url: receiver.url } });
  try {
    const { token } = await createAccount(alerted.store, { role: 10 });
    const args = ['alerts', 'test', '--url', alerted.url, '--access-token', 'env:TOKEN'];

    const { code, out, error } = await run(args, {
      env: { XDG_CONFIG_HOME: folder, TOKEN: token },
    });

    expect([code, error]).toEqual([1, '1 target did not take it.\n']);
    expect(out).toContain('500');
  } finally {
    await alerted.close();
    await receiver.close();
  }
});

it('says so when the gateway cannot be reached', async () => {
  const args = ['whoami', '--url', 'http://127.0.0.1:9', '--access-token', 'env:TOKEN'];

  const { code, out, error } = await run(args);

  expect([code, out]).toEqual([69, '']);
  expect(error).toMatch(/^The gateway at http:\/\/127\.0\.0\.1:9 cannot be reached: .+\.\n$/);
  expect(error).not.toContain('at-whatever');
});

it('says how to go on without a saved gateway that is gone', async () => {
  mkdirSync(dirname(loginFile), { recursive: true });
  const saved = { url: 'http://127.0.0.1:9', username: 'ada', access_token: 'at-whatever' };
  writeFileSync(loginFile, JSON.stringify(saved));

  const { code, error } = await run(['whoami']);

  expect(code).toBe(69);
  expect(error).toMatch(/cannot be reached: .+ "rerank-gateway logout" forgets it, and --local /);
});

it('a login that a gateway did not end is kept, to be ended later', async () => {
  const server = createServer((_, res) => {
    res.writeHead(500);
    res.end(JSON.stringify({ success: false, message: 'Not now.', code: 'internal_error' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const login = { url: `http://127.0.0.1:${port}`, username: 'ada', access_token: 'at-1' };
  mkdirSync(join(loginFile, '..'), { recursive: true });
  writeFileSync(loginFile, JSON.stringify(login));

  const { code } = await run(['logout']);
  server.close();

  expect([code, existsSync(loginFile)]).toEqual([1, true]);
});

it('a login that gets no access token leaves no session', async () => {
  const asked: string[] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.url ?? ''} ${req.headers.cookie ?? ''}`);
    const isRefused = req.url === '/api/user/token';
    res.writeHead(isRefused ? 403 : 200, { 'set-cookie': 'session=a; HttpOnly' });
    const refusal = { success: false, message: 'Not now.', code: 'permission_denied' };
    res.end(JSON.stringify(isRefused ? refusal : { success: true, data: null }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const { code, error } = await run(['login', '--url', url, '--username', 'ada'], {
      readInput: () => Promise.resolve(PASSWORD),
    });

    expect([code, error]).toEqual([1, 'Not now.\n']);
    expect(asked).toEqual([
      '/api/user/login ',
      '/api/user/token session=a',
      '/api/user/logout session=a',
    ]);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

describe('over HTTP', () => {
  it('keys are made, found, changed and deleted', async () => {
    await logIn(await createAccount(gateway.store));

    const made = await json(
      ...['keys', 'create', '--name', 'bound', '--quota', '10', '--expires', '30d'],
      ...['--models', 'a,b', '--default-model', 'b', '--ips', '10.0.0.0/8', '--rate-limit', '60'],
      ...['--aliases', 'rerank-v3.5=b'],
    );
    const { key, ...shown } = made;
    expect(key).toMatch(/^sk-/);
    expect(shown).toMatchObject({
      name: 'bound',
      status: 1,
      remain_quota: 10,
      unlimited_quota: false,
      model_limits: ['a', 'b'],
      default_model: 'b',
      aliases: { 'rerank-v3.5': 'b' },
      allow_ips: ['10.0.0.0/8'],
      rate_limit: 60,
    });
    for (const handle of [String(made.id), 'bound', String(key)]) {
      expect(await json('keys', 'show', handle)).toEqual(shown);
    }
    expect(
      await json('keys', 'update', 'bound', '--add-quota', '-10', '--models', 'all', '--disable'),
    ).toMatchObject({ remain_quota: 0, model_limits_enabled: false, status: 2 });
    expect(await run(['keys', 'enable', 'bound'])).toMatchObject({ code: 1, out: '' });
    expect(await run(['keys', 'delete', 'bound'])).toMatchObject({ code: 2 });
    expect(await json('keys', 'delete', 'bound', '--yes')).toMatchObject({ deleted: true });
    expect(await json('keys', 'list')).toEqual({ items: [], total: 0 });
  });

  it('lists come in as many pages as it takes', async () => {
    const account = await createAccount(gateway.store, { role: 10 });
    await logIn(account);
    await json('codes', 'create', '--quota', '1', '--count', '100', '--name', 'many');
    await json('codes', 'create', '--quota', '1', '--count', '50', '--name', 'many');

    const all = await json('codes', 'list', '--keyword', 'many', '--limit', '1000');
    const some = await json(
      'codes',
      'list',
      '--keyword',
      'many',
      '--limit',
      '20',
      '--offset',
      '95',
    );

    const items = all.items as { id: number }[];
    expect([all.total, new Set(items.map(({ id }) => id)).size]).toEqual([150, 150]);
    expect(some.items).toEqual(items.slice(95, 115));
  });

  it('lists are filtered and sorted by the gateway', async () => {
    await logIn(await createAccount(gateway.store, { role: 10, quota: 1_000_000 }));
    await json('keys', 'create', '--name', 'sorted-b', '--quota', '5', '--tags', 'eu');
    await json('keys', 'create', '--name', 'sorted-a', '--quota', '9', '--expires', '1d');
    await json('keys', 'disable', 'sorted-b');
    const names = async (...args: string[]): Promise<unknown> =>
      ((await json(...args)).items as { name?: string; username?: string }[]).map(
        ({ name, username }) => name ?? username,
      );
    const keys = (...args: string[]) => names('keys', 'list', '--name', 'sorted-', ...args);

    expect(await keys('--sort', 'name')).toEqual(['sorted-a', 'sorted-b']);
    expect(await keys('--sort=-name')).toEqual(['sorted-b', 'sorted-a']);
    expect(await keys('--sort', 'remain_quota')).toEqual(['sorted-b', 'sorted-a']);
    expect(await keys('--status', 'disabled')).toEqual(['sorted-b']);
    expect(await keys('--tag', 'eu')).toEqual(['sorted-b']);
    expect(await keys('--expires-before', '2d')).toEqual(['sorted-a']);
    expect(await keys('--unused-since', '1d')).toEqual([]);
    expect(await keys('--model', 'local')).toEqual(['sorted-a', 'sorted-b']);
    expect((await run(['keys', 'list', '--sort', 'shoe_size'])).code).toBe(2);

    await createAccount(gateway.store, { username: 'listed-rich', quota: 9, enabled: false });
    await createAccount(gateway.store, { username: 'listed-poor', quota: 1, role: 5 });
    const users = (...args: string[]) => names('users', 'list', '--keyword', 'listed-', ...args);
    expect(await users('--sort=-quota')).toEqual(['listed-rich', 'listed-poor']);
    expect(await users('--role', 'auditor')).toEqual(['listed-poor']);
    expect(await users('--disabled')).toEqual(['listed-rich']);
    expect(await users('--enabled')).toEqual(['listed-poor']);

    await json('codes', 'create', '--quota', '5', '--name', 'listed');
    const codes = (...args: string[]) => names('codes', 'list', ...args);
    expect(await codes('--name', 'listed')).toEqual(['listed']);
    expect(await codes('--name', 'liste')).toEqual([]);
    expect(await codes('--name', 'listed', '--status', 'used')).toEqual([]);

    const channels = (...args: string[]) => names('channels', 'list', ...args);
    expect(await channels('--origin', 'config')).toEqual(['house']);
    expect(await channels('--origin', 'store', '--keyword', 'house')).toEqual([]);
    expect(await channels('--state', 'live', '--sort=-priority')).toEqual(['house']);
    expect(await channels('--state', 'tag_disabled')).toEqual([]);
  });

  it('logins are seen and ended, and batches of codes disabled', async () => {
    const admin = await createAccount(gateway.store, { role: 10 });
    const { user } = await createAccount(gateway.store);
    await logIn(admin);
    const mine = await json('users', 'logins');
    const before = await json('users', 'logins', user.username);
    const [{ id = '' } = {}] = before.items as { id?: string }[];
    await json('users', 'end-login', user.username, id);
    const after = await json('users', 'logins', user.username);

    const kinds = ({ items }: Record<string, unknown>): string[] =>
      (items as { kind: string }[]).map(({ kind }) => kind).sort();
    expect(kinds(before)).toEqual(['access_token', 'session']);
    expect(kinds(after)).toHaveLength(1);
    // The session of the login by password is over.
    expect(kinds(mine)).toEqual(['access_token', 'session']);
    expect(mine.items).toContainEqual(
      expect.objectContaining({ kind: 'access_token', address: '127.0.0.1', current: true }),
    );
    expect((await run(['users', 'end-login', user.username, id])).code).toBe(1);

    await json('codes', 'create', '--quota', '5', '--count', '3', '--name', 'a batch');
    await json('codes', 'create', '--quota', '5', '--name', 'a batch');
    const batches = async () =>
      (await json('codes', 'batches')).items as { batch_id: string; left: number }[];
    const [alone, three] = await batches();
    expect([alone?.left, three?.left]).toEqual([1, 3]);
    expect(await json('codes', 'disable-batch', '--batch', three?.batch_id ?? '')).toEqual({
      disabled: 3,
    });
    expect((await batches()).map(({ left }) => left).slice(0, 2)).toEqual([1, 0]);
    expect(await json('codes', 'disable-batch', '--name', 'a batch')).toEqual({ disabled: 1 });
    expect((await run(['codes', 'disable-batch'])).code).toBe(2);
    expect(await json('prices')).toMatchObject({
      default: { per: 'search_unit', units: 1_000 },
      units_per_usd: 500_000,
    });
    const prices = { models: {}, fallback: { per: 'request', units: 7 } } as const;
    await gateway.store.keepPrices({ atMs: Date.now(), prices }, 10);
    expect((await run(['prices', '--changes'])).out).toMatch(/any other +1000 .+ 7 +.* a request/);
    expect((await run(['prices', '--until', '1d'])).out).toContain('No price has changed');
  });

  it('channels and tags are changed at once, and credentials are never shown', async () => {
    await logIn(await createAccount(gateway.store, { role: 10 }));

    const made = await run([
      ...['channels', 'create', '--name', 'far', '--provider', 'cohere', '--models', 'm=up'],
      ...['--api-key', 'env:UPSTREAM_KEY', '--tag', 'eu', '--base-url', 'http://127.0.0.1:9'],
    ]);
    expect(made).toMatchObject({ code: 0 });
    expect(await json('channels', 'show', 'far')).toMatchObject({
      credential_names: ['api_key'],
      models: { m: 'up' },
      tag: 'eu',
      effective: { live: true },
    });
    expect(await json('tags', 'disable', 'eu', '--reason', 'slow')).toMatchObject({
      was_live_count: 1,
      live_count: 0,
      in_force: 'confirmed',
    });
    expect(await json('channels', 'show', 'far')).toMatchObject({
      status: 1,
      effective: { because: 'tag_disabled', reason: 'slow' },
    });
    expect(await json('tags', 'enable', 'eu')).toMatchObject({ live_count: 1 });
    expect(await json('channels', 'disable', 'far')).toMatchObject({
      effective: { live: false },
      status: 2,
    });
    expect(await json('channels', 'update', 'far', '--tag', 'none')).toMatchObject({ tag: null });
    expect(await json('channels', 'copy', 'far', '--name', 'near')).toMatchObject({ name: 'near' });
    for (const name of ['far', 'near']) await json('channels', 'delete', name, '--yes');
    const list = await json('channels', 'list');
    expect(list).toMatchObject({ items: [{ name: 'house' }], total: 1 });
    expect(JSON.stringify(list)).not.toContain('upstream-secret');
  });

  it('accounts are made, changed and deleted, and codes are worth what they say', async () => {
    await logIn(await createAccount(gateway.store, { role: 100 }));

    const created = await run(['users', 'create', 'cli-made', '--password', '-', '--json'], {
      readInput: () => Promise.resolve('a password of theirs'),
    });
    expect(JSON.parse(created.out)).toMatchObject({ username: 'cli-made', role: 1, quota: 0 });
    expect(
      await json('users', 'update', 'cli-made', '--role', 'admin', '--add-quota', '1usd'),
    ).toMatchObject({ role: 10, quota: 500_000 });
    const reach = (email: string) => json('users', 'update', 'cli-made', '--email', email);
    expect((await reach('made@example.com')).email).toBe('made@example.com');
    expect((await reach('none')).email).toBe('');
    expect(await json('users', 'list', '--keyword', 'cli-made')).toMatchObject({ total: 1 });
    // Codes that others have left.
    await json('codes', 'prune', '--yes');
    const [code] = (await json('codes', 'create', '--quota', '7', '--name', 'gift'))
      .codes as string[];
    const { token } = await createAccount(gateway.store);
    const redeemed = await callApi(gateway.url, 'POST', '/api/user/topup', {
      token,
      body: { key: code },
    });
    expect(redeemed.body.data).toBe(7);
    expect(await json('codes', 'list', '--keyword', 'gift')).toMatchObject({
      items: [{ status: 3, quota: 7 }],
    });
    expect(await json('codes', 'prune', '--yes')).toEqual({ deleted: 1 });
    expect(await run(['users', 'delete', 'cli-made'])).toMatchObject({ code: 2 });
    expect(await json('users', 'delete', 'cli-made', '--yes')).toMatchObject({ deleted: true });
    expect(await run(['users', 'show', 'cli-made'])).toMatchObject({ code: 1 });
  });

  it('people see their own requests, admins everybody’s and the audit log', async () => {
    const someone = await createAccount(gateway.store, { quota: 1_000_000 });
    await logIn(someone);
    const create = ['keys', 'create', '--name', 'logged', '--unlimited', '--expires', '1d'];
    const { key, id } = await json(...create);
    await gateway.post(String(key), { model: 'local', query: 'q', documents: ['d'] });

    await eventually('it is in the log', async () => (await json('logs', 'list')).total === 1);
    expect(await json('logs', 'list')).toMatchObject({
      items: [{ token_name: 'logged', user_id: someone.user.id, channel_id: null, outcome: 'ok' }],
    });
    expect(await json('logs', 'stat', '--since', '1h')).toMatchObject({
      requests: 1,
      documents: 1,
    });
    await eventually('it is in the statistics', async () => {
      const { total } = await json('spend', '--by', 'token', '--then', 'model');
      return (total as { readonly requests: number }).requests === 1;
    });
    const other = await createAccount(gateway.store);
    for (const args of [
      ['logs', 'list', '--channel', 'house'],
      ['logs', 'list', '--user', other.user.username],
      ['spend', '--user', other.user.username],
    ]) {
      const { code, error } = await run(args);
      expect([code, error]).toEqual([1, expect.stringMatching(/^Your account may (only|not)/)]);
    }
    expect(await run(['overview'])).toMatchObject({ code: 1 });
    await gateway.post(String(key), { model: 'no such model', query: 'q', documents: ['d'] });
    await eventually(
      'the refusal is kept',
      async () => (await json('logs', 'refused')).total === 1,
    );
    const [refusal] = (await json('logs', 'refused')).items as { request_id: string }[];
    const shown = await json('logs', 'show', refusal?.request_id ?? '');
    expect(shown).toMatchObject({ kind: 'refused', status: 404, tried: [], channel_id: null });
    expect((await run(['logs', 'show', 'of-nobody'])).code).toBe(1);
    const { items: both } = (await json('logs', 'all')) as { items: { id: string }[] };
    expect(both).toMatchObject([{ kind: 'refused' }, { kind: 'admitted' }]);
    expect(await json('logs', 'all', '--before', both[0]?.id ?? '')).toMatchObject({
      items: [{ kind: 'admitted' }],
      total: 1,
    });
    const { out: listed } = await run(['logs', 'all', '--limit', '1']);
    expect(listed).toContain(`1 of 2; go on with --before ${both[0]?.id ?? ''}.`);
    expect((await run(['logs', 'all'])).out).not.toContain('go on');
    expect(await json('logs', 'refused', '--outcome', 'model_not_found')).toMatchObject({
      items: [{ token_name: 'logged', status: 404, user_id: someone.user.id, node: '' }],
    });
    expect(await json('logs', 'refused', '--until', '1h')).toMatchObject({ total: 0 });
    expect(await run(['audit'])).toMatchObject({ code: 1 });

    await logIn(await createAccount(gateway.store, { role: 10 }));
    const { out: overview } = await run(['overview', '--last', '24h']);
    expect(overview).toMatch(/^requests +[1-9]\d*, .* a second\n/);
    expect(overview).toMatch(/\nmodels without a live channel +/);
    const seen = await run(['overview', '--json']);
    expect(seen.code).toBe(1);
    expect(JSON.parse(seen.out)).toMatchObject({
      running_out: [],
      attention: [{ kind: 'keys_end' }],
    });
    expect(await json('logs', 'list', '--user', someone.user.username)).toMatchObject({
      items: [{ token_name: 'logged', provider: 'local' }],
      total: 1,
    });
    const logged = async (...args: string[]): Promise<unknown> =>
      (await json('logs', 'list', '--user', someone.user.username, ...args)).total;
    expect(await logged('--provider', 'local', '--tag', 'house', '--outcome', 'ok')).toBe(1);
    expect(await logged('--outcome', 'failed')).toBe(0);
    expect((await run(['logs', '--outcome', 'rate_limit'])).error).toContain(
      '"rate_limit" is not an outcome; did you mean rate_limited?',
    );
    expect(await logged('--slower', '100000')).toBe(0);
    expect(await logged('--until', '1h')).toBe(0);
    const [served] = (await json('logs', 'list', '--user', someone.user.username)).items as {
      request_id: string;
    }[];
    const { out: whole } = await run(['logs', 'show', served?.request_id ?? '']);
    expect(whole).toMatch(/account +\d+ .*\n/);
    expect(whole).toMatch(/channel +\d+ house/);
    expect(whole).toMatch(/outcome +200 ok/);
    expect((await json('audit', '--until', '1h')).total).toBe(0);
    expect(
      await json('audit', '--user', someone.user.username, '--action', 'token.create'),
    ).toMatchObject({ total: 1 });
    await run(['keys', 'update', String(id), '--rate-limit', '60']);
    const { out } = await run(['audit', '--action', 'token.update']);
    expect(out).toContain(`token:${String(id)} logged`);
    expect(out).toContain('rate_limit: 0 -> 60');
  });
});

it('changes several channels in one write', async () => {
  await logIn(await createAccount(gateway.store, { role: 10 }));
  for (const name of ['bulk-1', 'bulk-2']) {
    const server = ['--provider', 'tei', '--base-url', 'http://127.0.0.1:9'];
    await json('channels', 'create', '--name', name, '--models', `${name}-model`, ...server);
  }

  const off = await json('channels', 'disable', 'bulk-1', 'bulk-2', 'bulk-1');
  expect(off).toMatchObject({ count: 2, in_force: 'confirmed' });
  const again = await run(['channels', 'disable', 'bulk-1', 'bulk-2']);
  expect(again.out).toContain('0 channels are disabled now (2 already were).');
  const on = await run(['channels', 'enable', 'bulk-1', 'bulk-2']);
  expect(on.out).toContain('2 channels are enabled now. In force on 1 of 1 gateway');
  await json('channels', 'disable', 'bulk-1', 'bulk-2');
  expect((await json('channels', 'enable', 'bulk-2')).name).toBe('bulk-2');
  expect((await run(['channels', 'enable', 'bulk-1', 'no-such'])).code).toBe(1);
  expect(await json('channels', 'show', 'bulk-1')).toMatchObject({ status: 2 });

  const { out } = await run(['channels', 'retag', 'bulk-1', 'bulk-2', '--tag', 'bulk']);
  expect(out).toContain('2 channels have the tag "bulk" now.');
  expect((await json('channels', 'list', '--tag', 'bulk')).total).toBe(2);
  const plain = ['channels', 'retag', 'bulk-1', '--tag', 'none'];
  expect((await run([...plain, '-n'])).out).toContain('1 channel would be given no tag:');
  expect((await run(plain)).out).toContain('1 channel has no tag now.');
  expect(await json('channels', 'show', 'bulk-1')).toMatchObject({ tag: null });
  for (const name of ['bulk-1', 'bulk-2']) await json('channels', 'delete', name, '--yes');
});

it('saves examples from whatever the playground reads', async () => {
  await logIn(await createAccount(gateway.store));
  const file = (name: string, text: string | Buffer): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const contentOf = async (saved: unknown) => {
    const { id } = saved as { readonly id: number };
    return (await json('examples', 'show', String(id))).content;
  };
  const body = { model: 'rerank-2.5', query: 'moons', documents: ['Saturn', { text: 'Mars' }] };

  const ofBody = await json(
    'examples',
    'save',
    file('body.json', JSON.stringify(body)),
    '--shared',
  );
  expect(ofBody).toMatchObject({ name: 'body.json', shared: true, own: true, not_read: [] });
  expect(await contentOf(ofBody)).toEqual({
    ...{ query: 'moons', documents: 'Saturn\nMars', lanes: ['rerank-2.5'], labels: [], ids: [] },
  });
  // 土星 in the encoding of Chinese programs, with a label and an id.
  const table = Buffer.concat([
    Buffer.from('id,text,label\nd1,'),
    Buffer.from([0xcd, 0xc1, 0xd0, 0xc7]),
    Buffer.from(',3\nd2,,\n'),
  ]);
  const csv = ['examples', 'save', file('judged.csv', table), '--name', 'judged'];
  const ofTable = await json(...csv, '--query', '卫星', '--models', 'a,b');
  expect(ofTable).toMatchObject({ name: 'judged', not_read: ['3: no text'] });
  expect(await contentOf(ofTable)).toEqual({
    ...{ query: '卫星', documents: '土星', lanes: ['a', 'b'], labels: [[0, 3]], ids: [[0, 'd1']] },
  });
  const own = { query: 'q', documents: 'a\nb', lanes: [{ model: 'm' }], labels: [[1, 2]], runs: 3 };
  const ofOwn = await run(['examples', 'save', '-', '--name', 'own'], {
    readInput: () => Promise.resolve(JSON.stringify(own)),
  });
  expect(ofOwn.out).toMatch(/^Example \d+ "own" is saved\.\n$/);
  const id = /\d+/.exec(ofOwn.out)?.[0] ?? '';
  expect(await contentOf({ id })).toEqual(own);

  for (const [given, why] of [
    [[file('a.txt', 'one\ntwo')], /There is no query in .*a\.txt: give --query/],
    [[file('b.jsonl', '{"id":1}'), '--query', 'q'], /There are no documents in .*: 1: no text/],
    [[join(folder, 'none.json')], /none\.json cannot be read/],
    [[file('e.csv', ''), '--query', 'q'], /There are no documents in .*e\.csv$/m],
    [['-'], /There are no documents in what is on standard input/],
  ] as const) {
    const failed = await run(['examples', 'save', ...given]);
    expect(failed.code).toBe(2);
    expect(failed.error).toMatch(why);
  }
  await json('examples', 'delete', String(ofBody.id), '--yes');
});

it('lists, shows and deletes examples of the playground', async () => {
  const account = await createAccount(gateway.store);
  await logIn(account);
  const content = { query: 'moons', documents: ['Saturn'] };
  const kept = { userId: account.user.id, name: 'planets', shared: false };
  const saved = await gateway.store.addExample(
    { ...kept, content: JSON.stringify(content) },
    10,
    Date.now(),
  );
  if (saved === 'too_many') throw new Error('it was not kept');
  const id = String(saved.id);

  expect((await run(['examples', 'list'])).out).toMatch(/planets +you +no /);
  expect(await json('examples', 'show', id)).toMatchObject({ name: 'planets', own: true, content });
  expect(JSON.parse((await run(['examples', 'show', id])).out)).toEqual(content);
  expect(await json('examples', 'delete', id, '--yes')).toMatchObject({ deleted: true });
  expect((await run(['examples', 'show', id])).code).toBe(1);
  expect(await json('examples', 'list')).toMatchObject({ total: 0 });
});

it('tests a channel by way of the gateway', async () => {
  await logIn(await createAccount(gateway.store, { role: 10 }));

  const tested = await json('channels', 'test', 'house');

  expect(tested).toMatchObject({
    ok: true,
    model: 'local',
    url: null,
    order: 'right',
    score_scale: { fits: true },
    problem: null,
  });
});

describe('explain', () => {
  it('tells people and scripts where a request would go, for a key too', async () => {
    await logIn(await createAccount(gateway.store, { role: 10 }));
    const { id } = await gateway.createKey({ policy: { tags: ['elsewhere'] } });

    const { code, out } = await run(['explain', 'local', '--documents', '200']);
    const refused = await json('explain', 'local', '--key', String(id));
    const poor = await gateway.createKey({ remainQuota: 1 });
    const broke = await run(['explain', 'local', '--documents', '200', '--key', String(poor.id)]);

    expect(broke.out).toMatch(/house +local +0 +none +local/);
    expect(code).toBe(0);
    expect(out).toMatch(/house +local +0 +100\.0 % +local/);
    expect(out).toMatch(/cost +2000 /);
    expect(refused).toMatchObject({
      refusal: { code: 'no_channel_available' },
      candidates: [],
      passed_over: [{ name: 'house', because: 'key_tags' }],
    });
  });

  it('shows what would be sent, what follows, and later, attempt by attempt, what came of it', async () => {
    await logIn(await createAccount(gateway.store, { role: 10 }));
    const server = await startUpstream(({ path }, res) => {
      if (path === '/v1/models') sendJson(res, { data: [{ id: 'small' }, { id: 'large' }] });
      else sendJson(res, { error: { message: 'out of order' } }, 500);
    });
    const create = ['channels', 'create', '--name', 'far', '--provider', 'openai-compatible'];
    await run([...create, '--base-url', `${server.url}/v1`, '--models', 'broken']);
    const policy = { aliases: { nick: 'broken' }, fallbacks: ['local'] };
    const { id, key } = await gateway.createKey({ policy });
    try {
      const ask = ['--query', 'how many', '--document', 'one', '--document', 'two'];
      const explained = await run(['explain', 'nick', '--key', String(id), ...ask]);
      const listed = await run(['channels', 'upstream-models', 'far']);
      const reply = await gateway.post(key, { model: 'nick', query: 'q', documents: ['d'] });
      const request = reply.headers.get('x-request-id') ?? '';
      await eventually(
        'it is logged',
        async () => (await run(['logs', 'show', request])).code === 0,
      );
      const { out } = await run(['logs', 'show', request]);

      expect(explained.out).toMatch(/^model +broken, asked for as nick\n/);
      expect(explained.out).toMatch(
        new RegExp(`\\n\\nThe first would get \\d+ bytes:\\nPOST ${server.url}/v1/\\S+\\n\\S+: `),
      );
      expect(explained.out).toMatch(/\n\n\{.*"how many".*"one".*\}\n$/);
      expect(explained.out).toMatch(/\n\nThen model local:\nID .*\n.*house +local /);
      expect(listed.out).toBe('small\nlarge\n');
      expect(out).toMatch(/\n\nCHANNEL +PROVIDER +OUTCOME +STATUS +TOOK +MESSAGE\n/);
      expect(out).toMatch(/\nfar +openai-compatible +\w+ +500 +\d+ ms +.*out of order/);
      expect(out).toMatch(/\nhouse +local +ok +\d* *\d+ ms/);
    } finally {
      await run(['channels', 'delete', 'far', '--yes']);
      await server.close();
    }
  });

  it('is not answered by a store, which does not know what is busy', async () => {
    const { code, error } = await run(['explain', 'local', '--local'], {
      env: { DATA_DIR: folder },
    });

    expect([code, error]).toEqual([2, expect.stringContaining('log in')]);
  });
});

describe('probe', () => {
  it('finds out what a server speaks, with a channel to paste, by the gateway or from here', async () => {
    await logIn(await createAccount(gateway.store, { role: 10 }));
    const { key } = await gateway.createKey();
    const env = { XDG_CONFIG_HOME: folder, DATA_DIR: folder, KEY: key };
    const asked = ['probe', `${gateway.url}/v1`, '--api-key', 'env:KEY'];

    const near = await run([...asked, '--local'], { env });
    const far = await run(asked, { env });

    const inJson = await run([...asked, '--json'], { env });
    expect(JSON.parse(inJson.out)).toMatchObject({
      channel: { provider: 'rerank-gateway', credentials: { api_key: '${API_KEY}' } },
    });
    for (const { code, out } of [near, far]) {
      expect([code, out]).toEqual([0, expect.stringMatching(/rerank-gateway +certain +/)]);
      expect(out).toContain(
        [
          '  - name: rerank-gateway',
          '    provider: rerank-gateway',
          `    base_url: ${gateway.url}/v1`,
          '    models:',
          '      - local',
          '    credentials:',
          '      api_key: ${API_KEY}',
        ].join('\n'),
      );
      expect(out).not.toContain(key);
    }
    const { items } = await gateway.store.listAudit({
      action: 'channel.probe',
      offset: 0,
      limit: 1,
    });
    expect(items[0]?.detail).toMatchObject({ outcome: 'ok' });
    expect(JSON.stringify(items)).not.toContain(key);
  });

  it('prints a channel that makes a ranker of an embedding model', async () => {
    const server = await startUpstream(({ path, body }, res) => {
      if (path === '/v1/models') sendJson(res, { data: [{ id: 'chat-4b' }, { id: 'e5-small' }] });
      else if (path !== '/v1/embeddings') sendJson(res, { error: 'not found' }, 404);
      else {
        const { input } = JSON.parse(body) as { input: string[] };
        const embedding = (text: string) => (text.includes('France') ? [1, 0.1] : [0.1, 1]);
        sendJson(res, {
          data: input.map((text, index) => ({ index, embedding: embedding(text) })),
        });
      }
    });
    try {
      const { code, out } = await run(['probe', server.url, '--local'], {
        env: { DATA_DIR: folder },
      });

      expect([code, out]).toEqual([0, expect.stringMatching(/embeddings +likely +e5-small /)]);
      const channel = [
        'provider: embeddings',
        `base_url: ${server.url}`,
        'models:',
        '  - e5-small',
      ];
      expect(out).toContain(channel.map((line) => `    ${line}`).join('\n'));
    } finally {
      await server.close();
    }
  });

  it('fails where nothing is found', async () => {
    const server = await startUpstream((_request, res) => sendJson(res, {}, 404));
    try {
      const asked = ['probe', server.url, '--local'];
      const env = { DATA_DIR: folder };

      const { code, out, error } = await run(asked, { env });
      const inJson = await run([...asked, '--json'], { env });

      expect([code, inJson.code]).toEqual([1, 1]);
      expect(out + error).toContain('No known server answers there');
      expect(JSON.parse(inJson.out)).toMatchObject({ channel: null, candidates: [] });
    } finally {
      await server.close();
    }
  });

  it('takes no secret as an argument', async () => {
    const { code, error } = await run(['probe', gateway.url, '--api-key', 'sk-secret', '--local'], {
      env: { DATA_DIR: folder },
    });

    expect([code, error]).toEqual([2, expect.stringContaining('env:NAME')]);
  });
});
