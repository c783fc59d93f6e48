import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.js';
import type { CliIo } from '../../src/cli/session.js';
import { loadConfig } from '../../src/config/load-config.js';
import { count, newTally } from '../../src/core/tally.js';
import { disableChannel } from '../../src/management/outages.js';
import { hashSecret } from '../../src/management/secrets.js';
import { openStore } from '../../src/assembly/open-store.js';
import type { Store } from '../../src/store/store.js';
import { about } from '../store/contract/nodes.js';
import { report } from '../support/nodes.js';

const NOW = 1_800_000_000_000;
const NOW_SECONDS = NOW / 1000;
const HOSTED = ['--provider', 'cohere', '--models', 'rerank-v3.5'];

interface Run {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

describe('the command line', () => {
  let folder = '';
  let env: Record<string, string> = {};
  let store: Store;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'cli-'));
    const file = join(folder, 'gateway.yaml');
    writeFileSync(file, 'gateway: { staleness_ms: 200 }\n');
    env = {
      ...{ DATA_DIR: folder, CONFIG: file, ENCRYPTION_KEY: 'a key for the tests' },
      KEY: 'upstream secret',
    };
    store = await openStore(loadConfig({ env }).store);
    await store.createUser(
      {
        username: 'root',
        email: undefined,
        displayName: 'root',
        passwordHash: 'hash of a password',
        role: 100,
        enabled: true,
        quota: 1_000_000_000,
      },
      NOW,
    );
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  async function run(args: readonly string[], io: Partial<CliIo> = {}): Promise<Run> {
    let out = '';
    let error = '';
    const code = await runCli(args, {
      env,
      user: 'alice',
      now: () => NOW,
      writeOut: (output) => (out += output),
      writeError: (output) => (error += output),
      ask: undefined,
      readInput: () => Promise.resolve(''),
      ...io,
    });
    return { code, out, error };
  }

  /** What a command that succeeds prints as JSON. */
  async function json(...args: string[]): Promise<Record<string, unknown>> {
    const { code, out, error } = await run([...args, '--json']);
    if (code !== 0) throw new Error(`exit code ${code}: ${error}`);
    return JSON.parse(out) as Record<string, unknown>;
  }

