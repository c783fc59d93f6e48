import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/core/secret.js';
import { ChannelTable } from '../../src/gateway/channel-table.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { createChannel } from '../../src/management/channels.js';
import { createVault } from '../../src/store/vault.js';
import { freshManagement, OPERATOR } from '../support/management.js';

describe('the channels of a node', () => {
  const management = freshManagement();

  it('leave out one whose credentials cannot be read, and say which key is wrong', async () => {
    const common = { provider: 'tei', baseUrl: 'http://127.0.0.1:9', models: { m: 'm' } };
    const credentials = { apiKey: new Secret('a key') };
    await createChannel(management.deps, { ...common, name: 'sealed', credentials }, OPERATOR);
    await createChannel(management.deps, { ...common, name: 'open' }, OPERATOR);
    const events: GatewayEvent[] = [];
    const table = new ChannelTable({
      store: management.reopen(createVault(new Secret('another encryption key'))),
      declared: new Map(),
      observe: (event) => events.push(event),
      now: management.deps.now,
      stalenessMs: 1_000,
      nodeId: 'node',
      onGone: () => undefined,
      onOrigins: () => undefined,
    });

    await table.refresh();

    const routes = table.current.byModel.get('m') ?? [];
    expect(routes.map(({ channel }) => channel.name)).toEqual(['open']);
    expect(events).toMatchObject([
      {
        kind: 'channels',
        unusable: [{ name: 'sealed', why: expect.stringContaining('ENCRYPTION_KEY') as unknown }],
      },
    ]);
  });
});
