import { describe, expect, it } from '@jest/globals';
import { ERRORS } from '../../src/core/errors.js';
import {
  createBody,
  createCommand,
  draftOf,
  emptyDraft,
  updateBody,
  type KnownChannel,
} from '../../src/console/lib/channel-draft.js';
import { MEMBERS } from '../../src/console/api/members.js';
import {
  createKeyBody,
  createKeyCommand,
  EMPTY_KEY,
  keyDraftOf,
  updateKeyBody,
  withOneMore,
  type KnownKey,
} from '../../src/console/lib/key-draft.js';
import { dollars, duration, percent, significant } from '../../src/console/lib/format.js';
import { tiersOf } from '../../src/console/lib/order.js';
import { codeFor } from '../../src/console/lib/snippets.js';
import {
  signOfChannel,
  switchedOffAt,
  takenOutAt,
  troubleOf,
} from '../../src/console/lib/verdict.js';
import { enPages } from '../../src/console/words/en-pages.js';
import { zhPages } from '../../src/console/words/zh-pages.js';

/** A gateway that leaves a channel alone, or without an id and an end cannot use it. */
function node(name: string, id: number | null, until: number | null, called = 'seven') {
  return { name, channels: [{ id, name: called, until, why: 'timeout' }] };
}

describe('why a request failed', () => {
  let changes = 0;
  const change = (at: number, action: string, tag = 'hosted', reason?: string) => ({
    id: (changes += 1),
    created_at: at,
    actor: 'ada',
    action,
    target: `tag:${tag}`,
    detail: reason === undefined ? {} : { reason },
  });

  it('names the tags that were off then, by whom, why, and until when', () => {
    const audit = [
      change(90, 'tag.enable'),
      change(50, 'tag.disable', 'hosted', 'answers 500'),
      change(10, 'tag.disable', 'self'),
      change(20, 'tag.enable', 'self'),
    ];

    expect(switchedOffAt(60, ['hosted', 'self', 'other'], audit, [])).toEqual([
      { tag: 'hosted', since: 50, by: 'ada', reason: 'answers 500', until: 90 },
    ]);
    expect(switchedOffAt(49, ['hosted'], audit, [])).toEqual([]);
    expect(switchedOffAt(95, ['hosted'], audit, [])).toEqual([]);
    expect(switchedOffAt(15, ['self'], audit, [])[0]).toMatchObject({ since: 10, until: 20 });
  });

  it('names the channels that the gateway had taken out then, why, and until when', () => {
    const of = (id: number, at: number, action: string, detail = {}) => ({
      ...{ ...change(at, action), detail },
      target: `channel:${id}`,
    });
    const audit = [
      of(1, 90, 'channel.return'),
      of(1, 50, 'channel.disable', { because: 'misconfigured', message: 'no credit left' }),
      of(2, 50, 'channel.disable', { because: 'misconfigured', message: '' }),
      of(2, 55, 'channel.return'),
      of(3, 50, 'channel.update'),
    ];

    const live = (...ids: number[]) => ids.map((id) => ({ id, because: null }));

    expect(takenOutAt(60, live(1, 2, 3, 4), audit)).toEqual([
      { id: 1, since: 50, because: 'misconfigured', message: 'no credit left', until: 90 },
    ]);
    expect(takenOutAt(49, live(1, 2), audit)).toEqual([]);
    expect(takenOutAt(52, live(2), audit)).toMatchObject([{ id: 2, until: 55 }]);
    // Out since before the log was asked for; another was taken out later than the request.
    const out = [1, 5].map((id) => ({ id, because: 'auto_disabled' }));
    expect(takenOutAt(40, out, audit)).toMatchObject([{ id: 5, since: undefined }]);
  });

  it.each([
    [true, null, 'ok'],
    [false, 'disabled', 'off'],
    [false, 'tag_disabled', 'off'],
    [false, 'auto_disabled', 'bad'],
    [false, 'credentials_locked', 'warn'],
    [false, 'unusable', 'warn'],
    [false, null, 'warn'],
  ])('has one sign for a channel, on all pages: live %s because of %s', (live, because, sign) => {
    expect(signOfChannel({ live, because }, { failing: undefined, pauses: [] })).toBe(sign);
  });

  it.each([
    ['fails, and is left alone', [3, 3], [node('a', 7, 200)], 'bad', 1],
    ['fails seldom', [20, 3], [node('a', 7, 200)], 'busy', 1],
    ['was left alone until now', [20, 3], [node('a', 7, 100)], 'ok', 0],
    ['is another one', [0, 0], [node('a', 8, 200), node('b', null, null, 'other')], 'ok', 0],
    ['cannot be used by one', [0, 0], [node('a', 7, 200), node('b', null, null)], 'warn', 2],
  ])('has one sign for a live channel that %s', (_, [requests, failed], nodes, sign, pauses) => {
    const recent = { recent_requests: requests ?? 0, recent_failed: failed ?? 0 };
    const overview = { channels: [{ key: '7', ...recent }], nodes: { nodes } };
    const channel = { id: 7, name: 'seven' };
    const trouble = troubleOf(channel, overview, 100);

    expect(signOfChannel({ live: true, because: null }, trouble)).toBe(sign);
    expect(signOfChannel({ live: false, because: 'disabled' }, trouble)).toBe('off');
    expect(trouble.pauses).toHaveLength(pauses);
  });

  it('names a tag that was off for a part of the second', () => {
    const audit = [
      change(50, 'tag.disable'),
      change(50, 'tag.enable'),
      change(70, 'tag.disable'),
      change(80, 'tag.enable'),
    ].reverse();

    for (const [at, since] of [
      [50, 50],
      [70, 70],
      [80, 70],
    ] as const) {
      expect(switchedOffAt(at, ['hosted'], audit, [])).toMatchObject([{ since }]);
    }
    for (const at of [49, 51, 60, 81]) {
      expect(switchedOffAt(at, ['hosted'], audit, [])).toEqual([]);
    }
  });

  it('names a tag that is off for longer than the audit log was asked for', () => {
    const now = [
      {
        ...{ tag: 'hosted', disabled: true, changed_time: 5 },
        ...{ changed_by: 'ada', reason: 'answers 500' },
      },
    ];

    expect(switchedOffAt(60, ['hosted'], [], now)).toEqual([
      { tag: 'hosted', since: 5, by: 'ada', reason: 'answers 500', until: undefined },
    ]);
    expect(switchedOffAt(4, ['hosted'], [], now)).toEqual([]);
  });

  it('has a sentence for every error that the rerank API answers, in both languages', () => {
    const own = new Set([
      ...(['not_found', 'conflict', 'permission_denied', 'unauthorized'] as const),
      ...(['method_not_allowed', 'headers_too_large', 'unsupported_media_type'] as const),
      'request_timeout',
    ]);
    const codes = Object.keys(ERRORS).filter((code) => !own.has(code));
    const missing = codes.filter(
      (code) => !(code in enPages.verdicts) || !(code in zhPages.verdicts),
    );

    expect(missing).toEqual([]);
  });
});

