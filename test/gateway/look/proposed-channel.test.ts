import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { UnknownServer } from '../../../src/core/discovery.js';
import { createDiscover } from '../../../src/gateway/look/discover.js';
import { Upstream } from '../../../src/gateway/transport/upstream.js';
import { loadPrompts } from '../../../src/assembly/prompts.js';
import { allProviders } from '../../../src/providers/index.js';
import { discoveredWire } from '../../../src/shapes/discovered.js';
import { startStubs, stubModel, type Stubs } from '../../stubs/server.js';
import { startGateway, type TestGateway } from '../../support/gateway.js';
import { LONG } from '../../support/long.js';
import { firstOfEach, readingOf } from '../../support/provider-shapes.js';

const QUERY = 'Which planet has the most moons?';
const DOCUMENTS = [
  'Mercury has no moons at all.',
  'Saturn is the planet that has the most moons, well over a hundred.',
  'Olive oil keeps best in a dark place.',
];
const providers = allProviders().filter((provider) => provider.transport === 'http');
const ownReading = firstOfEach(providers, readingOf);
/** One of each shape of reply, by which servers are told apart; all of them in a long run. */
const IDS = providers.map(({ id }) => id).filter((id) => LONG || ownReading.has(id));

let stubs: Stubs;
let gateway: TestGateway;
let key = '';

/** As it is printed, with the secrets in place of their variables. */
async function proposed(id: string, upstream: Upstream): Promise<Record<string, unknown>> {
  const discover = createDiscover({
    upstream,
    neural: { rank: () => Promise.reject(new Error('nothing is ranked inside')) },
    tools: { vectors: undefined, prompts: loadPrompts(undefined) },
    now: Date.now,
  });
  const { base_url: baseUrl, credentials, settings } = stubs.channel(id);
  const server: UnknownServer = {
    baseUrl,
    credentials,
    settings: settings as UnknownServer['settings'],
    model: stubModel(id),
  };
  const { channel } = discoveredWire(await discover(server));
  if (channel === null) throw new Error(`no channel for ${id}`);
  const secret = (name: string): string =>
    credentials[name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] ?? '';
  return {
    ...channel,
    name: id,
    // Each under a name of its own.
    models: { [id]: channel.models[0] },
    credentials: Object.fromEntries(
      Object.keys(channel.credentials).map((name) => [name, secret(name)]),
    ),
  };
}

beforeAll(async () => {
  stubs = await startStubs();
  const upstream = new Upstream({ maxReplyBytes: 1_000_000 });
  const channels: Record<string, unknown>[] = [];
  for (const id of IDS) channels.push(await proposed(id, upstream));
  await upstream.close();
  gateway = await startGateway({ channels });
  ({ key } = await gateway.createKey());
}, 120_000);

afterAll(async () => {
  await gateway.close();
  await stubs.close();
});

it.each(IDS)('what is proposed for the stub of %s ranks when it is pasted', async (model) => {
  const { status, body } = await gateway.post(key, {
    model,
    query: QUERY,
    documents: DOCUMENTS,
  });

  expect(body.message).toBeUndefined();
  expect(status).toBe(200);
  expect(body.results[0]?.index).toBe(1);
});
