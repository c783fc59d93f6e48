import { describe, expect, it } from '@jest/globals';
import { CHANNEL_DEFAULTS, CHANNEL_MEMBERS } from '../../src/core/channel-members.js';
import { Json } from '../../src/core/json.js';
import { Secret } from '../../src/core/secret.js';
import type { ChannelEdit } from '../../src/management/channel-edits.js';
import type { ChannelView } from '../../src/management/channel-views.js';
import {
  CHANNEL,
  channelBody,
  channelEdit,
  channelWire,
  readChannel,
} from '../../src/shapes/channel.js';

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

const overHttp = (value: unknown): Json => new Json(JSON.parse(JSON.stringify(value)));

describe('a channel outside', () => {
  it.each(STATES)('is read back as it was written, in the state %j', (state) => {
    const view = { ...VIEW, state, baseUrl: 'https://eu.example.com', tag: 'eu', timeoutMs: 900 };

    const wire = channelWire(view);

    expect(CHANNEL.validate(wire).error).toBeUndefined();
    expect(readChannel(overHttp(wire))).toEqual(view);
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

  it('is read from a gateway that does not know its newest members yet', () => {
    const names = Object.keys(CHANNEL_MEMBERS).map((name) =>
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    );
    const older = Object.entries(channelWire({ ...VIEW, priority: 7 })).filter(
      ([name]) => !names.includes(name),
    );

    expect(readChannel(overHttp(Object.fromEntries(older)))).toEqual(VIEW);
  });

  it('is refused where a member is none of its values', () => {
    expect(() => readChannel(overHttp({ ...channelWire(VIEW), weight: 'much' }))).toThrow('weight');
  });
});

describe('an edit of a channel', () => {
  it.each<[string, ChannelEdit]>([
    ['nothing', {}],
    ['what is taken away', { baseUrl: undefined, tag: undefined, timeoutMs: undefined }],
    ['settings', { settings: { region: 'eu', zone: null } }],
    [
      'all the rest',
      {
        ...{ name: 'n', provider: 'voyage', models: { a: 'b' }, status: 2, tag: 'eu' },
        ...{ ...CHANNEL_DEFAULTS, timeoutMs: 5, maxConcurrency: 4, scores: 'normalized' },
      },
    ],
  ])('arrives as it was sent: %s', (_, edit) => {
    const body: unknown = JSON.parse(JSON.stringify(channelBody(edit)));

    expect(channelEdit(body as ReturnType<typeof channelBody>)).toStrictEqual(edit);
  });

  it('carries credentials in the clear, and takes them away with null', () => {
    const body = channelBody({ credentials: { apiKey: new Secret('k'), other: null } });

    expect(body).toEqual({ credentials: { api_key: 'k', other: null } });
    expect(channelEdit(body).credentials?.api_key?.reveal()).toBe('k');
    expect(channelEdit(body).credentials?.other).toBeNull();
  });
});
