import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { COMMANDS } from '../../src/cli/commands.js';
import { runCli } from '../../src/cli/program.js';
import { sameName } from '../../src/cli/named.js';
import type { Client } from '../../src/client/client.js';
import type { CliIo } from '../../src/cli/session.js';
import { hashRedemptionCode } from '../../src/management/redeem.js';
import { T0 } from '../store/contract/harness.js';
import { createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';
import { eventually } from '../support/redis-server.js';

const folder = mkdtempSync(join(tmpdir(), 'cli-lists-'));
let gateway: TestGateway;
let token = '';
/** Tells the names of one way from those of the other. */
let round = 0;

beforeAll(async () => {
  gateway = await startGateway(
    {
      gateway: { staleness_ms: 20_000 },
      channels: [
        { name: 'house', provider: 'local', models: ['local'], tag: 'house' },
        { name: 'spare', provider: 'local', models: ['local', 'other'], tag: 'spare' },
      ],
    },
    { DATA_DIR: folder },
  );
  await createAccount(gateway.store, { username: 'root', role: 100 });
  ({ token } = await createAccount(gateway.store, { role: 10 }));
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  round += 1;
});

interface Run {
  readonly code: number;
  readonly out: string;
  readonly error: string;
}

/** The same command over HTTP and on the store of the gateway. */
const WAYS = [
  ['over HTTP', (): string[] => ['--url', gateway.url, '--access-token', 'env:TOKEN']],
  ['on the store', (): string[] => ['--local']],
] as const;

async function run(args: readonly string[], io: Partial<CliIo> = {}): Promise<Run> {
  let out = '';
  let error = '';
  const code = await runCli(args, {
    env: { TOKEN: token, DATA_DIR: folder, XDG_CONFIG_HOME: folder },
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

/** Every command that can be run, by its words. */
async function everyCommand(): Promise<Map<string, Command>> {
  const program = new Command();
  const adders = new Set<(program: Command, io: CliIo) => void>();
  for (const { load } of COMMANDS) adders.add((await load()).addCommands);
  for (const add of adders) add(program, { now: () => 0 } as CliIo);
  const found = new Map<string, Command>();
  const walk = (command: Command, words: readonly string[]): void => {
    for (const sub of command.commands) walk(sub, [...words, sub.name()]);
    if (command.commands.length === 0) found.set(words.join(' '), command);
  };
  walk(program, []);
  return found;
}

it('a table within a text fits the terminal too, and nothing of its reasons is cut', async () => {
  const [[, way]] = WAYS;
  await run([...way(), 'channels', 'disable', 'spare', '--yes']);
  const explain = [...way(), 'explain', 'local'];

  const narrow = await run(explain, { terminal: { columns: 30 } });
  const piped = await run(explain);
  await run([...way(), 'channels', 'enable', 'spare']);

  const [, why = ''] = /^\d+ +spare +(.*)$/m.exec(piped.out) ?? [];
  const rows = narrow.out.slice(narrow.out.indexOf('PASSED OVER'));
  expect(why).toMatch(/\w \w/);
  expect(rows.replace(/\s/g, '')).toContain(why.replace(/\s/g, ''));
  for (const line of rows.split('\n')) expect(line.length).toBeLessThanOrEqual(30);
});

it('every list has --fields and --csv', async () => {
  const without = [...(await everyCommand())]
    .filter(([, command]) => command.description().startsWith('list '))
    .filter(([, { options }]) =>
      ['--fields', '--csv'].some((flag) => !options.some(({ long }) => long === flag)),
    );

  expect(without.map(([words]) => words)).toEqual([]);
});

describe.each(WAYS)('%s', (_, way) => {
  it('a list has the fields that are asked for, in every form', async () => {
    const { id } = await gateway.createKey({ name: '=1+1' });
    const list = (...args: string[]): Promise<Run> =>
      run([...way(), 'keys', 'list', '--name', '=1+1', '--limit', '1', ...args]);

    expect((await list('--fields', 'name,id')).out).toMatch(/^NAME +ID\n=1\+1 +\d+\n/);
    expect((await list('--fields', 'id,name,expires', '--csv')).out).toMatch(
      new RegExp(`^id,name,expires\r\n${id},'=1\\+1,never\r\n$`),
    );
    expect(JSON.parse((await list('--fields', 'id,status', '--json')).out)).toMatchObject({
      items: [{ id, status: 1 }],
    });
    expect(await list('--fields', 'id,colour')).toMatchObject({
      code: 2,
      error: expect.stringContaining(
        'There is no field "colour". The fields are id, name, key, user, status',
      ),
    });
    expect((await list('--csv', '--json')).code).toBe(2);
  });

  it('a table fits the terminal, in colour, and is plain and whole in a pipe', async () => {
    await gateway.createKey({ name: `long ${'x'.repeat(60)}` });
    const list = [...way(), 'keys', 'list', '--name', 'long'];

    const narrow = await run(list, { terminal: { columns: 80 } });
    const wide = await run(list, { terminal: { columns: 300 }, colour: true });
    const piped = await run(list);

    for (const line of narrow.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const [, hidden = ''] = /Too wide to show: (.*); see --fields\./.exec(narrow.out) ?? [];
    const [heading = ''] = narrow.out.split('\n');
    expect(hidden).not.toBe('');
    for (const name of hidden.split(', ')) {
      expect(heading).not.toContain(name.replaceAll('-', ' ').toUpperCase());
    }
    expect(wide.out).toContain('\u001b[32menabled\u001b[39m');
    expect(wide.out).toContain('x'.repeat(60));
    expect(piped.out).not.toContain('\u001b');
    expect(piped.out).toMatch(/^ID +NAME +KEY +USER +STATUS +QUOTA LEFT +USED +EXPIRES/);
  });

  it('times are relative on a terminal, and in ISO form for scripts', async () => {
    const tags = [...way(), 'users', 'list', '--fields', 'name,created'];

    expect((await run(tags, { terminal: { columns: 80 } })).out).toMatch(
      / (\d+ (s|min) ago|now)\n/,
    );
    expect((await run(tags)).out).toMatch(/ \d{4}-\d\d-\d\dT[\d:]{8}Z\n/);
    expect((await run([...tags, '--csv'])).out).toMatch(/,\d{4}-\d\d-\d\dT[\d:]{8}Z\r\n/);
  });

  it('a wrong name is answered with the near one, an ambiguous one with ids', async () => {
    const one = await gateway.createKey({ name: `twin ${round}` });
    const other = await gateway.createKey({ name: `twin ${round}` });

    expect((await run([...way(), 'channels', 'show', 'huose'])).error).toBe(
      'There is no channel called "huose". Did you mean "house"?\n',
    );
    expect((await run([...way(), 'tags', 'disable', 'sparr'])).error).toContain(
      'Did you mean "spare"?',
    );
    expect((await run([...way(), 'keys', 'show', `twin ${round}`])).error).toContain(
      `name one by its id: ${other.id}, ${one.id}`,
    );
    expect((await run([...way(), 'logs', 'list', '--channel', 'huose'])).error).toContain(
      '"house"',
    );
    expect((await run([...way(), 'logs', 'list', '--channel', 'house'])).code).toBe(0);
  });

  it('a new key is warned of what it cannot reach, and root says how much it may spend', async () => {
    const name = `fresh ${round}`;
    const create = ['keys', 'create', '--name', name];
    const first = await run([...way(), ...create, '--quota', '1usd', '--models', 'lokal,local']);
    const second = await run([...way(), ...create, '--quota', '1usd', '--tags', 'hose,spare']);
    const root = await run([...way(), 'keys', 'create', '--user', 'root']);

    expect(first.error).toContain('No channel serves the model "lokal" now. Did you mean "local"?');
    expect(first.error).not.toContain('another key');
    expect(second.error).toContain('No channel has the tag "hose" now. Did you mean "house"?');
    expect(second.error).toContain(`has another key called "${name}"`);
    expect(second.code).toBe(0);
    const update = ['keys', 'update', second.out.trim(), '--models', 'lokal', '--tags', 'hose'];
    expect(await run([...way(), ...update])).toMatchObject({
      code: 0,
      error: [
        'No channel serves the model "lokal" now. Did you mean "local"?',
        'No channel has the tag "hose" now. Did you mean "house"?',
        '',
      ].join('\n'),
    });
    expect(root).toMatchObject({
      code: 2,
      error: expect.stringMatching(/--quota 5usd.*--unlimited/),
    });
  });

  it('logs are followed without an entry twice or lost', async () => {
    const { key } = await gateway.createKey({ name: `followed ${round}` });
    const ask = (): Promise<unknown> =>
      gateway.post(key, { model: 'local', query: 'q', documents: ['d'] });
    await ask();
    const end = new AbortController();
    let out = '';
    const lines = (): string[] => out.split('\n').slice(0, -1);
    const following = run(
      [
        ...way(),
        'logs',
        '--follow',
        '--key',
        `followed ${round}`,
        '--fields',
        'request_id',
        '--json',
      ],
      { interrupted: () => end.signal, writeOut: (text) => (out += text) },
    );
    await eventually('the first is printed', () => Promise.resolve(lines().length === 1));
    for (let count = 0; count < 130; count += 1) await ask();
    await eventually('all are printed', () => Promise.resolve(lines().length >= 131), 30_000);
    end.abort();

    expect((await following).code).toBe(0);
    expect(new Set(lines()).size).toBe(131);
    expect(lines()).toHaveLength(131);
  });

  it('followed logs are aligned, or CSV', async () => {
    const name = `aligned ${round}`;
    const { key } = await gateway.createKey({ name });
    const ask = (model: string): Promise<unknown> =>
      gateway.post(key, { model, query: 'q', documents: ['d'] });
    const end = new AbortController();
    const outs = ['', ''];
    const both = (text: string) => () => Promise.resolve(outs.every((out) => out.includes(text)));
    await ask('not-served');
    const following = [[], ['--csv']].map((form, at) =>
      run([...way(), 'logs', '--follow', '--key', name, '--fields', 'model,outcome', ...form], {
        interrupted: () => end.signal,
        writeOut: (text) => (outs[at] = `${outs[at] ?? ''}${text}`),
      }),
    );
    await eventually('the first is printed', both('404'));
    await ask('local');
    await eventually('the other is printed', both('ok'));
    end.abort();

    expect((await Promise.all(following)).map(({ code }) => code)).toEqual([0, 0]);
    expect(outs).toEqual([
      'not-served  404 model_not_found\nlocal       200 ok\n',
      'model,outcome\r\nnot-served,404 model_not_found\r\nlocal,200 ok\r\n',
    ]);
  });

  it.each([['list'], ['all', '--follow']])('logs %s come in one form', async (...which) => {
    const { code, error } = await run([...way(), 'logs', ...which, '--json', '--csv']);

    expect([code, error]).toEqual([2, expect.stringContaining('Give --json or --csv.')]);
  });

  it('a person is asked before models go dark, and a script is warned', async () => {
    const disable = [...way(), 'tags', 'disable', 'spare'];
    const dark = 'dark (requests get 503): other.';

    const dry = await run([...disable, '--dry-run']);
    const asked: string[] = [];
    const ask = (question: string): Promise<string> => {
      asked.push(question);
      return Promise.resolve('n');
    };
    const refused = await run(disable, { ask });
    const before = await run([...way(), 'tags', 'list', '--fields', 'tag,switch', '--csv']);
    const scripted = await run(disable);

    expect(dry).toMatchObject({ code: 0, out: expect.stringContaining('would go dark') });
    expect(asked).toEqual([expect.stringContaining(`1 model will go ${dark}`)]);
    expect(refused).toMatchObject({ code: 1, error: 'Nothing was done.\n' });
    expect(before.out).toContain('spare,on\r\n');
    expect(scripted).toMatchObject({ code: 0, error: `1 model goes ${dark}\n` });
    expect(scripted.out).toMatch(/^Tag "spare" is switched off\. It covers 1 channel, /);
    expect((await run([...way(), 'tags', 'enable', 'spare', '-n'])).out).toContain(
      '1 channel would',
    );
    expect((await run([...way(), 'tags', 'enable', 'spare'])).out).toContain('is switched on');
    const agreed = await run([...disable, '--yes'], { ask });
    expect([agreed.code, agreed.error, asked.length]).toEqual([0, `1 model goes ${dark}\n`, 1]);
    await run([...way(), 'tags', 'enable', 'spare']);
    expect(
      (await run([...way(), 'channels', 'disable', 'house', 'spare', 'house', '-n'])).out,
    ).toMatch(/2 channels would be switched off:\n.*house\n.*spare\n2 models would go dark/);
  });

  it('codes are named, counted and then changed', async () => {
    const name = `gift ${round}`;
    await run([...way(), 'codes', 'create', '--quota', '1', '--count', '2', '--name', name]);
    await run([...way(), 'codes', 'create', '--quota', '1', '--name', `${name} more`]);

    expect((await run([...way(), 'codes', 'disable', name])).error).toContain('There are 2 codes');
    expect((await run([...way(), 'codes', 'disable', `${name} mor`])).error).toContain(
      `Did you mean "${name} more"?`,
    );
    expect((await run([...way(), 'codes', 'disable-batch', '--name', name, '-n'])).out).toContain(
      '2 codes would be disabled',
    );
    expect((await run([...way(), 'codes', 'disable', `${name} more`])).code).toBe(0);
    expect((await run([...way(), 'codes', 'prune', '-n'])).out).toMatch(/^1 code would be deleted/);
    expect((await run([...way(), 'codes', 'prune', '--yes'])).out).toContain('1 code deleted');

    await run([...way(), 'codes', 'create', '--quota', '1', '--name', `${name} last`]);
    const remove = [...way(), 'codes', 'delete', `${name} last`];
    expect(await run(remove)).toMatchObject({
      code: 2,
      error: expect.stringContaining('will be deleted for good. Add --yes'),
    });
    expect((await run([...remove, '--yes'])).out).toMatch(/^Code \d+ "gift \d+ last" is deleted/);
    expect((await run([...remove, '--yes'])).error).toContain('There is no code called');
  });

  it('somebody is invited to the account and role that are named', async () => {
    const name = `invited-${round}`;
    const invite = [...way(), 'users', 'invite', name, '--email', `${name}@example.com`];
    const { code, out } = await run([...invite, '--role', 'auditor', '--quota', '7']);

    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`address +${name}@example.com\nrole +auditor\n`));
    expect(out).toMatch(/quota left +7 /);
    expect((await run(invite)).error).toBe('That username is taken.\n');
  });

  it.each(
    [
      ['keys create --quota 1 --ips home'],
      ['keys create --quota -5'],
      ['keys create --quota 1 --expires 1970-01-01'],
      ['keys create --quota 1 --default-model rerank --models other'],
      ['keys create --quota 1 --rate-limit -5'],
      ['keys create --budget 0 --budget-period week --quota 1 --max-concurrency x'],
      ['keys roll refused --keep-old 999y'],
      ['keys update refused --add-quota=-999999999usd'],
      ['channels create --name a --provider cohere --models m'],
      ['channels create --name a --provider cohere --models m --setting region=eu'],
      ['channels create --name a --provider bedrock --models m'],
      ['channels create --name a --provider azure --models m --base-url https://a.example'],
      ['channels create --name a --provider tei --models m'],
      ['channels create --name a --provider tei --models m --base-url ftp://a'],
      ['channels create --name a --provider local --models m --window-stride 9 --window-size 5'],
      ['channels create --name a --provider local --models m --setting colour=red'],
      ['users create ada --email nowhere --password env:PASSWORD'],
      ['users create ada --password env:SHORT'],
      ['codes create --quota -1'],
      ['codes create --quota 1 --count 1000'],
      ['logs list --since 2030-01-01 --until 2020-01-01 --slower -1'],
      ['spend --by label'],
      ['explain nothing --key nobody'],
    ].map(([line = '']) => line),
  )('the refusal of %s names no member of the API', async (line) => {
    await gateway.createKey({ name: 'refused', remainQuota: 5 });
    const env = { TOKEN: token, DATA_DIR: folder, PASSWORD: 'correct horse battery', SHORT: 'x' };

    const { code, error } = await run([...way(), ...line.split(' ')], { env });

    expect(error).not.toMatch(/\b[a-z]+(_[a-z]+)+\b|\b[a-z]+[A-Z]\w*\b/);
    expect(code).not.toBe(0);
  });
});

describe('what a person reads', () => {
  beforeAll(async () => {
    const { store } = gateway;
    const [[, far], [, near]] = WAYS;
    const { user } = await createAccount(store, {
      ...{ username: 'reader', email: 'reader@example.com', quota: 5_000_000 },
    });
    const policy = { tags: ['house'] };
    const { key } = await gateway.createKey({ name: 'of-reader', userId: user.id, policy });
    await gateway.post(key, { model: 'local', query: 'q', documents: ['d', 'e'] });
    await gateway.post(key, { model: 'nothing', query: 'q', documents: ['d'] });
    const ofReader = async (...words: string[]): Promise<string> =>
      (await run([...near(), ...words, '--user', 'reader', '--json'])).out;
    await eventually('both are logged', async () =>
      (await ofReader('logs')).includes('"total": 2'),
    );
    await eventually('it is counted', async () => (await ofReader('spend')).includes('"reader"'));
    const delivery = { messageId: 'm', type: 'x', target: 'hook', body: '{}', atMs: T0 };
    const [a1, a2] = [
      { ...delivery, id: 'a1', summary: 'it is down' },
      { ...delivery, id: 'a2', summary: 'it is late' },
    ];
    await store.addDeliveries([a1, a2], T0, 9);
    const dead = { state: 'dead', tries: 3, error: 'status 500', dueAtMs: 0 } as const;
    await store.endDelivery('a1', dead, T0, 9);
    const give = [...far(), 'codes', 'create', '--name', 'given', '--quota'];
    const { out: code } = await run([...give, '7']);
    await store.redeem(hashRedemptionCode(code.trim()), user.id, Date.now());
    await run([...give, '9', '--expires', '2099-01-01']);
    const planets = { userId: user.id, name: 'planets', shared: true, content: '{}' };
    await store.addExample(planets, 10, T0);
    await run([...far(), 'tags', 'disable', 'spare', '--reason', 'slow']);
  });
  afterAll(() => run([...WAYS[1][1](), 'tags', 'enable', 'spare']));

  /** Without what differs from run to run. */
  const plain = (out: string): string[] =>
    out
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z/g, 'TIME')
      .replaceAll(/rr_\w+/g, 'REQUEST')
      .replaceAll(/\w{4}…\w{4}/g, 'HINT')
      .replaceAll(/\b[\da-f]{12,}\b/g, 'HASH')
      .replaceAll(/\b\d+ ms/g, 'MS')
      .replaceAll(/(^|:)\d+\b/gm, '$1N')
      .replaceAll(/\b\d+ (of-reader|local)\b/g, 'N $1')
      .replaceAll(/ {2,}/g, ' | ')
      .split('\n');

  it.each([
    ['alerts list --state dead', 'a1 | TIME | hook | dead | 3 | it is down | status 500'],
    [
      'codes list --name given',
      'N | given | HINT | enabled | 9 ($0.000018) | TIME | TIME',
      'N | given | HINT | used | 7 ($0.000014) | TIME | never | reader, TIME',
    ],
    ['alerts list --state sent', 'No alerts.'],
    ['alerts resend a2', '"it is late" is sent to hook again.'],
    ['alerts test', 'There is no such target of alerts: none is configured.'],
    ['examples show planets', '{}'],
    ['users mail-reset reader', 'A code is on its way to reader@example.com.'],
    [
      'channels providers local',
      'address | inside the gateway',
      'models such as | lexical',
      expect.stringMatching(/^Lexical: it/),
    ],
    ['channels list --state broken', expect.stringMatching(/Allowed choices are live, off, disab/)],
    ['codes disable-batch', 'Give --batch or --name.'],
    ['keys update of-reader', 'Name at least one thing to change.'],
    ['channels update house', 'Name at least one thing to change.'],
    ['users update reader', 'Name at least one thing to change.'],
    [
      'overview',
      'tags off | spare',
      'models without a live channel | other',
      'gateways | 1',
      expect.stringMatching(/^house \| \d+ \| 0 \(0\.0 %\) \| [\d.]+ \| .* \| 0 \| \d+ /),
      'N things need a look.',
    ],
    ['codes batches', 'HASH | given | 1 | 0 | 1 | 9 ($0.000018) | TIME'],
    ['examples list', 'N | planets | somebody else | yes | TIME'],
    ['users logins reader', 'HASH | access token | TIME | TIME', 'HASH | browser | TIME | TIME'],
    [
      'users list --keyword reader',
      'N | reader | reader@example.com | user | enabled | 4999007 ($9.998014) | 1000 ($0.002000) | 1 | TIME | never',
    ],
    ['users show reader', 'address | reader@example.com', 'status | enabled', 'requests | 1'],
    [
      'users show reader@example.con',
      'There is no user called "reader@example.con". Did you mean "reader@example.com"?',
    ],
    ['tags list', 'house | on | 1 | 1', 'spare | off | 1 | 0 | TIME | somebody-2 | slow'],
    [
      'audit --target tag:spare --action tag.disable',
      'TIME | somebody-2 | tag.disable | tag:spare | 127.0.0.1 | disabled: false -> true; because: slow',
    ],
    ['audit --user reader', 'TIME | reader | user.access_token | user:N reader'],
    [
      'logs list --user reader',
      'TIME | REQUEST | N of-reader | local | N local | 1 | 2 | 1000 ($0.002000) | MS | ok',
    ],
    [
      'logs --user reader',
      'TIME | REQUEST | N of-reader | nothing | 127.0.0.1 | 0 ($0.00) | MS | 404 model_not_found',
      'TIME | REQUEST | N of-reader | local | house | 1000 ($0.002000) | MS | 200 ok',
    ],
    [
      'logs refused --user reader',
      'TIME | REQUEST | N of-reader | nothing | 127.0.0.1 | 404 model_not_found | Model "nothing" does not exist here.',
    ],
    [
      'logs stat --user reader',
      'requests | 1',
      'quota | 1000 ($0.002000)',
      'documents | 2',
      'tokens | 3',
    ],
    [
      'keys list --user reader',
      'N | of-reader | sk-HINT | reader | enabled | unlimited | 1000 ($0.002000) | never | TIME',
    ],
    [
      'keys show of-reader',
      'models | all',
      'tags | house',
      'expires | never',
      'quota left | unlimited',
    ],
    [
      'channels list --state off',
      'N | spare | local | spare | 0 | 1 | enabled | off: its tag is switched off (slow) | config | local, other',
    ],
    [
      'spend --by tag --then channel --user reader',
      'house | house | 1 | 0 | 2 | 3 | 1000 ($0.002000) | 0 ($0.00) | 1000 ($0.002000)',
      'total | 1 | 0 | 2 | 3 | 1000 ($0.002000) | 0 ($0.00) | 1000 ($0.002000)',
    ],
    ['spend --by token --user reader --fields token,requests', 'of-reader | 1', 'total | 1'],
    ['spend --by model --user reader --fields model,quota', 'local | 1000 ($0.002000)'],
    ['spend --by provider --user reader --fields provider,tokens', 'local | 3'],
    ['spend --by hour --user reader --fields hour,requests', 'TIME | 1'],
    ['spend --user reader --fields user,documents', 'reader | 2'],
  ])('of %s is the same over HTTP and on the store', async (line, ...lines) => {
    const [far, near] = await Promise.all(
      WAYS.map(async ([, way]) => {
        const { out, error } = await run([...way(), ...line.split(' ')]);
        return plain(out + error);
      }),
    );

    expect(far).toEqual(expect.arrayContaining(lines));
    expect(near).toEqual(far);
  });
});

it('a key is found by its name among more than a thousand newer ones that contain it', async () => {
  const names = [...Array.from({ length: 1_100 }, (_, at) => `app-${at}`), 'app'];
  const call: unknown = (_id: string, { query }: { query: { p: number; page_size: number } }) => {
    const to = query.p * query.page_size;
    const items = names.slice(to - query.page_size, to).map((name) => ({ name }));
    return Promise.resolve({ items, total: names.length });
  };

  expect(await sameName({ call } as Client, 'app')).toEqual([{ name: 'app' }]);
});
