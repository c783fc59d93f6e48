import { expect, it } from '@jest/globals';
import { signTencent } from '../../../src/providers/signing/tencent.js';
import { signedBody } from '../../support/signed-body.js';

const credentials = {
  secretId: 'AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE',
  secretKey: 'Gu5t9xGARNpq86cd98joQYCN3EXAMPLE',
};

it('gives the signature of the example in the documentation of API 3.0', () => {
  const headers = signTencent(
    {
      method: 'POST',
      url: new URL('https://cvm.tencentcloudapi.com/'),
      headers: { 'content-type': 'application/json; charset=utf-8' },
      ...signedBody(
        '{"Limit": 1, "Filters": [{"Values": ["\\u672a\\u547d\\u540d"], "Name": "instance-name"}]}',
      ),
    },
    credentials,
    'cvm',
    1_551_113_065_000,
  );

  expect(headers).toEqual({
    authorization:
      'TC3-HMAC-SHA256 Credential=AKIDz8krbsJ5yKBZQpn74WFkmLPx3EXAMPLE/2019-02-25/cvm/tc3_request, SignedHeaders=content-type;host, Signature=72e494ea809ad7a8c8f7a4507b9bddcbaa8e581f516e8da2f66e2c5a96525168',
    'x-tc-timestamp': '1551113065',
  });
});

it('sends the token of temporary credentials', () => {
  const headers = signTencent(
    {
      method: 'POST',
      url: new URL('https://lkeap.tencentcloudapi.com/'),
      headers: {},
      ...signedBody('{}'),
    },
    { ...credentials, token: 'temporary' },
    'lkeap',
    1_551_113_065_999,
  );

  expect(headers['x-tc-token']).toBe('temporary');
  expect(headers['x-tc-timestamp']).toBe('1551113065');
});
