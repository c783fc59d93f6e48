import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { CHANNEL_DISABLED } from '../../src/core/channel.js';
import type { TokenPolicy } from '../../src/core/token.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

const DOCUMENTS = { query: 'moon', documents: ['the moon', 'a stone'] };

let gateway: TestGateway;

beforeEach(async () => {
  gateway = await startGateway({
    channels: [
      { name: 'one', provider: 'local', models: ['moon'], tag: 'sky' },
      { name: 'two', provider: 'local', models: ['sun'], tag: 'sky' },
    ],
  });
});

afterEach(() => gateway.close());

/** What a policy forbids, by a request that it forbids: the code that is due, and a policy that allows it. */
const POLICIES: readonly [
  code: string,
  forbids: Partial<TokenPolicy>,
  allows: Partial<TokenPolicy>,
  request: Readonly<Record<string, unknown>>,
  headers?: Readonly<Record<string, string>>,
][] = [
  ['model_not_allowed', { models: ['sun'] }, { models: ['sun', 'moon'] }, { model: 'moon' }],
  ['model_not_allowed', { models: ['sun'] }, { models: undefined }, { model: 'moon' }],
  ['ip_not_allowed', { allowIps: ['10.0.0.0/8'] }, { allowIps: [] }, { model: 'moon' }],
  [
    'tag_not_allowed',
    { tags: ['sea'] },
    { tags: [] },
    { model: 'moon' },
    { 'x-rerank-tag': 'sky' },
  ],
  ['invalid_request', {}, { defaultModel: 'moon' }, {}],
];

describe('the policy of a key that this node knows', () => {
  it.each(POLICIES)(
    'refuses with %s what %j forbids, until it is changed to %j',
    async (code, forbids, allows, request, headers = {}) => {
      const { key, id } = await gateway.createKey({ policy: forbids });
      const ask = () => gateway.post(key, { ...DOCUMENTS, ...request }, headers);

      const refused = await ask();
      await gateway.store.updateToken(id, { policy: allows }, Date.now());
      const allowed = await ask();
      await gateway.store.updateToken(
        id,
        { policy: { ...forbids, defaultModel: undefined } },
        Date.now(),
      );
      const again = await ask();

      expect([refused.body.error.code, allowed.status, again.body.error.code]).toEqual([
        code,
        200,
        code,
      ]);
    },
  );

  it('is served by the default model that the key has now', async () => {
    const { key, id } = await gateway.createKey({ policy: { defaultModel: 'moon' } });

    const first = await gateway.post(key, DOCUMENTS);
    const policy = { defaultModel: 'sun', models: ['sun'] };
    await gateway.store.updateToken(id, { policy }, Date.now());
    const second = await gateway.post(key, DOCUMENTS);

    expect([first.body.model, second.body.model]).toEqual(['moon', 'sun']);
  });

  it('is served by it when nobody serves the old one any more', async () => {
    const policy = { defaultModel: 'moon', models: ['moon'] };
    const { key, id } = await gateway.createKey({ policy });
    const first = await gateway.post(key, DOCUMENTS);
    const [moon] = (await gateway.store.loadChannels()).channels;

    await gateway.store.updateChannel(moon?.id ?? 0, { status: CHANNEL_DISABLED });
    await gateway.app.gateway.channels.refresh();
    const nobody = await gateway.post(key, DOCUMENTS);
    const changed = { defaultModel: 'sun', models: ['sun'] };
    await gateway.store.updateToken(id, { policy: changed }, Date.now());
    const second = await gateway.post(key, DOCUMENTS);

    expect([first.body.model, nobody.status, second.body.model]).toEqual(['moon', 503, 'sun']);
  });

  it('does not answer for a key that was deleted since', async () => {
    const { key, id } = await gateway.createKey({ policy: { models: ['sun'] } });
    const ask = () => gateway.post(key, { ...DOCUMENTS, model: 'moon' });

    const refused = await ask();
    await gateway.store.deleteToken(id);
    const unknown = await ask();

    expect([refused.status, unknown.status]).toEqual([403, 401]);
  });
});