describe('a channel that is typed', () => {
  const provider = {
    id: 'azure',
    settings: [
      { name: 'api_version', type: 'string' },
      { name: 'batch', type: 'number' },
      { name: 'strict', type: 'boolean' },
    ],
  };
  const channel: KnownChannel = {
    ...{ id: 7, name: 'eu', provider: 'azure', base_url: null, tag: 'hosted' },
    ...Object.fromEntries(MEMBERS.channel.map(({ name, preset }) => [name, preset])),
    ...{ id: 7, priority: 1, health_check_s: 60, budget: 1_000_000 },
    settings: { api_version: 'v1', batch: 8 },
    models: { a: 'a', b: 'upstream-b' },
  };

  it('makes the body that adds it, and the command that does the same', () => {
    const draft = {
      ...emptyDraft('azure'),
      ...{ models: 'a\n b = upstream-b ,c', credentials: { api_key: 'secret', other: '' } },
      ...{ settings: { batch: '8', strict: 'false', api_version: '' }, tag: ' eu ' },
      members: { priority: '10', cost: '0.5', scores: 'raw', retry_unsafe: 'true' },
    };

    expect(createBody(draft, provider)).toEqual({
      ...{ name: 'azure', provider: 'azure', priority: 10, tag: 'eu' },
      ...{ cost: 250_000, retry_unsafe: true },
      models: { a: 'a', b: 'upstream-b', c: 'c' },
      credentials: { api_key: 'secret' },
      settings: { batch: 8, strict: false },
    });
    const command = createCommand(draft);
    expect(command).toContain('--models a,b=upstream-b,c --credential api_key=env:API_KEY');
    expect(command).toContain('--cost 250000');
    expect(command).not.toContain('secret');
  });

  it('sends of a change what was changed alone', () => {
    const same = draftOf(channel);

    expect(same.members.budget).toBe('2');
    expect(updateBody(channel, same, provider)).toEqual({ id: 7 });
    const edit = {
      ...{ ...same, tag: '' },
      members: { ...same.members, timeout_ms: '500', weight: '', health_check_s: '', budget: '3' },
      settings: { batch: '9' },
    };
    expect(updateBody(channel, edit, provider)).toEqual({
      ...{ id: 7, tag: null, timeout_ms: 500, health_check_s: null, budget: 1_500_000 },
      settings: { batch: 9, api_version: null },
    });
    expect(updateBody(channel, { ...same, models: 'a' }, provider)).toEqual({
      ...{ id: 7, models: { a: 'a' } },
    });
  });
});

