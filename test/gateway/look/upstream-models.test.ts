import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CHANNEL_DISABLED, type Channel } from '../../../src/core/channel.js';
import { Secret } from '../../../src/core/secret.js';
import type { DeclaredCredentials } from '../../../src/gateway/channels/route.js';
import { createListUpstreamModels } from '../../../src/gateway/look/upstream-models.js';
import { Upstream } from '../../../src/gateway/transport/upstream.js';
import { offer } from '../../support/offers.js';
import { sendJson, startUpstream, type TestUpstream } from '../../support/upstream.js';

let upstream: Upstream;
let server: TestUpstream;

beforeAll(() => {
  upstream = new Upstream({ maxReplyBytes: 1_000_000 });
});
afterAll(() => upstream.close());

beforeEach(async () => {
  server = await startUpstream(({ path }, res) => {
    if (path.endsWith('/v1/models')) sendJson(res, { data: [{ id: 'small' }, { id: 'large' }] });
    else sendJson(res, { error: 'not found' }, 404);
  });
});
afterEach(() => server.close());

/** The models that the server of a channel lists. */
function modelsOf(given: Partial<Channel>, declared: DeclaredCredentials = new Map()) {
  const { channel } = offer(1).route;
  const list = createListUpstreamModels({ upstream, declared });
  return list({ ...channel, name: 'mine', baseUrl: server.url, ...given });
}

/** What the server was told of keys, each once. */
function keysSeen(): (string | undefined)[] {
  return [...new Set(server.seen.map(({ headers }) => headers.authorization))];
}

describe('the models of a channel’s server', () => {
  it('are those that it lists, and it is asked each question once', async () => {
    expect(await modelsOf({})).toEqual(['small', 'large']);

    const paths = server.seen.map(({ path }) => path);
    expect(paths).toHaveLength(new Set(paths).size);
    expect(keysSeen()).toEqual([undefined]);
  });

  it('are asked for below the path of the base URL', async () => {
    expect(await modelsOf({ baseUrl: `${server.url}/proxy/` })).toEqual(['small', 'large']);

    expect(server.seen.every(({ path }) => path.startsWith('/proxy/'))).toBe(true);
  });

  it('are asked for with the key of the channel, the first if there are several', async () => {
    await modelsOf({ credentials: { apiKey: new Secret('first\nsecond') } });

    expect(keysSeen()).toEqual(['Bearer first']);
  });

  it('are asked for with the key that the configuration declares for its channel', async () => {
    const declared = new Map([['mine', { apiKey: new Secret('declared') }]]);

    await modelsOf({ origin: 'config' }, declared);

    expect(keysSeen()).toEqual(['Bearer declared']);
  });

  it('can be asked for while the channel is switched off', async () => {
    expect(await modelsOf({ status: CHANNEL_DISABLED })).toEqual(['small', 'large']);
  });

  it('are none where the server answers but lists nothing', async () => {
    server.answer((_request, res) => sendJson(res, { error: 'not found' }, 404));

    expect(await modelsOf({})).toEqual([]);
  });
});

describe('a channel whose server cannot be asked', () => {
  it('is named when nothing answers there', async () => {
    await server.close();

    await expect(modelsOf({})).rejects.toMatchObject({
      code: 'upstream_error',
      message: 'The server of "mine" does not answer.',
    });
  });

  it.each([
    [
      'it cannot be used',
      { provider: 'nobody' },
      'The channel cannot be used: unknown provider "nobody".',
    ],
    [
      'this node does not have its credentials',
      { origin: 'config' },
      'The channel cannot be used: declared in a configuration that this node does not have.',
    ],
    [
      'it ranks inside the gateway',
      { provider: 'local', baseUrl: undefined },
      '"mine" ranks inside the gateway: no server lists its models.',
    ],
  ] as const)('is refused because %s, and nothing is sent', async (_why, given, message) => {
    await expect(modelsOf(given)).rejects.toMatchObject({ code: 'conflict', message });

    expect(server.seen).toEqual([]);
  });
});