  it('says what to do about a store that has no accounts yet', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'cli-empty-'));
    try {
      const without = { env: { ...env, DATA_DIR: empty } };

      const { code, error } = await run(['keys', 'create'], without);

      expect([code, error]).toEqual([1, expect.stringContaining('Start the gateway once')]);
    } finally {
      rmSync(empty, { recursive: true });
    }
  });

  it('lists refused requests from the store itself', async () => {
    expect(await json('logs', 'refused')).toMatchObject({ items: [], total: 0 });
  });

  it('examines settings, store and channels, and ends with 1 if something needs a look', async () => {
    await run([
      'channels',
      'create',
      '--name',
      'eu',
      '--tag',
      'eu',
      ...HOSTED,
      '--api-key',
      'env:KEY',
    ]);
    const well = await run(['doctor'], { now: Date.now });
    await run(['tags', 'disable', 'eu'], { now: Date.now });
    const ill = await run(['doctor', '--json'], { now: Date.now });
    writeFileSync(join(folder, 'gateway.yaml'), 'gateway: { max_attempts: none }\n');
    const mistaken = await run(['doctor'], { now: Date.now });

    expect(well).toMatchObject({ code: 0, error: '' });
    expect(well.out).toMatch(
      /settings +valid\n[^]*gateways +0: none serves this store\nchannels +1 of 1 live\n\nAll right\.\n/,
    );
    expect(ill.code).toBe(1);
    expect(JSON.parse(ill.out)).toMatchObject({
      ...{ settings: 'valid', gateways: '0: none serves this store', channels: '0 of 1 live' },
      attention: [
        { kind: 'tag_off', name: 'eu' },
        { kind: 'models_dark', name: 'rerank-v3.5' },
      ],
    });
    expect(mistaken).toMatchObject({ code: 78, error: expect.stringContaining('max_attempts') });
  });

  it('examines each channel that is off by itself once, and those called like a tag too', async () => {
    const create = ['channels', 'create', '--name', 'eu', '--tag', 'eu', '--api-key', 'env:KEY'];
    await run([...create, ...HOSTED]);
    const [eu] = (await store.loadChannels()).channels;
    if (eu === undefined) throw new Error('it is there');
    const outage = { reason: 'no_credit', message: '', sinceMs: NOW } as const;
    await disableChannel({ store, now: Date.now }, eu, outage);
    const found = async (): Promise<unknown> => {
      const { out } = await run(['doctor', '--json'], { now: Date.now });
      const { attention } = JSON.parse(out) as { attention: Record<string, unknown>[] };
      return attention.filter(({ name }) => name === 'eu').map(({ kind, text }) => [kind, text]);
    };
    const off = 'eu is off: disabled automatically, its account is out of credit';
    expect(await found()).toEqual([['channel_off', off]]);

    await run(['tags', 'disable', 'eu'], { now: Date.now });
    expect(await found()).toEqual([
      ['tag_off', 'the tag eu is switched off'],
      ['channel_off', off],
    ]);

    const unusable = { id: eu.id, name: 'eu', untilMs: 0, why: 'no key' };
    await report(store, 'a node', await store.channelsVersion(), Date.now(), 60_000);
    const busy = [{ id: eu.id, name: 'eu', inFlight: 2 }];
    await store.describeNode(about('a node', { channels: [unusable], busy, faults: 4 }), 60_000);
    expect(await found()).toEqual([
      ['tag_off', 'the tag eu is switched off'],
      ['channel_unusable', 'eu cannot be used: no key'],
    ]);
    const nodes = await run(['nodes', 'list'], { now: Date.now });
    expect(nodes.out).toMatch(
      /node a node +current +1\.2\.3 +2055-\S+ +3 +1 +4 +eu: 2 +eu: no key\n/,
    );
  });

  describe('keys', () => {
    it('are printed once, alone, so that a script can take them', async () => {
      const { code, out, error } = await run(['keys', 'create', '--name', 'search', '--unlimited']);

      const key = out.trim();
      expect(code).toBe(0);
      expect(key).toMatch(/^sk-[A-Za-z0-9]{48}$/);
      expect(error).not.toContain(key);
      const credential = await store.findToken(hashSecret(key));
      expect(credential?.token).toMatchObject({ name: 'search', unlimitedQuota: true });
      for (const args of [['list'], ['show', 'search'], ['list', '--json']]) {
        expect((await run(['keys', ...args])).out).not.toContain(key);
      }
    });

    it('have labels, by which they are listed and spending is added up', async () => {
      const made = ['keys', 'create', '--name', 'bound', '--label', 'team=search', '--unlimited'];
      expect(await json(...made, '--label', 'env=prod')).toMatchObject({
        labels: 'env=prod,team=search',
      });
      expect(await json('users', 'update', 'root', '--label', 'team=ads')).toMatchObject({
        labels: 'team=ads',
      });
      await run(['keys', 'create', '--name', 'open', '--unlimited']);
      const wrong = await run(['keys', 'create', '--label', 'team=-']);
      expect([wrong.code, wrong.error]).toEqual([2, expect.stringContaining('has "team=-"')]);

      const found = await json('keys', 'list', '--label', 'team=search');
      expect(found.items).toEqual([expect.objectContaining({ name: 'bound' })]);
      expect((await run(['keys', 'list'])).out).toContain('env=prod,team=search');
      expect((await json('users', 'list', '--label', 'team')).total).toBe(1);

      const tally = newTally();
      count(tally, { requests: 2, quota: 750_000, cost: 250_000 }, 5);
      const additions = [1, 2].map((tokenId) => {
        const key = `[${tokenId},"m",0,0,0]`;
        const row = { atMs: Date.UTC(2026, 11, 31, 20), owner: 1, key, otherKey: key, tally };
        return { ...row, rollup: 'spend_hour' as const, expiresMs: NOW * 2 };
      });
      await store.addStats({ writer: 'w', serial: 1, nowMs: NOW, maxRows: 9, additions });
      const zone = ['--month', '2027-01', '--time-zone', 'Asia/Shanghai'];
      const spent = await run(['spend', ...zone, '--by', 'label', '--label', 'team', '--csv']);
      expect(spent.out.split('\r\n')).toEqual([
        'label,requests,failed,documents,tokens,quota,dollars,cost,margin,cost-dollars,margin-dollars',
        ...['search', 'ads'].map((team) => `${team},2,0,0,0,750000,1.5,250000,500000,0.5,1`),
        '',
      ]);
      const months = await run(['spend', ...zone, '--by', 'month', '--label', 'team=ads']);
      expect(months.out).toMatch(/QUOTA\s+COST\s+MARGIN/);
      expect(months.out).toMatch(
        /2027-01\s+2\s+0\s+0\s+0\s+750000 \(\$1\.50\)\s+250000 \(\$0\.50\)/,
      );
      const day = await json(
        ...['spend', '--by', 'day', '--since', '2027-01-01', '--until', '2027-01-02'],
        ...['--time-zone', 'Asia/Shanghai'],
      );
      expect(day.rows).toEqual([
        expect.objectContaining({ day: Date.UTC(2026, 11, 31, 16) / 1_000, quota: 1_500_000 }),
      ]);
      // NOW is 15 January 2027 at 08:00 in UTC; what was spent on 31 December is before the last seven days.
      const recent = { ...additions[0], atMs: Date.UTC(2027, 0, 10) } as (typeof additions)[number];
      await store.addStats({
        ...{ writer: 'w', serial: 2, nowMs: NOW, maxRows: 9, additions: [recent] },
      });
      await store.addStats({
        ...{ writer: 'w', serial: 3, nowMs: NOW, maxRows: 9 },
        additions: [{ ...recent, rollup: 'spend_day' }],
      });
      const coming = await json('spend', '--forecast', '--label', 'team=search');
      expect(coming).toMatchObject({ month: '2027-01', spent: 750_000, forecast: 750_000 });
      const said = await run(['spend', '--forecast', '--label', 'team=search']);
      expect(said.out).toMatch(
        /^spent in 2027-01 +750000 .*\na day +0 .*, by today\nat its end +750000 /,
      );
      const unnamed = await run(['spend', '--by', 'label']);
      expect([unnamed.code, unnamed.error]).toEqual([2, expect.stringContaining('--label team')]);
      expect(await json('keys', 'update', 'bound', '--label', 'none')).toMatchObject({
        labels: '',
      });
    });

    it('take every limit in plain words', async () => {
      const created = await json(
        ...['keys', 'create', '--name', 'bound', '--quota', '10', '--expires', '30d'],
        ...['--models', 'a,b', '--default-model', 'b', '--ips', '10.0.0.0/8,::1', '--tags', 'eu'],
        ...['--rate-limit', '60', '--max-concurrency', '4', '--aliases', 'rerank-v3.5=b, x = a'],
      );

      expect(created).toMatchObject({
        name: 'bound',
        status: 1,
        remain_quota: 10,
        unlimited_quota: false,
        expired_time: NOW_SECONDS + 30 * 86_400,
        model_limits_enabled: true,
        model_limits: ['a', 'b'],
        default_model: 'b',
        aliases: { 'rerank-v3.5': 'b', x: 'a' },
        allow_ips: ['10.0.0.0/8', '::1'],
        tags: ['eu'],
        rate_limit: 60,
        max_concurrency: 4,
      });
      expect(created.key).toMatch(/^sk-/);
      expect(await json('keys', 'create', '--name', 'spends', '--budget', '5usd')).toMatchObject({
        ...{ unlimited_quota: true, budget: 2_500_000 },
      });
      expect((await run(['keys', 'show', 'spends'])).out).toMatch(
        /^budget +2500000 \(\$5\.00\)$[^]*^budget spent +0 [^]*^budget renews +2027-02-01T/m,
      );
      const renamed = ['keys', 'update', 'spends', '--name', 'rests', '--expires', 'never'];
      expect(await json(...renamed)).toMatchObject({ name: 'rests', expired_time: -1 });
    });

    it('of root are made only with a word on what they may spend', async () => {
      expect(await run(['keys', 'create', '--name', 'endless'])).toMatchObject({
        code: 2,
        error: expect.stringContaining('A key of root may spend without end.'),
      });
      expect((await json('keys', 'list')).total).toBe(0);
    });

    it('show their aliases, and lose them', async () => {
      const { id } = await json('keys', 'create', '--aliases', 'rerank-v3.5=local', '--unlimited');
      const shown = async () => (await run(['keys', 'show', String(id)])).out;

      expect(await shown()).toContain('rerank-v3.5 = local');
      expect(await json('keys', 'update', String(id), '--aliases', 'none')).toMatchObject({
        aliases: {},
      });
      expect(await shown()).not.toContain('rerank-v3.5');
      expect(await run(['keys', 'update', String(id), '--aliases', 'local'])).toMatchObject({
        code: 2,
        error: expect.stringContaining('Give alias=model pairs'),
      });
    });

    it('are found by id, by name and by the key itself', async () => {
      const { id, key } = await json('keys', 'create', '--name', 'search', '--unlimited');

      for (const handle of [String(id), 'search', String(key)]) {
        expect(await json('keys', 'show', handle)).toMatchObject({ id });
      }
      await json('keys', 'create', '--name', 'search', '--unlimited');
      const ambiguous = await run(['keys', 'disable', 'search']);
      expect(ambiguous).toMatchObject({ code: 1, out: '' });
      expect(ambiguous.error).toContain(String(id));
    });

    it('are listed in an order and a state', async () => {
      for (const name of ['b', 'c', 'a'])
        await run(['keys', 'create', '--name', name, '--unlimited']);
      await run(['keys', 'disable', 'c']);
      const names = async (...args: string[]): Promise<string> => {
        const { out } = await run(['keys', 'list', '--json', ...args]);
        const { items } = JSON.parse(out) as { items: { name: string }[] };
        return items.map(({ name }) => name).join('');
      };

      expect(await names()).toBe('acb');
      expect(await names('--sort', 'name')).toBe('abc');
      expect(await names('--sort=-name', '--status', 'enabled')).toBe('ba');
    });

    it('get another secret, and the old one a time to end', async () => {
      const { id, key } = await json('keys', 'create', '--name', 'search', '--unlimited');

      const rolled = await run(['keys', 'roll', 'search', '--keep-old', '1h']);

      expect(rolled.out).toMatch(/^sk-\w{48}\n$/);
      expect(rolled.error).toMatch(/The old one works until /);
      for (const handle of [String(key), rolled.out.trim()]) {
        expect(await json('keys', 'show', handle)).toMatchObject({ id });
      }
      expect(await run(['keys', 'roll', 'search', '--keep-old', 'long'])).toMatchObject({
        code: 2,
      });
      expect((await run(['keys', 'roll', 'search'])).error).toMatch(/The old one no longer works/);
    });

    it('are disabled and enabled', async () => {
      await json('keys', 'create', '--name', 'search', '--unlimited');

      expect(await json('keys', 'disable', 'search')).toMatchObject({ status: 2 });
      expect(await json('keys', 'enable', 'search')).toMatchObject({ status: 1 });
    });

    it('have prices, batches and logins beside them', async () => {
      await run(['codes', 'create', '--quota', '5', '--name', 'sale', '--count', '2']);
      const batches = await run(['codes', 'batches']);
      const disabled = await run(['codes', 'disable-batch', '--name', 'sale']);
      writeFileSync(join(folder, 'gateway.yaml'), 'prices: { models: { m: { per_request: 7 } } }');
      const prices = await run(['prices']);
      const logins = await run(['users', 'logins']);

      expect(batches.out).toMatch(/sale +2 +0 +2 /);
      expect(disabled.out).toContain('2 codes disabled.');
      expect(prices.out).toMatch(/\nm +7 .* a request\nany other +1000 /);
      expect((await run(['prices', '--changes'])).out).toContain('No price has changed');
      expect(logins.out).toContain('root is not logged in anywhere.');

      await run(['codes', 'create', '--quota', '5', '--name', 'short', '--expires', '1h']);
      await run(['codes', 'create', '--quota', '5', '--name', 'for ever']);
      const later = { now: () => NOW + 7_200_000 };
      const over = await run(['codes', 'prune', '--dry-run'], later);
      expect(over.out).toBe('3 codes would be deleted. Nothing was changed.\n');
    });

    it('have spending by day in the order of the days', async () => {
      const [key, otherKey] = ['[1,"m",0,0,0]', '[1,"m",0,0,0]'];
      // The first is longer ago than thirty days.
      const additions = [-15, -10, 10, 11].flatMap((date, at) => {
        const tally = newTally();
        count(tally, { requests: 1, quota: [9, 1, 5, 3][at] ?? 0 }, 5);
        const row = { atMs: Date.UTC(2027, 0, date), owner: 1, key, otherKey, tally };
        return (['spend_hour', 'spend_day'] as const).map((rollup) => ({
          ...{ ...row, rollup, expiresMs: NOW * 2 },
        }));
      });
      await store.addStats({ writer: 'w', serial: 1, nowMs: NOW, maxRows: 9, additions });

      const { out } = await run(['spend', '--by', 'day', '--fields', 'day,quota']);

      expect(out.match(/202\d-\d\d-\d\d +\d/g)).toEqual([
        '2026-12-21  1',
        '2027-01-10  5',
        '2027-01-11  3',
      ]);
      const earlier = ['spend', '--by', 'day', '--until', '2027-01-05', '--fields', 'day,quota'];
      expect((await run(earlier)).out.match(/202\d-\d\d-\d\d +\d/g)).toEqual([
        ...['2026-12-16  9', '2026-12-21  1'],
      ]);
    });

    it('have examples and requests beside them', async () => {
      expect((await run(['examples', 'list'])).out).toContain('No examples are kept');
      const readInput = () => Promise.resolve('{"query":"q","documents":["a"]}');
      const saved = await run(['examples', 'save', '-', '--name', 'mine'], { readInput });
      expect(saved.out).toMatch(/^Example \d+ "mine" is saved\./);
      expect((await run(['examples', 'list'])).out).toMatch(/mine +you +no /);
      const missing = await run(['logs', 'show', 'a-request']);
      expect(missing).toMatchObject({ code: 1 });
      expect(missing.error).toContain('There is no request "a-request"');
    });

    it('are extended and enabled in one go, and not without', async () => {
      await json('keys', 'create', '--name', 'search', '--quota', '0');

      expect(await run(['keys', 'enable', 'search'])).toMatchObject({ code: 1, out: '' });
      expect(
        await json('keys', 'update', 'search', '--add-quota', '2usd', '--enable'),
      ).toMatchObject({ status: 1, remain_quota: 1_000_000 });
      expect(await json('keys', 'update', 'search', '--add-quota', '-1usd')).toMatchObject({
        remain_quota: 500_000,
      });
    });

    it('lose a limit when that is said', async () => {
      await json('keys', 'create', '--name', 'k', '--models', 'a', '--ips', '::1', '--quota', '1');

      expect(
        await json('keys', 'update', 'k', '--models', 'all', '--ips', 'any', '--unlimited'),
      ).toMatchObject({ model_limits_enabled: false, allow_ips: [], unlimited_quota: true });
      expect(await json('keys', 'update', 'k', '--quota', '5')).toMatchObject({
        remain_quota: 5,
        unlimited_quota: false,
      });
    });

    it('show amounts in units and dollars, to people', async () => {
      await json('keys', 'create', '--name', 'search', '--quota', '750000');

      const { out } = await run(['keys', 'list']);

      expect(out).toContain('750000 ($1.50)');
      expect(out).toContain('root');
    });

    it('are deleted only when somebody agrees', async () => {
      await json('keys', 'create', '--name', 'search', '--unlimited');
      const remove = ['keys', 'delete', 'search'];
      const questions: string[] = [];
      const answering = (answer: string) => (question: string) => {
        questions.push(question);
        return Promise.resolve(answer);
      };

      expect(await run(remove)).toMatchObject({ code: 2, out: '' });
      expect(await run(remove, { ask: answering('n') })).toMatchObject({ code: 1 });
      expect(await json('keys', 'list')).toMatchObject({ total: 1 });
      expect(await run(remove, { ask: answering('y') })).toMatchObject({ code: 0 });
      expect(await json('keys', 'list')).toMatchObject({ total: 0 });
      expect(questions[0]).toContain('"search"');
    });

    it('are for users that are there', async () => {
      const { code, error } = await run(['keys', 'create', '--user', 'nobody']);

      expect(code).toBe(1);
      expect(error).toContain('nobody');
    });

    it('leave a trail with the name of who sat there', async () => {
      await json('keys', 'create', '--unlimited');

      const { items } = await store.listAudit({ offset: 0, limit: 1 });

      expect(items[0]).toMatchObject({ action: 'token.create', actor: 'cli:alice' });
    });
  });

  describe('channels', () => {
    it('are tested with a real request, and scripts see by the exit code what came of it', async () => {
      const local = ['--provider', 'local', '--models', 'words'];
      await json('channels', 'create', '--name', 'inside', ...local, '--disabled');
      const nowhere = ['--provider', 'tei', '--models', 'm', '--base-url', 'http://127.0.0.1:1'];
      await json('channels', 'create', '--name', 'nowhere', ...nowhere);

      const works = await run(['channels', 'test', 'inside']);
      const broken = await run(['channels', 'test', 'nowhere', '--json']);
      const unknown = await run(['channels', 'test', 'inside', '--model', 'another']);

      expect(works).toMatchObject({ code: 0, error: '' });
      expect(works.out).toMatch(/Channel 1 "inside" works\.[^]*order +right/);
      expect(broken.code).toBe(1);
      expect(JSON.parse(broken.out)).toMatchObject({
        ok: false,
        problem: { code: 'unreachable' },
      });
      expect(broken.error).toContain('ECONNREFUSED');
      expect(unknown).toMatchObject({ code: 2, out: '' });
    });

    it('are created, listed, changed, copied and deleted', async () => {
      const created = await json(
        ...['channels', 'create', '--name', 'primary', ...HOSTED, '--api-key', 'env:KEY'],
        ...['--tag', 'eu', '--priority', '5', '--weight', '0.5', '--timeout', '2000'],
      );
      expect(created).toMatchObject({
        name: 'primary',
        credential_names: ['api_key'],
        tag: 'eu',
        priority: 5,
        weight: 0.5,
        timeout_ms: 2_000,
        effective: { live: true },
        in_force: 'no_gateway',
      });

      const updated = await json(
        'channels',
        'update',
        'primary',
        '--tag',
        'none',
        '--models',
        'a=b',
      );
      expect(updated).toMatchObject({ id: created.id, tag: null, models: { a: 'b' }, priority: 5 });
      const at = (url: string) =>
        json('channels', 'update', 'primary', '--base-url', url, '--api-key', 'env:KEY');
      expect((await at('http://127.0.0.1:9')).base_url).toBe('http://127.0.0.1:9');
      expect((await at('none')).base_url).toBeNull();

      const copy = await json('channels', 'copy', 'primary', '--disabled');
      expect(copy).toMatchObject({
        name: 'primary-copy',
        status: 2,
        effective: { live: false },
      });

      expect(await run(['channels', 'delete', 'primary'])).toMatchObject({ code: 2 });
      await json('channels', 'delete', 'primary', '--yes');
      expect(await json('channels', 'list')).toMatchObject({
        items: [{ name: 'primary-copy' }],
        total: 1,
      });
    });

    it('are compared with an invoice, day by day or by the names of its models', async () => {
      await run(['channels', 'create', '--name', 'eu', ...HOSTED, '--api-key', 'env:KEY']);
      const tally = newTally();
      count(tally, { requests: 3, failed: 1, searchUnits: 3, quota: 750_000, cost: 500_000 }, 5);
      const additions = [1, 2].flatMap((date) =>
        [1, 7].map((channelId) => {
          const key = `[1,"rerank-v3.5",${channelId},"cohere",0]`;
          const row = { atMs: Date.UTC(2026, 9, date), owner: 1, key, otherKey: key, tally };
          return { ...row, rollup: 'spend_day' as const, expiresMs: NOW * 2 };
        }),
      );
      await store.addStats({ writer: 'w', serial: 1, nowMs: NOW, maxRows: 9, additions });
      const invoice = join(folder, 'invoice.csv');
      const against = async (text: string, ...more: string[]): Promise<Run> => {
        writeFileSync(invoice, text);
        const options = ['--channel', 'eu', '--month', '2026-10', ...more];
        return run(['spend', 'reconcile', invoice, ...options]);
      };

      const days = 'date,amount\n2026-10-01,1.50\n2026-10-02,1.52\n2026-11-01,9\n';
      const near = await against(days);
      expect([near.code, near.out]).toEqual([
        0,
        expect.stringMatching(/2026-10-02 +1.5 +1.52 +-0.02/),
      ]);
      const exact = await against(days, '--tolerance', '0');
      expect([exact.code, exact.error]).toEqual([1, expect.stringContaining('dollars by -0.02')]);
      // It is 0.66 % of the invoice.
      expect((await against(days, '--tolerance', '0.7')).code).toBe(0);
      expect((await against(days, '--tolerance', '0.6')).code).toBe(1);
      // Providers bill none that failed.
      const calls = 'date,requests\n2026-10-01,2\n2026-10-02,2\n';
      expect((await against(calls, '--tolerance', '0')).code).toBe(0);
      const models = await against('model;search units\nrerank-v3.5;6\n');
      expect([models.code, models.out]).toEqual([0, expect.stringMatching(/rerank-v3.5 +6 +6 +0/)]);
      const other = await against('model;search units\nanother;6\n', '--json');
      expect([other.code, other.out]).toEqual([0, expect.stringContaining('"another"')]);
      expect((await against('date,amount\n1.10.2026,1\n')).error).toContain('Line 2');
      // What the calls cost is known now.
      await run(['channels', 'update', 'eu', '--cost', '0.25usd', '--cost-per', 'request']);
      const costs = 'date,amount\n2026-10-01,1.00\n2026-10-02,1.00\n';
      expect((await against(costs, '--tolerance', '0')).code).toBe(0);
      expect((await run(['spend', 'reconcile', invoice, '--channel', 'eu'])).code).toBe(2);
    });

    it('take secrets from the environment and standard input, and show none', async () => {
      env.UPSTREAM_KEY = 'secret from the environment';
      const readInput = () => Promise.resolve('secret from standard input\n');
      const create = (name: string, key: string) =>
        run(['channels', 'create', '--name', name, ...HOSTED, '--api-key', key], { readInput });

      expect(await create('one', 'env:UPSTREAM_KEY')).toMatchObject({ code: 0 });
      expect(await create('two', '-')).toMatchObject({ code: 0 });
      expect(await create('three', 'env:NOT_SET')).toMatchObject({ code: 2 });
      const plain = await create('four', 'secret from the command line');
      expect(plain).toMatchObject({ code: 2, out: '' });
      expect(plain.error).toMatch(/Do not put a secret on the command line/);
      expect(plain.error).not.toContain('secret from');

      const { channels } = await store.loadChannels();
      expect(channels.map(({ credentials }) => credentials.apiKey?.reveal())).toEqual([
        'secret from the environment',
        'secret from standard input',
      ]);
      for (const args of [['list'], ['list', '--json'], ['show', 'one']]) {
        expect((await run(['channels', ...args])).out).not.toContain('secret from');
      }
    });

    it('take settings that may hold secrets from there, too', async () => {
      env.CONSTANTS = '{"hidden":"secret member"}';
      const create = (name: string, constants: string) =>
        run([
          ...['channels', 'create', '--name', name, '--models', 'm'],
          ...['--provider', 'openai-compatible', '--base-url', 'https://example.com'],
          ...['--setting', `constants=${constants}`],
        ]);

      const plain = await create('plain', env.CONSTANTS);
      expect(plain).toMatchObject({ code: 2, out: '' });
      expect(plain.error).toMatch(/Do not put a secret on the command line/);
      expect(plain.error).not.toContain('secret member');

      expect(await create('named', 'env:CONSTANTS')).toMatchObject({ code: 0 });
      const [channel] = (await store.loadChannels()).channels;
      expect(channel?.credentials.constants?.reveal()).toBe(env.CONSTANTS);
      const removed = await run(['channels', 'update', 'named', '--setting', 'constants=']);
      expect(removed).toMatchObject({ code: 0 });
      await json('channels', 'update', 'named', '--setting', 'path=/own');
      expect(await json('channels', 'update', 'named', '--setting', 'path=')).toMatchObject({
        settings: {},
      });
    });

    it('are judged by their provider, as usage', async () => {
      const { code, error } = await run([
        ...['channels', 'create', '--name', 'x', ...HOSTED, '--setting', 'region=eu'],
      ]);

      expect(code).toBe(2);
      expect(error).toContain(
        '--setting region is not known to cohere; it knows max-tokens-per-doc',
      );
      expect(error).toContain('--api-key is missing');
    });

    it('are switched by id and by name', async () => {
      const { id } = await json(
        ...['channels', 'create', '--name', 'a', ...HOSTED, '--api-key', 'env:KEY'],
      );

      const off = await run(['channels', 'disable', 'a', '--json']);
      expect(JSON.parse(off.out)).toMatchObject({
        effective: { live: false, because: 'disabled' },
        status: 2,
      });
      expect(off.error).toMatch(/^\d models? go(es)? dark/);
      expect(await json('channels', 'enable', String(id))).toMatchObject({
        effective: { live: true },
      });
      expect(await run(['channels', 'enable', 'b'])).toMatchObject({ code: 1 });
    });

    it('have providers that can be looked up', async () => {
      const { out } = await run(['channels', 'providers']);
      const one = await run(['channels', 'providers', 'cohere']);

      expect(out).toContain('voyage');
      expect(one.out).toContain('credential apiKey');
      expect(await run(['channels', 'providers', 'nobody'])).toMatchObject({ code: 1 });
    });
  });

  describe('tags', () => {
    beforeEach(async () => {
      for (const name of ['one', 'two']) {
        await json(
          ...[
            'channels',
            'create',
            '--name',
            name,
            ...HOSTED,
            '--api-key',
            'env:KEY',
            '--tag',
            'eu',
          ],
        );
      }
      await json('channels', 'disable', 'two');
    });

    it('are switched off and on again, and tell what that covers', async () => {
      expect(await json('tags', 'disable', 'eu', '--reason', 'scores are off')).toMatchObject({
        tag: 'eu',
        disabled: true,
        channel_count: 2,
        was_live_count: 1,
        live_count: 0,
      });
      expect(await json('tags', 'list')).toMatchObject({
        items: [{ tag: 'eu', disabled: true, reason: 'scores are off', changed_by: 'cli:alice' }],
      });
      expect((await run(['channels', 'list'])).out).toContain('switched off (scores are off)');
      expect(await json('tags', 'enable', 'eu')).toMatchObject({ live_count: 1 });
    });

    it('get another name on all of their channels', async () => {
      await run([
        'channels',
        'create',
        '--name',
        'hosted',
        '--tag',
        'old',
        '--api-key',
        'env:KEY',
        ...HOSTED,
      ]);

      const { out } = await run(['tags', 'rename', 'old', 'new']);

      expect(out).toContain('The tag of 1 channel is "new" instead of "old".');
      expect((await run(['channels', 'show', 'hosted'])).out).toContain('new');
      expect((await run(['tags', 'rename', 'old', 'newer'])).code).toBe(1);
    });

    it('that nothing bears are refused', async () => {
      const { code, error } = await run(['tags', 'disable', 'asia']);

      expect(code).toBe(1);
      expect(error).toContain('asia');
    });

    it('are in force on every gateway when the command returns', async () => {
      const confirming = store.watchChannels(() => void confirm());
      const confirm = async () =>
        report(store, 'a node', await store.channelsVersion(), NOW, 60_000);
      await confirm();

      const { version, in_force: inForce } = await json('tags', 'disable', 'eu');

      expect(inForce).toBe('confirmed');
      expect(await store.oldestNodeVersion(NOW)).toBe(version);
      confirming();
    });

    it('are in force once the staleness bound has passed, for a gateway that says nothing', async () => {
      await report(store, 'a silent node', 0, Date.now(), 60_000);
      const startedAtMs = Date.now();

      const { out } = await run(['tags', 'disable', 'eu'], { now: Date.now });

      expect(Date.now() - startedAtMs).toBeGreaterThanOrEqual(200);
      expect(out).toContain('0 of 1 gateway confirmed it, not a silent;');
      const listed = await run(['nodes', 'list', '--json'], { now: Date.now });
      expect(JSON.parse(listed.out)).toMatchObject({
        nodes: [{ name: 'a silent', standing: 'behind', release: null }],
      });
      expect((await run(['users', 'admins'])).out).toBe('root\n');
      const { code, error, out: overview } = await run(['overview'], { now: Date.now });
      expect([code, error]).toEqual([1, '3 things need a look.\n']);
      expect(overview).toMatch(
        /\n- the tag eu is switched off\n- 1 model has .*\n- a silent has an older version/,
      );
      expect(overview).toMatch(/\ntags off +eu\n/);
      expect(overview).toContain('1, a silent is behind');
      expect(overview).toContain('No channel was asked for anything in that time.');
    });
  });

  describe('the settings', () => {
    it('are printed with secrets masked', async () => {
      const { code, out } = await run(['config', 'print']);

      expect(code).toBe(0);
      expect(out).toContain('staleness_ms: 200');
      expect(out).not.toContain('a key for the tests');
      expect(await json('config', 'print')).toMatchObject({ gateway: { staleness_ms: 200 } });
    });

    it('are checked, with every mistake at once and an exit code of their own', async () => {
      expect(await run(['config', 'check'])).toMatchObject({ code: 0 });
      const file = join(folder, 'wrong.yaml');
      writeFileSync(file, 'server: { port: high }\nlog: { level: loud }\n');

      const { code, error } = await run(['config', 'check', '--config', file]);

      expect(code).toBe(78);
      expect(error).toContain('server.port');
      expect(error).toContain('log.level');
      const asJson = await run(['--json', 'config', 'check', '--config', file]);
      expect(JSON.parse(asJson.error)).toMatchObject({
        error: {
          code: 'invalid_config',
          mistakes: [
            { file, line: 1, path: 'server.port', message: 'must be a number such as 8080' },
            { file, line: 2, path: 'log.level' },
          ],
        },
      });
    });
  });

  it.each([
    [[]],
    [['keys']],
    [['keys', 'crate']],
    [['keys', 'create', '--colour', 'red']],
    [['keys', 'create', '--quota', 'ten']],
    [['keys', 'create', '--quota', '10', '--unlimited']],
    [['keys', 'create', '--expires', 'soon']],
    [['keys', 'create', '--ips', 'home']],
    [['keys', 'update', 'default']],
    [['keys', 'show']],
    [['channels', 'create', '--name', 'x']],
    [['tags', 'disable']],
  ])('calls %j wrong usage, and does nothing', async (args) => {
    const { code, out, error } = await run(args);

    expect(code).toBe(2);
    expect(out).toBe('');
    expect(error).not.toBe('');
    expect((await store.listTokens({ offset: 0, limit: 1 }, NOW)).total).toBe(0);
  });

  it.each(['--limit=0', '--limit=1001', '--offset=-1'])(
    'shows no part %s of a list',
    async (part) => {
      expect(await run(['keys', 'list', part])).toMatchObject({
        code: 2,
        error: '--limit must be from 1 to 1000, and --offset must not be negative.\n',
      });
    },
  );

  it('helps on standard output', async () => {
    const { code, out } = await run(['keys', 'create', '--help']);

    expect(code).toBe(0);
    expect(out).toContain('--quota <amount>');
  });

  it('tells of defaults where there are some', async () => {
    const created = await run(['channels', 'create', '--help']);
    const updated = await run(['channels', 'update', '--help']);
    const codes = await run(['codes', 'create', '--help']);

    expect(created.out).toMatch(/--priority <number> +higher is tried first \(default: 0\)/);
    expect(updated.out).not.toContain('(default');
    expect(codes.out).toContain('or never (default: never)');
  });

  describe('with settings that are not whole', () => {
    beforeEach(() => {
      writeFileSync(
        env.CONFIG ?? '',
        'channels:\n  - { name: hosted, provider: cohere, api_key: "${NOT_HERE}", models: [m] }\n  - { name: other, provider: nobody }\n',
      );
    });

    it('does what needs none of what is missing', async () => {
      expect((await run(['keys', 'create', '--unlimited'])).code).toBe(0);
      expect((await run(['channels', 'list'])).code).toBe(0);
    });

    it('names what is missing where it is needed', async () => {
      const { code, error } = await run(['config', 'check']);

      expect(code).toBe(78);
      expect(error).toContain('the environment variable NOT_HERE is not set');
    });

    it('refuses a group that does not exist, which may have been meant for the store', async () => {
      writeFileSync(env.CONFIG ?? '', 'stroe: { data_dir: /elsewhere }\n');

      const { code, error } = await run(['keys', 'list']);

      expect(code).toBe(78);
      expect(error).toContain('stroe: is not a setting; did you mean store?');
    });
  });

  it('tells scripts of errors in JSON', async () => {
    const { code, out, error } = await run(['keys', 'show', '99', '--json']);

    expect(code).toBe(1);
    expect(out).toBe('');
    expect(JSON.parse(error)).toEqual({
      error: { code: 'not_found', message: 'There is no key with id 99.' },
    });
  });

  it('reloads gateways of this machine alone, and ends although one does not report', async () => {
    const deaf = `process.on('SIGHUP', () => console.log('heard')); setInterval(() => 0, 1e3)`;
    const child = spawn(process.execPath, ['-e', `${deaf}; console.log('up')`, 'rerank-gateway']);
    try {
      await once(child.stdout, 'data');
      let hasHeard = false;
      child.stdout.on('data', () => (hasHeard = true));
      const pid = child.pid ?? 0;
      await report(store, 'a node', 0, NOW, 600_000);
      const reloadAt = async (machine: string): Promise<Run> => {
        await store.describeNode(about('a node', { pid, reloading: { pid, machine } }), 600_000);
        return run(['reload'], { now: () => (hasHeard ? NOW + 41_000 : NOW) });
      };

      expect((await reloadAt('another')).error).toBe(
        'No gateway with this store runs here that can reload.\n',
      );
      expect(await reloadAt(hostname())).toMatchObject({
        code: 1,
        error: 'A gateway does not report what came of it; see its log.\n',
      });
    } finally {
      child.kill('SIGKILL');
    }
  });

  describe('as a program of its own', () => {
    async function start(...args: string[]): Promise<Run> {
      const child = spawn(process.execPath, ['--import', 'tsx', 'src/cli.ts', ...args], {
        env: { ...process.env, XDG_CONFIG_HOME: folder, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const exit = new Promise<number>((resolve) => {
        child.on('close', (code) => resolve(code ?? -1));
      });
      const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
      return { code, out, error };
    }

    it('works on the store of the gateway, beside it', async () => {
      const { code, out } = await start('keys', 'create', '--unlimited');

      expect(code).toBe(0);
      expect(await store.findToken(hashSecret(out.trim()))).toBeDefined();
    });

    it('ends, and says so, when the store cannot be reached', async () => {
      // Nothing listens on the discard port of this machine.
      env.REDIS_URL = 'redis://127.0.0.1:9';

      const { code, out, error } = await start('keys', 'list');

      expect(code).toBe(69);
      expect(out).toBe('');
      const [waiting, end] = error.split('\n');
      expect(waiting).toContain('Redis at 127.0.0.1:9 cannot be used yet (connect ECONNREFUSED');
      expect(end).toContain('The store cannot be reached');
    });
  });
});