describe('a key that is typed', () => {
  const key: KnownKey = {
    ...{ id: 7, user_id: 1, name: 'search', key_hint: 'sk-a…z', status: 1, revision: 'r' },
    ...{ created_time: 0, accessed_time: 0, expired_time: 86_399, old_key_until: 0 },
    ...{ remain_quota: 250_000, used_quota: 5, unlimited_quota: false },
    ...{ model_limits_enabled: true, model_limits: ['a b', 'c'], allow_ips: [], tags: ['eu'] },
    ...{ default_model: null, aliases: { fast: 'c' }, fallbacks: [] },
    ...{
      rate_limit: 0,
      dialect: 'tei',
      max_concurrency: 0,
      reply_cache: true,
      reply_cache_ttl_ms: 0,
    },
    ...{ may_explain: false, budget: 0, budget_period: 'month', budget_time_zone: 'UTC' },
    ...{ budget_spent: 0, budget_renews_at: null, labels: '' },
  };

  it('makes the body that adds it, and the command that does the same', () => {
    const draft = {
      ...{ ...EMPTY_KEY, name: ' lab ', remain_quota: '2', model_limits: 'x, y\nz' },
      ...{ aliases: 'fast = x\nbest=y', allow_ips: '10.0.0.0/8', default_model: 'x' },
      expired_time: '2027-01-31',
      members: { rate_limit: '60', reply_cache: 'false', budget: '1.5', budget_period: 'week' },
    };

    expect(createKeyBody(draft)).toEqual({
      ...{ name: 'lab', remain_quota: 1_000_000, unlimited_quota: false },
      ...{ model_limits_enabled: true, model_limits: ['x', 'y', 'z'], default_model: 'x' },
      ...{ aliases: { fast: 'x', best: 'y' }, allow_ips: ['10.0.0.0/8'] },
      expired_time: Date.parse('2027-01-31T23:59:59Z') / 1000,
      ...{
        rate_limit: 60,
        reply_cache: false,
        budget: 750_000,
        budget_period: 'week',
      },
    });
    expect(createKeyCommand(draft, '')).toBe(
      'npm run cli -- keys create --name lab --quota 2usd --models x,y,z --ips 10.0.0.0/8 --default-model x ' +
        '--aliases fast=x,best=y --expires 2027-01-31T23:59:59Z --rate-limit 60 --reply-cache false ' +
        '--budget 750000 --budget-period week',
    );
    expect(
      createKeyCommand({ ...EMPTY_KEY, name: "Ann's app", remain_quota: '1e3' }, 'ann lee'),
    ).toBe(
      String.raw`npm run cli -- keys create --name 'Ann'\''s app' --user 'ann lee' --quota 1000usd`,
    );
    expect(createKeyBody({ ...EMPTY_KEY, name: 'a' })).toEqual({
      ...{ name: 'a', unlimited_quota: true },
    });
  });

  it('offers the names that a list does not have yet', () => {
    const names = ['local', 'rerank-2.5'];

    expect(withOneMore('', names)).toEqual(names);
    expect(withOneMore('loc', names)).toEqual(names);
    expect(withOneMore('local, re', names)).toEqual(['local, rerank-2.5']);
  });

  it('sends of a change what was changed alone', () => {
    const same = keyDraftOf(key);

    expect(same).toMatchObject({
      ...{ remain_quota: '0.5', model_limits: 'a b, c', expired_time: '1970-01-01' },
    });
    expect(updateKeyBody(key, same)).toEqual({ id: 7 });
    const edit = {
      ...{ ...same, remain_quota: '', model_limits: '', expired_time: '' },
      ...{ aliases: '', fallbacks: 'b' },
      members: { ...same.members, dialect: 'auto', may_explain: 'true' },
    };
    expect(updateKeyBody(key, edit)).toEqual({
      ...{ id: 7, unlimited_quota: true, model_limits_enabled: false, model_limits: [] },
      ...{ expired_time: -1, aliases: {}, fallbacks: ['b'], dialect: 'auto', may_explain: true },
    });
  });
});

