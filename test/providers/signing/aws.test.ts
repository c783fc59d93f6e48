import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../../src/core/secret.js';
import { CredentialError, type Endpoint } from '../../../src/providers/provider.js';
import { signAws, signBedrock } from '../../../src/providers/signing/aws.js';
import { signedBody } from '../../support/signed-body.js';

/** The key, scope and time of the test suite that AWS publishes for Signature Version 4. */
const credentials = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const scope = { region: 'us-east-1', service: 'service' };
const T0 = Date.parse('2015-08-30T12:36:00Z');

function request(path: string, headers: Record<string, string> = {}, body = '') {
  return {
    method: 'POST' as const,
    url: new URL(`https://example.amazonaws.com${path}`),
    headers,
    ...signedBody(body),
  };
}

describe('signAws', () => {
  it('signs post-vanilla of the published suite', () => {
    expect(signAws(request('/'), credentials, scope, T0)).toEqual({
      'x-amz-date': '20150830T123600Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    });
  });

  it('signs post-vanilla-query of the published suite', () => {
    const { authorization } = signAws(request('/?Param1=value1'), credentials, scope, T0);

    expect(authorization).toContain(
      'Signature=28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11',
    );
  });

  it('signs the content type and body of post-x-www-form-urlencoded of the published suite', () => {
    const form = request(
      '/',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'Param1=value1',
    );

    expect(signAws(form, credentials, scope, T0).authorization).toContain(
      'SignedHeaders=content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    );
  });

  it('signs the session token as post-sts-header-before of the published suite', () => {
    const sessionToken =
      'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==';

    const headers = signAws(request('/'), { ...credentials, sessionToken }, scope, T0);

    expect(headers['x-amz-security-token']).toBe(sessionToken);
    expect(headers.authorization).toContain(
      'SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
    );
  });
});

describe('signBedrock', () => {
  it('refuses to sign without keys, naming the one that is missing', () => {
    const endpoint: Endpoint = {
      baseUrl: 'https://example.test',
      credentials: { accessKeyId: new Secret('AKIDEXAMPLE') },
      settings: { region: 'us-east-1' },
    };

    expect(() => signBedrock(request('/rerank'), endpoint, T0)).toThrow(
      new CredentialError('credentials.secret_access_key is missing'),
    );
  });
});
