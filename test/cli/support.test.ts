import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { runCli } from '../../src/cli/program.js';
import { createAccount } from '../support/accounts.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

/** Whatever the settings may keep secret, each by a value that is found nowhere else. */
const SECRETS = {
  apiKey: 'sk-provider-0123456789abcdef0123',
  secondKey: 'plain-upstream-key-one',
  constant: 'constant-of-the-body',
  anonymous: 'anonymous-callers-key-1',
  aws: 'key-of-an-aws-client-1',
  metrics: 'metrics-token-of-ours',
  smtp: 'smtp-pass%2Fword-1',
  webhook: 'webhook-secret-of-ours',
  webhookQuery: 'token-in-a-webhook-url',
  root: 'a root passphrase 77',
  encryption: 'encryption-key-of-all',
  client: 'secret-of-the-oidc-client',
};

const settings = {
  server: { public_url: 'https://rerank.example.com' },
  store: { encryption_key: SECRETS.encryption },
  root: { password: SECRETS.root },
  metrics: { token: SECRETS.metrics },
  mail: { smtp_url: `smtp://user:${SECRETS.smtp}@mail.example.com` },
  alerts: {
    webhook_url: `https://hooks.example.com/in?t=${SECRETS.webhookQuery}`,
    webhook_secret: SECRETS.webhook,
  },
  oidc: { issuer: 'https://id.example.com', client_id: 'gw', client_secret: SECRETS.client },
  callers: {
    anonymous: { addresses: ['192.0.2.7'], key: SECRETS.anonymous },
    aws_keys: { AKIAEXAMPLE: SECRETS.aws },
  },
  channels: [
    { name: 'house', provider: 'local', models: ['local'] },
    {
      name: `voyage ${decodeURIComponent(SECRETS.smtp)}`,
      provider: 'voyage',
      models: ['rerank-2'],
      api_keys: [SECRETS.apiKey],
    },
    // A mistake that people make.
    {
      name: `jina ${SECRETS.secondKey}`,
      provider: 'jina',
      models: ['j'],
      api_key: SECRETS.secondKey,
    },
  ],
};

const folder = mkdtempSync(join(tmpdir(), 'support-'));
const config = join(folder, 'gateway.yaml');
let gateway: TestGateway;

beforeAll(async () => {
  writeFileSync(config, JSON.stringify(settings));
  gateway = await startGateway(settings);
});
afterAll(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

async function bundle(...args: string[]): Promise<string> {
  let said = '';
  const { token } = await createAccount(gateway.store, { role: 10 });
  const code = await runCli(['support-bundle', ...args], {
    env: {
      ...{ CONFIG: config, DATA_DIR: folder, XDG_CONFIG_HOME: folder },
      ...{ RERANK_GATEWAY_URL: gateway.url, RERANK_GATEWAY_ACCESS_TOKEN: token },
    },
    user: 'alice',
    now: Date.now,
    writeOut: (text) => (said += text),
    writeError: (text) => (said += text),
    ask: undefined,
    readInput: () => Promise.resolve(''),
  });
  if (code !== 0) throw new Error(said);
  return said;
}

it('has settings, channels, nodes, failures and metrics, and no secret of them', async () => {
  const { key } = await gateway.createKey();
  await gateway.post(key, { model: 'local', query: 'q', documents: ['d'] });
  await gateway.post(key, { model: `unknown ${SECRETS.apiKey}`, query: 'q', documents: ['d'] });
  const file = join(folder, 'bundle.json');

  await bundle('--out', file);

  const text = readFileSync(file, 'utf8');
  for (const [name, secret] of Object.entries(SECRETS)) {
    for (const form of [secret, decodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]) {
      expect([name, text.includes(form)]).toEqual([name, false]);
    }
  }
  expect(text).not.toContain(key);
  const found = JSON.parse(text) as Record<string, object>;
  expect(found.program).toMatchObject({ platform: process.platform });
  expect(found.settings).toMatchObject({ oidc: { client_id: 'gw', client_secret: '[secret]' } });
  expect(found.channels).toMatchObject({ total: 3 });
  expect(found.nodes).toMatchObject({ nodes: [{ standing: 'current' }] });
  expect(found.metrics).toEqual(expect.stringContaining('# HELP'));
  expect(Object.values(found).filter((part) => 'unavailable' in Object(part))).toEqual([]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it('says of each part that cannot be had why not, and overwrites no file', async () => {
  const file = join(folder, 'broken.json');
  const mail = { smtp_url: 'smtp://user:100%25%@mail.example.com' };
  writeFileSync(config, JSON.stringify({ ...settings, mail, metrics: { token: 'another one' } }));

  await bundle('--out', file);

  const { metrics } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  expect(metrics).toEqual({ unavailable: '/metrics answers with status 401.' });
  await expect(bundle('--out', file)).rejects.toThrow(
    `${file} exists: name a new file with --out.`,
  );
});
