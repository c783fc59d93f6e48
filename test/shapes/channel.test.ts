import { describe, expect, it } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import type { ChannelView } from '../../src/management/channel-views.js';
import { CHANNEL, channelEdit, channelWire } from '../../src/shapes/channel.js';

const VIEW: ChannelView = {
  id: 3,
  name: 'voyage-eu',
  provider: 'voyage',
  baseUrl: undefined,
  credentialNames: ['apiKey', 'clientCert'],
  keyCount: 2,
  settings: { apiVersion: '2', dryRun: false },
  models: { nice: 'real' },
  tag: undefined,
  ...CHANNEL_DEFAULTS,
  status: 1,
  origin: 'store',
  state: { live: true },
  sighted: {
    sinceMs: 1_700_000_000_000,
    nextTryMs: 1_700_000_060_000,
    pauses: [
      {
        node: 'a',
        key: '…abcd',
        state: 'open',
        reason: 'timeout',
        sinceMs: 1_700_000_001_000,
        untilMs: 1_700_000_006_000,
      },
    ],
  },
};

const STATES: readonly ChannelView['state'][] = [
  { live: true },
  { live: false, because: 'disabled', reason: undefined },
  { live: false, because: 'auto_disabled', reason: undefined },
  { live: false, because: 'tag_disabled', reason: 'an incident' },
  { live: false, because: 'credentials_locked' },
  { live: false, because: 'unusable', reason: 'no address' },
];

describe('a channel outside', () => {
  it.each(STATES)('fits its schema, and says why it takes no traffic, in the state %j', (state) => {
    const view = { ...VIEW, state, baseUrl: 'https://eu.example.com', tag: 'eu', timeoutMs: 900 };

    const wire = channelWire(view);

    expect(CHANNEL.validate(wire).error).toBeUndefined();
    expect(wire.effective).toMatchObject({
      live: state.live,
      because: state.live ? null : state.because,
      since: 1_700_000_000,
      next_try: 1_700_000_060,
      paused: [{ node: 'a', key: '…abcd', since: 1_700_000_001, until: 1_700_000_006 }],
    });
  });

  it('has every name in snake case, and null for what it has not', () => {
    expect(channelWire(VIEW)).toMatchObject({
      base_url: null,
      credential_names: ['api_key', 'client_cert'],
      settings: { api_version: '2', dry_run: false },
      tag: null,
      timeout_ms: null,
    });
  });
});

describe('an edit of a channel', () => {
  it.each([
    ['nothing', {}, {}],
    [
      'what is removed',
      { base_url: null, tag: '', timeout_ms: null },
      { baseUrl: undefined, tag: undefined, timeoutMs: undefined },
    ],
    [
      'settings',
      { settings: { region: 'eu', zone: null } },
      { settings: { region: 'eu', zone: null } },
    ],
    [
      'names, which stand for themselves',
      { models: 'a, b', tag: 'eu', status: 2 as const, max_concurrency: 4 },
      { models: { a: 'a', b: 'b' }, tag: 'eu', status: 2, maxConcurrency: 4 },
    ],
  ])('is what its body says: %s', (_, body, edit) => {
    expect(channelEdit(body)).toStrictEqual(edit);
  });

  it('has credentials, and removes them with null', () => {
    const { credentials } = channelEdit({ credentials: { api_key: 'k', other: null } });

    expect(credentials?.api_key?.reveal()).toBe('k');
    expect(credentials?.other).toBeNull();
  });
});