describe('the order in which channels are tried', () => {
  const rung = (name: string, priority: number, weight: number, live = true) => ({
    ...{ name, priority, weight, live },
  });

  it('goes by priority, and shares by weight among those that take traffic', () => {
    const tiers = tiersOf([
      ...[rung('spare', 0, 0), rung('a', 10, 3), rung('b', 10, 1), rung('off', 10, 9, false)],
    ]);

    expect(
      tiers.map(({ priority, rungs }) => [
        priority,
        ...rungs.map(({ channel, share }) => [channel.name, share]),
      ]),
    ).toEqual([
      [10, ['a', 0.75], ['b', 0.25], ['off', 0]],
      [0, ['spare', 1]],
    ]);
  });
});

describe('what is shown', () => {
  it('has four significant digits of money, and says how long things took', () => {
    expect([1, 1_000, 250_000, 150_550_000, 0, -1_000].map(dollars)).toEqual([
      '$0.000002',
      '$0.002',
      '$0.50',
      '$301.10',
      '$0',
      '−$0.002',
    ]);
    expect([0.4, 3, 212, 8_012, 180_000].map(duration)).toEqual([
      '0.4 ms',
      '3 ms',
      '212 ms',
      '8 s',
      '3 min',
    ]);
    expect([0, 0.0001, 0.004, 0.38, 1].map(percent)).toEqual([
      '0%',
      '< 0.1%',
      '0.4%',
      '38%',
      '100%',
    ]);
    expect([0.58812, 4.12345, -2.3, 0, 12_345.6].map(significant)).toEqual([
      '0.5881',
      '4.123',
      '−2.300',
      '0',
      '12346',
    ]);
  });

  it('is code that carries any text unharmed, and no key', () => {
    const body = { query: `it's "so" $HOME \\ \n 行星`, documents: ["a'b", '`x`'] };
    const shell = codeFor('curl', { address: 'https://g', body });
    const quoted = /-d '([\s\S]*)'$/.exec(shell)?.[1] ?? '';

    expect(JSON.parse(quoted.replaceAll(String.raw`'\''`, "'"))).toEqual(body);
    for (const language of ['curl', 'typescript', 'python'] as const) {
      expect(codeFor(language, { address: 'https://g', body })).not.toContain('sk-');
      expect(codeFor(language, { address: 'https://g', body, key: 'sk-1' })).toContain('sk-1');
    }
  });
});
