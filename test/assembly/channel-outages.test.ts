import { expect, it } from '@jest/globals';
import { createOutages } from '../../src/assembly/channel-outages.js';
import { CHANNEL_DISABLED } from '../../src/core/channel.js';
import { returnDuty } from '../../src/core/outage.js';
import type { GatewayEvent } from '../../src/gateway/events.js';
import { newChannel } from '../store/contract/harness.js';
import { freshManagement, NOW } from '../support/management.js';

const management = freshManagement();

it('a channel is disabled once, is tried after a while, and is left to people who switch it', async () => {
  const { store, deps } = management;
  const events: GatewayEvent[] = [];
  const observe = (event: GatewayEvent): void => void events.push(event);
  const outages = createOutages({ store, now: deps.now, observe, firstTryMs: 1_000 });
  const outage = { reason: 'no_credit', message: 'empty', sinceMs: NOW } as const;
  await store.createChannel(newChannel({ name: 'eu' }));
  const channel = async () => {
    const [found] = (await store.loadChannels()).channels;
    if (found === undefined) throw new Error('the channel is there');
    return found;
  };
  const before = await channel();
  const states = () => events.map((event) => event.kind === 'outage' && event.state);
  const isDue = async (nowMs: number) =>
    (await store.takeDuty(returnDuty(before.id, outage), nowMs, 1)).isMine;

  await Promise.all([outages.disable(before, outage), outages.disable(before, outage)]);
  expect(states()).toEqual(['disabled']);
  expect([await isDue(NOW + 999), await isDue(NOW + 1_000)]).toEqual([false, true]);

  const disabled = await channel();
  await outages.letReturn(disabled);
  await outages.letReturn(disabled);
  expect(states()).toEqual(['disabled', 'returned']);

  await store.updateChannel(before.id, { status: CHANNEL_DISABLED });
  await outages.letReturn(disabled);
  expect([states().length, (await channel()).status]).toEqual([2, CHANNEL_DISABLED]);
});
