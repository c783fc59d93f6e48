import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { ChannelTable, type ChannelTableDeps } from '../../src/gateway/channel-table.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { createChannel } from '../../src/management/channels.js';
import { createVault } from '../../src/store/vault.js';
import { deferred } from '../support/deferred.js';
import { freshManagement, OPERATOR } from '../support/management.js';

const TEI = { provider: 'tei', baseUrl: 'http://127.0.0.1:9', models: { m: 'm' } };

describe('the channels of a node', () => {
  const management = freshManagement();

  const openTable = (deps: Partial<ChannelTableDeps>) =>
    new ChannelTable({
      store: management.store,
      declared: new Map(),
      observe: () => undefined,
      now: management.deps.now,
      stalenessMs: 60_000,
      nodeId: 'node',
      onGone: () => undefined,
      onOrigins: () => undefined,
      ...deps,
    });
  const namesIn = (table: ChannelTable) =>
    (table.current.byModel.get('m') ?? []).map(({ channel }) => channel.name);

  it('leave out one whose credentials cannot be read, and say which key is wrong', async () => {
    const credentials = { apiKey: new Secret('a key') };
    await createChannel(management.deps, { ...TEI, name: 'sealed', credentials }, OPERATOR);
    await createChannel(management.deps, { ...TEI, name: 'open' }, OPERATOR);
    const events: GatewayEvent[] = [];
    const table = openTable({
      store: management.reopen(createVault(new Secret('another encryption key'))),
      observe: (event) => events.push(event),
    });

    await table.refresh();

    expect(namesIn(table)).toEqual(['open']);
    expect(events).toMatchObject([
      {
        kind: 'channels',
        unusable: [{ name: 'sealed', why: expect.stringContaining('ENCRYPTION_KEY') as unknown }],
      },
    ]);
  });

  it('are checked again when a change is told while a check is under way', async () => {
    const { deps, store } = management;
    const [asked, answer] = [deferred(), deferred()];
    let tell: () => void = () => undefined;
    let held = false;
    let checks = 0;
    const table = openTable({
      store: {
        ...store,
        watchChannels: (onChange) => {
          tell = onChange;
          return () => undefined;
        },
        channelsVersion: async () => {
          const version = await store.channelsVersion();
          checks += 1;
          if (held) {
            asked.resolve();
            await answer.promise;
          }
          return version;
        },
      },
    });
    await createChannel(deps, { ...TEI, name: 'first' }, OPERATOR);
    await table.start();
    [held, checks] = [true, 0];

    const checking = table.refresh();
    await asked.promise;
    await createChannel(deps, { ...TEI, name: 'second' }, OPERATOR);
    tell();
    answer.resolve();
    await checking;
    await table.stop();

    expect(namesIn(table)).toEqual(['first', 'second']);
    expect(checks).toBe(2);
  });
});
