import { afterEach, expect, it, jest } from '@jest/globals';
import { createDataPlane, type DataPlaneParts } from '../../src/assembly/data-plane.js';
import { loadConfig } from '../../src/config/load-config.js';
import { ChannelLimits } from '../../src/gateway/channels/limits.js';
import { ChannelPlaces } from '../../src/gateway/channels/places.js';
import { newChannel } from '../store/contract/harness.js';
import { freshManagement } from '../support/management.js';

const management = freshManagement();
afterEach(() => {
  jest.restoreAllMocks();
});

it('what is kept of a channel goes with it: its tokens, its limits, and the connections to its server', async () => {
  const { store, deps } = management;
  const forgotten: number[] = [];
  const origins: string[][] = [];
  const routes: number[] = [];
  const limited = jest.spyOn(ChannelLimits.prototype, 'keepOnly');
  const [limits, places] = [ChannelLimits.prototype, ChannelPlaces.prototype].map((part) =>
    jest.spyOn(part, 'close'),
  );
  const parts = {
    ...{ store, nodeId: 'n', declared: new Map(), observe: () => undefined, now: deps.now },
    ...{ elapsed: () => performance.now(), random: () => 0, tools: {} },
    upstream: { keepOnly: (kept: Iterable<string>) => void origins.push([...kept]) },
    tokens: { forget: (id: number) => void forgotten.push(id) },
    ...{ onNews: () => undefined, onStoreBack: () => undefined, onStoreLost: () => undefined },
  } as unknown as DataPlaneParts;
  await store.begin();
  const channel = { provider: 'tei', baseUrl: 'http://tei.example:8080', models: { m: 'm' } };
  await store.createChannel(newChannel(channel));
  const [created] = (await store.loadChannels()).channels;
  const id = created?.id ?? 0;
  const plane = createDataPlane(loadConfig({ env: {}, folder: 'none' }), parts);

  await plane.start((all) => void routes.push([...all].length));
  await store.deleteChannel(id);
  await plane.channels.refresh();
  await plane.channels.stop();
  await plane.close();

  expect([routes[0], routes.at(-1)]).toEqual([1, 0]);
  expect([origins[0], origins.at(-1)]).toEqual([['http://tei.example:8080'], []]);
  expect(forgotten).toEqual([id]);
  expect(limited.mock.calls.map(([all]) => [...all].length)).toEqual(routes);
  expect([limits, places].map((closed) => closed?.mock.calls.length)).toEqual([1, 1]);
});
