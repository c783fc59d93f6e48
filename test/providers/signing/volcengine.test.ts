import { expect, it } from '@jest/globals';
import { signVolcengine } from '../../../src/providers/signing/volcengine.js';
import { signedBody } from '../../support/signed-body.js';

/** Keys and time of the example in the documentation of the signature. */
const credentials = {
  accessKeyId: 'AKLTMjI2ODVlYzI3ZGY1NGU4ZjhjYWRjMTlmNTM5OTZkYzE',
  secretAccessKey: 'TnpCak5XWXpZV1U0WkRaaE5ERmxaR0ZpTmpjeVkyUXlZek0wTWpJMU1qWQ==',
};
const scope = { region: 'cn-north-1', service: 'iam' };
const T0 = Date.parse('2020-12-30T08:18:05Z');
const EMPTY_HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

const example = {
  method: 'GET',
  url: new URL(
    'https://iam.volcengineapi.com/?Version=2018-01-01&Action=ListUsers&Offset=0&Limit=10',
  ),
  headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
  ...signedBody(''),
};

it('gives the signature of the example in the documentation, with the query in another order', () => {
  expect(signVolcengine(example, credentials, scope, T0)).toEqual({
    authorization:
      'HMAC-SHA256 Credential=AKLTMjI2ODVlYzI3ZGY1NGU4ZjhjYWRjMTlmNTM5OTZkYzE/20201230/cn-north-1/iam/request, SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=28eeabbbd726b87002e0fe58ad8c1c768e619b06e2646f35b6ad7ed029a6d8a7',
    'x-date': '20201230T081805Z',
    'x-content-sha256': EMPTY_HASH,
  });
});

it('signs the token of temporary credentials', () => {
  const signed = (sessionToken: string) =>
    signVolcengine(example, { ...credentials, sessionToken }, scope, T0);
  const headers = signed('temporary');

  expect(headers['x-security-token']).toBe('temporary');
  expect(headers.authorization).toContain(
    'SignedHeaders=content-type;host;x-content-sha256;x-date;x-security-token, ',
  );
  expect(signed('another').authorization).not.toBe(headers.authorization);
});
