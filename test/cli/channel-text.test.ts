import { describe, expect, it } from '@jest/globals';
import { describe as describeChannel, describeTest, inEffect } from '../../src/cli/channel-text.js';
import type { ChannelWire } from '../../src/shapes/channel.js';
import type { TestedWire } from '../../src/shapes/tested.js';

const NOON = 1_800_000_000;
const LIVE = { live: true, because: null, reason: null, paused: [], next_try: null };
const PAUSE = { node: 'a', key: null, state: 'half_open', reason: 'busy', since: NOON } as const;
const [whole, ofKey] = [
  { ...PAUSE, until: NOON + 5 },
  { ...PAUSE, key: '…x1', until: NOON + 5 },
];

function channel(effective: object = {}, given: object = {}): ChannelWire {
  const members = {
    name: 'eu',
    provider: 'cohere',
    models: { a: 'a', b: 'c' },
    settings: {},
    status: 1,
    origin: 'store',
  };
  return {
    ...members,
    credential_names: [],
    effective: { ...LIVE, ...effective },
    ...given,
  } as unknown as ChannelWire;
}

describe('what a channel does now', () => {
  it.each([
    [{}, 'live'],
    [{ paused: [ofKey] }, 'live, one key rests'],
    [{ paused: [ofKey, ofKey] }, 'live, some keys rest'],
    [{ paused: [whole, ofKey] }, 'live, paused by one gateway'],
    [{ paused: [whole, whole] }, 'live, paused by 2 gateways'],
    [{ live: false, because: 'disabled', paused: [whole] }, 'off: disabled'],
    [{ live: false, because: 'auto_disabled' }, 'off: disabled automatically'],
    [
      { live: false, because: 'auto_disabled', reason: 'no credit', next_try: NOON },
      'off: disabled automatically, no credit, next try at 2027-01-15T08:00:00Z',
    ],
    [{ live: false, because: 'tag_disabled' }, 'off: its tag is switched off'],
    [
      { live: false, because: 'tag_disabled', reason: 'slow' },
      'off: its tag is switched off (slow)',
    ],
    [
      { live: false, because: 'credentials_locked' },
      'off: its credentials cannot be read with this encryption key',
    ],
    [{ live: false, because: 'unusable' }, 'off: unusable'],
    [{ live: false, because: 'unusable', reason: 'no model file' }, 'off: no model file'],
  ])('is told in words: %j', (effective, words) => {
    expect(inEffect(channel(effective))).toBe(words);
  });

  it('is shown with its settings, its keys and what rests', () => {
    const settings = { truncate: false, max_tokens_per_doc: 9 };
    const shown = describeChannel(
      channel(
        { paused: [whole, ofKey] },
        { settings, key_count: 2, credential_names: ['api_key'], base_url: null, tag: null },
      ),
    );

    for (const line of [
      /^base URL +the provider's$/m,
      /^credentials +api_key$/m,
      /^API keys +2, which take turns$/m,
      /^settings +truncate=false, max_tokens_per_doc=9$/m,
      /^models +a, b=c$/m,
      /^tag +none$/m,
      /^on a +half-open since 2027-01-15T08:00:00Z \(busy\), until 2027-01-15T08:00:05Z$/m,
      /^key …x1 on a +half-open since /m,
    ]) {
      expect(shown).toMatch(line);
    }
    const one = describeChannel(channel({}, { key_count: 1, origin: 'config' }));
    expect(one).not.toContain('take turns');
    expect(one).toMatch(/^credentials +in the configuration$/m);
  });
});

describe('a test of a channel', () => {
  const TESTED = {
    ...{ model: 'a', upstream_model: 'a', url: null, status: null, latency_ms: 7 },
    ...{ order: null, scores: null, score_scale: null, problem: null, warnings: [] },
    usage: { input_tokens: null, search_units: null },
  };
  const told = (given: object): string =>
    describeTest('Channel 1 "eu"', { ...TESTED, ...given } as unknown as TestedWire);

  it('says what was asked, and that nothing came', () => {
    const text = told({ problem: { code: 'unreachable', message: 'no' }, model: 'b' });

    expect(text).toMatch(/^Channel 1 "eu" does not work\.\nmodel +b \(a\)\nsent to +nowhere\n/);
    expect(text).toMatch(/^status +none\nlatency +7 ms$/m);
    expect(text).not.toContain('order');
  });

  it('says what the ranking was like, and what was used', () => {
    const ranking = {
      ...{ url: 'https://a.example', status: 200, order: 'right', warnings: ['It is slow.'] },
      ...{
        scores: { right: 0.9, other: 0.1 },
        score_scale: { expected: 'unit', observed: 'unit' },
      },
    };
    const text = told({ ...ranking, usage: { input_tokens: 12, search_units: 1 } });

    expect(text).toMatch(/ works\.\nmodel +a\nsent to +https:\/\/a\.example\nstatus +200\n/);
    expect(text).toMatch(
      /scores +0\.9 for the answer, 0\.1 for the other\nscale +unit, expected unit/,
    );
    expect(text).toMatch(/usage told +12 tokens, 1 search unit\nIt is slow\.$/);
    expect(told(ranking)).toMatch(/usage told +none\n/);
  });
});
