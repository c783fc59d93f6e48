import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { jwtVerify, SignJWT } from 'jose';
import { Json, JsonShapeError } from '../../../src/core/json.js';
import { Secret } from '../../../src/core/secret.js';
import { azureFoundry } from '../../../src/providers/azure.js';
import { google } from '../../../src/providers/google.js';
import {
  CredentialError,
  type HttpProvider,
  type SettingValue,
  type TokenSource,
} from '../../../src/providers/provider.js';
import { channelMistakes, defaultSettings } from '../../../src/providers/settings.js';
import { watsonx, watsonxOnPrem } from '../../../src/providers/watsonx.js';

const T0 = Date.parse('2026-11-01T12:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const serviceAccount = {
  type: 'service_account',
  client_email: 'reranker@demo.iam.gserviceaccount.com',
  private_key: PEM,
  private_key_id: 'key-1',
};

function endpointOf(
  provider: HttpProvider,
  credentials: Readonly<Record<string, string>>,
  settings: Readonly<Record<string, SettingValue>> = {},
) {
  return {
    baseUrl: 'https://cluster.test:8443/base',
    credentials: Object.fromEntries(
      Object.entries(credentials).map(([name, value]) => [name, new Secret(value)]),
    ),
    settings: { ...defaultSettings(provider), ...settings },
  };
}

type TestEndpoint = ReturnType<typeof endpointOf>;

function sourceOf(provider: HttpProvider, endpoint: TestEndpoint): TokenSource {
  const source = provider.token?.(endpoint);
  if (source === undefined) throw new Error(`${provider.id} wants no token for this channel`);
  return source;
}

/** The request for a token, with its form fields read. */
async function asked(provider: HttpProvider, endpoint: TestEndpoint) {
  const request = await sourceOf(provider, endpoint).request(endpoint, T0);
  return { ...request, form: Object.fromEntries(new URLSearchParams(request.body ?? '')) };
}

function readBy(provider: HttpProvider, endpoint: TestEndpoint, reply: unknown) {
  return sourceOf(provider, endpoint).read(new Json(reply), T0);
}

describe('a token for Google', () => {
  it('is asked for with an assertion that the service account has signed', async () => {
    const endpoint = endpointOf(google, { credentialsJson: JSON.stringify(serviceAccount) });

    const { method, url, headers, form } = await asked(google, endpoint);

    expect({ method, url }).toEqual({ method: 'POST', url: 'https://oauth2.googleapis.com/token' });
    expect(headers['content-type']).toBe('application/x-www-form-urlencoded');
    expect(form.grant_type).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { payload, protectedHeader } = await jwtVerify(form.assertion ?? '', publicKey, {
      currentDate: new Date(T0),
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'key-1' });
    expect(payload).toEqual({
      iss: 'reranker@demo.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: 'https://oauth2.googleapis.com/token',
      iat: T0 / 1000,
      exp: T0 / 1000 + 3600,
    });
  });

  it('is asked for where the key says, or where the channel says instead', async () => {
    const credentialsJson = JSON.stringify({ ...serviceAccount, token_uri: 'https://key.test/t' });
    const byKey = endpointOf(google, { credentialsJson });
    const byChannel = endpointOf(google, { credentialsJson }, { tokenUrl: 'http://stub.test/t' });

    for (const [endpoint, address] of [
      [byKey, 'https://key.test/t'],
      [byChannel, 'http://stub.test/t'],
    ] as const) {
      const { url, form } = await asked(google, endpoint);
      const options = { currentDate: new Date(T0) };
      const { payload } = await jwtVerify(form.assertion ?? '', publicKey, options);
      // The assertion is for the address in the key, wherever it goes.
      expect([url, payload.aud]).toEqual([address, 'https://key.test/t']);
    }
  });

  it('is asked for with the refresh token of a user', async () => {
    const endpoint = endpointOf(google, {
      credentialsJson: JSON.stringify({
        type: 'authorized_user',
        client_id: 'client',
        client_secret: 'secret',
        refresh_token: 'refresh',
      }),
    });

    expect((await asked(google, endpoint)).form).toEqual({
      grant_type: 'refresh_token',
      client_id: 'client',
      client_secret: 'secret',
      refresh_token: 'refresh',
    });
  });

  it('comes from the metadata server if the channel has no key', async () => {
    const endpoint = endpointOf(google, {});

    expect(await asked(google, endpoint)).toMatchObject({
      method: 'GET',
      url: 'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/token',
      headers: { 'metadata-flavor': 'Google' },
      body: undefined,
    });
  });

  it('lives as long as the reply says', () => {
    const reply = { access_token: 'ya29.x', expires_in: 3599, token_type: 'Bearer' };

    expect(readBy(google, endpointOf(google, {}), reply)).toEqual({
      token: 'ya29.x',
      expiresAtMs: T0 + 3_599_000,
    });
  });

  it.each([
    ['is not JSON', '{oops', /is not JSON/],
    ['is of another kind', '{"type":"external_account"}', /service_account or authorized_user/],
    ['lacks a member', '{"type":"service_account"}', /client_email should be a string/],
  ])(
    'is not asked for with a key that %s, and the check of the channel says so',
    async (_name, credentialsJson, message) => {
      const endpoint = endpointOf(google, { credentialsJson }, { project: 'demo' });

      await expect(asked(google, endpoint)).rejects.toThrow(CredentialError);
      expect(channelMistakes(google, endpoint)).toEqual([expect.stringMatching(message)]);
    },
  );

  it('is not asked for with a private key that cannot be read, nor is the key quoted', async () => {
    const credentialsJson = JSON.stringify({ ...serviceAccount, private_key: 'MIIsecret' });

    const asking = asked(google, endpointOf(google, { credentialsJson }));

    await expect(asking).rejects.toThrow(
      /^private_key in credentials\.credentials_json is not a PKCS #8 key$/,
    );
  });
});

