import { expect, it } from '@jest/globals';
import { createCallers } from '../../src/assembly/callers.js';
import { loadConfig } from '../../src/config/load-config.js';
import { TokenCache } from '../../src/gateway/token-cache.js';
import { createLogger } from '../../src/telemetry/log.js';
import { startGateway } from '../support/gateway.js';

it('a start names the keys in its settings that do not exist', async () => {
  const gateway = await startGateway({ channels: [] });
  try {
    const { key } = await gateway.createKey();
    const callers = {
      anonymous: { addresses: ['192.0.2.1'], key: 'sk-gone-anonymous' },
      aws_keys: { AKIDGONE: 'sk-gone-of-aws', AKIDTHERE: key },
    };
    const config = loadConfig({ env: {}, texts: [['gateway.yaml', JSON.stringify({ callers })]] });
    const credentials = new TokenCache({
      ...{ store: gateway.store, isEmptied: () => false, now: Date.now },
    });
    const log: { readonly level: string; readonly setting?: string }[] = [];
    const logger = createLogger('warn', {
      write: (line: string) => log.push(JSON.parse(line) as (typeof log)[number]),
    });
    const work: Promise<void>[] = [];

    createCallers(config, credentials, logger, Date.now, (_, ask) => void work.push(ask()));
    await Promise.all(work);

    const named = log.flatMap(({ setting }) => setting ?? []);
    expect(named).toEqual(['callers.anonymous.key', 'callers.aws_keys.AKIDGONE']);
  } finally {
    await gateway.close();
  }
});

it.each([
  ['https://Gateway.example:8443/base', 'gateway.example'],
  [undefined, undefined],
])('the host of the public address %s is %s, by name alone', (publicUrl, host) => {
  const { callers, server } = loadConfig({ env: {}, folder: 'none' });
  const config = { callers, server: { ...server, publicUrl } };
  const credentials = {} as TokenCache;

  const later = (): void => undefined;
  const { ownHost } = createCallers(config, credentials, createLogger('silent'), Date.now, later);

  expect(ownHost).toBe(host);
});
