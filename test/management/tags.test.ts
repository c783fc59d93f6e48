import { beforeEach, describe, expect, it } from '@jest/globals';
import { CHANNEL_DEFAULTS } from '../../src/core/channel-members.js';
import { createChannel, updateChannel } from '../../src/management/channels.js';
import { listChannels } from '../../src/management/channel-views.js';
import { disableTag, editTag, enableTag, listTags } from '../../src/management/tags.js';
import { freshManagement, NOW_SECONDS, OPERATOR } from '../support/management.js';

describe('tags', () => {
  const management = freshManagement();
  let ids: number[] = [];

  beforeEach(async () => {
    ids = [];
    for (const [name, tag] of [
      ['one', 'eu'],
      ['two', 'eu'],
      ['three', 'us'],
    ] as const) {
      const { channel } = await add(name, tag);
      ids.push(channel.id);
    }
    await updateChannel(management.deps, ids[1] ?? 0, { status: 2 }, OPERATOR);
  });

  function add(name: string, tag: string) {
    return createChannel(
      management.deps,
      { name, tag, provider: 'tei', baseUrl: 'http://127.0.0.1:9000', models: { m: 'm' } },
      OPERATOR,
    );
  }

  async function states(): Promise<Record<string, string>> {
    const channels = await listChannels(management.deps);
    return Object.fromEntries(
      channels.map(({ name, state }) => [name, state.live ? 'live' : state.because]),
    );
  }

  it('are switched off in one write, which says what it covers and what was live', async () => {
    const { deps, store } = management;

    const written = await disableTag(deps, 'eu', ' scores are off ', OPERATOR);

    expect(written).toMatchObject({
      tag: 'eu',
      disabled: true,
      reason: 'scores are off',
      covered: [
        { name: 'one', wasLive: true, live: false },
        { name: 'two', wasLive: false, live: false },
      ],
    });
    expect(written.version).toBe(await store.channelsVersion());
    expect(await states()).toEqual({ one: 'tag_disabled', two: 'disabled', three: 'live' });
  });

  it('are read anew only after a change, by whichever gateway', async () => {
    const { deps } = management;
    const before = await listTags(deps);
    expect(await listTags(deps)).toBe(before);

    await management.reopen().setTagSwitch({
      ...{ tag: 'us', disabled: true, reason: undefined, changedTime: 1, changedBy: 'another' },
    });

    const us = (await listTags(deps)).find(({ tag }) => tag === 'us');
    expect(us).toMatchObject({ disabled: true, channels: [{ name: 'three', live: false }] });
  });

  it('cover a channel that gets the tag later', async () => {
    await disableTag(management.deps, 'eu', undefined, OPERATOR);

    const { channel } = await add('four', 'eu');

    expect(channel).toMatchObject({ status: 1, state: { live: false, because: 'tag_disabled' } });
  });

  it('leave each channel as it was once they are switched on again', async () => {
    const { deps } = management;
    await disableTag(deps, 'eu', undefined, OPERATOR);

    const written = await enableTag(deps, 'eu', OPERATOR);

    expect(written).toMatchObject({
      disabled: false,
      reason: undefined,
      covered: [
        { name: 'one', wasLive: false, live: true },
        { name: 'two', wasLive: false, live: false },
      ],
    });
    expect(await states()).toEqual({ one: 'live', two: 'disabled', three: 'live' });
  });

  it('that no channel has are unknown, unless they have a switch', async () => {
    const { deps, store } = management;
    const before = await store.channelsVersion();

    await expect(disableTag(deps, 'asia', undefined, OPERATOR)).rejects.toMatchObject({
      code: 'not_found',
      param: 'tag',
    });
    await expect(enableTag(deps, 'asia', OPERATOR)).rejects.toMatchObject({ code: 'not_found' });
    expect(await store.channelsVersion()).toBe(before);

    await disableTag(deps, 'us', undefined, OPERATOR);
    await store.deleteChannel(ids[2] ?? 0);

    expect(await enableTag(deps, 'us', OPERATOR)).toMatchObject({ covered: [] });
  });

  it('refuse a name or a reason that makes no sense', async () => {
    const { deps } = management;

    await expect(disableTag(deps, ' ', undefined, OPERATOR)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'tag',
    });
    await expect(disableTag(deps, 'eu', 'x'.repeat(501), OPERATOR)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'reason',
    });
    expect(await disableTag(deps, 'eu', 'x'.repeat(500), OPERATOR)).toMatchObject({
      reason: 'x'.repeat(500),
    });
  });

  it('keep no key that somebody pasted into the reason', async () => {
    const { deps, store } = management;

    await disableTag(deps, 'eu', `leaked: sk-${'a1B2'.repeat(12)}`, OPERATOR);

    expect((await store.loadChannels()).switches).toMatchObject([{ reason: 'leaked: sk-a1B2…' }]);
  });

  it('are listed with their switch and their channels', async () => {
    const { deps } = management;
    await disableTag(deps, 'us', 'maintenance', OPERATOR);

    expect(await listTags(deps)).toEqual([
      {
        tag: 'eu',
        disabled: false,
        reason: undefined,
        changedTime: 0,
        changedBy: undefined,
        channels: [
          { id: ids[0], name: 'one', live: true, because: null },
          { id: ids[1], name: 'two', live: false, because: 'disabled' },
        ],
      },
      {
        tag: 'us',
        disabled: true,
        reason: 'maintenance',
        changedTime: NOW_SECONDS,
        changedBy: 'operator',
        channels: [{ id: ids[2], name: 'three', live: false, because: 'tag_disabled' }],
      },
    ]);
  });

  it('leave a trail of who switched them, and why', async () => {
    const { deps } = management;
    await disableTag(deps, 'eu', 'maintenance', OPERATOR);
    await enableTag(deps, 'eu', OPERATOR);

    const entries = (await management.audited()).filter(({ target }) => target === 'tag:eu');

    expect(entries).toMatchObject([
      { action: 'tag.disable', actor: 'operator', detail: { reason: 'maintenance' } },
      { action: 'tag.enable', actor: 'operator' },
    ]);
  });

  it('keep their switch when they are renamed, and lose it when they join another', async () => {
    const { deps } = management;
    await disableTag(deps, 'eu', 'broken', OPERATOR);

    await editTag(deps, 'eu', { tag: 'emea' }, OPERATOR);
    expect(await states()).toEqual({ one: 'tag_disabled', two: 'disabled', three: 'live' });
    await editTag(deps, 'emea', { tag: 'us' }, OPERATOR);

    expect(await states()).toEqual({ one: 'live', two: 'disabled', three: 'live' });
    const tags = await listTags(deps);
    expect(tags.map(({ tag, disabled }) => [tag, disabled])).toEqual([
      ['emea', true],
      ['us', false],
    ]);
  });

  it('have never been switched under a new name, where they were on when they got it', async () => {
    const { deps } = management;
    await disableTag(deps, 'eu', undefined, OPERATOR);
    await enableTag(deps, 'eu', OPERATOR);

    await editTag(deps, 'eu', { tag: 'emea' }, OPERATOR);

    expect((await listTags(deps)).map(({ tag, changedTime }) => [tag, changedTime])).toEqual([
      ['emea', 0],
      ['us', 0],
    ]);
  });

  it('are edited with all their channels or not at all', async () => {
    const { deps, store } = management;
    await store.declareChannels([
      {
        name: 'declared',
        provider: 'local',
        baseUrl: undefined,
        models: { m: 'm' },
        tag: 'eu',
        ...CHANNEL_DEFAULTS,
        status: 1,
        settings: {},
      },
    ]);
    await disableTag(deps, 'eu', undefined, OPERATOR);
    const before = await store.loadChannels();

    await expect(editTag(deps, 'eu', { tag: 'emea' }, OPERATOR)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('configuration') as unknown,
    });

    expect(await store.loadChannels()).toEqual(before);
  });
});