describe('a token for watsonx.ai', () => {
  const endpoint = endpointOf(watsonx, { apiKey: 'ibm-key' });

  it('is asked for with the API key', async () => {
    expect(await asked(watsonx, endpoint)).toMatchObject({
      method: 'POST',
      url: 'https://iam.cloud.ibm.com/identity/token',
      headers: { accept: 'application/json' },
      form: { grant_type: 'urn:ibm:params:oauth:grant-type:apikey', apikey: 'ibm-key' },
    });
  });

  it('ends when the reply says, by the clock or by its length', () => {
    const reply = { access_token: 'eyJ', refresh_token: 'not_supported', expires_in: 3600 };

    expect(readBy(watsonx, endpoint, { ...reply, expiration: T0 / 1000 + 3000 }).expiresAtMs).toBe(
      T0 + 3_000_000,
    );
    expect(readBy(watsonx, endpoint, reply).expiresAtMs).toBe(T0 + 3_600_000);
  });

  it('is missing from a reply that reports an error', () => {
    expect(() => readBy(watsonx, endpoint, { errorCode: 'BXNIM0415E' })).toThrow(JsonShapeError);
  });
});

describe('a token for watsonx.ai in a cluster', () => {
  const endpoint = endpointOf(watsonxOnPrem, { apiKey: 'cpd-key' }, { username: 'admin' });

  it('is asked for on the host of the channel', async () => {
    const { url, body } = await asked(watsonxOnPrem, endpoint);

    expect(url).toBe('https://cluster.test:8443/icp4d-api/v1/authorize');
    expect(JSON.parse(body ?? '')).toEqual({ username: 'admin', api_key: 'cpd-key' });
  });

  it('ends when it says itself', async () => {
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'RS256' })
      .setExpirationTime(T0 / 1000 + 43_200)
      .sign(privateKey);

    expect(readBy(watsonxOnPrem, endpoint, { token })).toEqual({
      token,
      expiresAtMs: T0 + 43_200_000,
    });
  });

  it('is renewed after ten minutes if it does not say when it ends', () => {
    const { expiresAtMs } = readBy(watsonxOnPrem, endpoint, { token: 'opaque' });

    expect(expiresAtMs).toBe(T0 + 600_000);
  });

  it('is not needed if user and key go with each request', () => {
    const settings = { username: 'admin', zenApiKey: true };
    const zen = endpointOf(watsonxOnPrem, { apiKey: 'cpd-key' }, settings);

    expect(watsonxOnPrem.token?.(zen)).toBeUndefined();
  });
});

describe('a token for Azure', () => {
  const settings = { tenant: 'contoso', clientId: 'app' };
  const endpoint = endpointOf(azureFoundry, { clientSecret: 'secret' }, settings);

  it('is asked for with the secret of the application', async () => {
    const { url, form } = await asked(azureFoundry, endpoint);

    expect(url).toBe('https://login.microsoftonline.com/contoso/oauth2/v2.0/token');
    expect(form).toEqual({
      grant_type: 'client_credentials',
      client_id: 'app',
      client_secret: 'secret',
      scope: 'https://cognitiveservices.azure.com/.default',
    });
  });

  it('is asked for elsewhere and for something else where the channel says', async () => {
    const own = {
      ...settings,
      tokenUrl: 'https://login.test/token',
      scope: 'https://ai.azure.com/.default',
    };
    const { url, form } = await asked(
      azureFoundry,
      endpointOf(azureFoundry, { clientSecret: 'secret' }, own),
    );

    expect({ url, scope: form.scope }).toEqual({
      url: 'https://login.test/token',
      scope: 'https://ai.azure.com/.default',
    });
  });

  it.each([{ apiKey: 'key' }, { apiKey: 'key', clientSecret: 'secret' }])(
    'is not needed if the channel has a key: %j',
    (credentials) => {
      expect(azureFoundry.token?.(endpointOf(azureFoundry, credentials, settings))).toBeUndefined();
    },
  );
});
