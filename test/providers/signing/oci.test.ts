import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Secret } from '../../../src/core/secret.js';
import { CredentialError } from '../../../src/providers/provider.js';
import { ociAuthorization, ociKey, signOci } from '../../../src/providers/signing/oci.js';
import { signedBody } from '../../support/signed-body.js';

/** The sample key that Oracle publishes with its description of request signatures; it opens nothing. */
const SAMPLE_KEY = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'MIICXgIBAAKBgQDCFENGw33yGihy92pDjZQhl0C36rPJj+CvfSC8+q28hxA161QF',
  'NUd13wuCTUcq0Qd2qsBe/2hFyc2DCJJg0h1L78+6Z4UMR7EOcpfdUE9Hf3m/hs+F',
  'UR45uBJeDK1HSFHD8bHKD6kv8FPGfJTotc+2xjJwoYi+1hqp1fIekaxsyQIDAQAB',
  'AoGBAJR8ZkCUvx5kzv+utdl7T5MnordT1TvoXXJGXK7ZZ+UuvMNUCdN2QPc4sBiA',
  'QWvLw1cSKt5DsKZ8UETpYPy8pPYnnDEz2dDYiaew9+xEpubyeW2oH4Zx71wqBtOK',
  'kqwrXa/pzdpiucRRjk6vE6YY7EBBs/g7uanVpGibOVAEsqH1AkEA7DkjVH28WDUg',
  'f1nqvfn2Kj6CT7nIcE3jGJsZZ7zlZmBmHFDONMLUrXR/Zm3pR5m0tCmBqa5RK95u',
  '412jt1dPIwJBANJT3v8pnkth48bQo/fKel6uEYyboRtA5/uHuHkZ6FQF7OUkGogc',
  'mSJluOdc5t6hI1VsLn0QZEjQZMEOWr+wKSMCQQCC4kXJEsHAve77oP6HtG/IiEn7',
  'kpyUXRNvFsDE0czpJJBvL/aRFUJxuRK91jhjC68sA7NsKMGg5OXb5I5Jj36xAkEA',
  'gIT7aFOYBFwGgQAQkWNKLvySgKbAZRTeLBacpHMuQdl1DfdntvAyqpAZ0lY0RKmW',
  'G6aFKaqQfOXKCyWoUiVknQJAXrlgySFci/2ueKlIE1QqIiLSZ8V8OlpFLRnb1pzI',
  '7U1yQXnTAEFYM560yJlzUpOb1V4cScGd365tiSMvxLOvTA==',
  '-----END RSA PRIVATE KEY-----',
].join('\n');

const KEY_ID =
  'ocid1.tenancy.oc1..aaaaaaaaba3pv6wkcr4jqae5f15p2b2m2yt2j6rx32uzr4h25vqstifsfdsq/ocid1.user.oc1..aaaaaaaat5nvwcna5j6aqzjcaty5eqbb6qt2jvpkanghtgdaqedqw3rynjq/20:3b:97:13:55:1c:5b:0d:d3:37:d8:50:4e:c5:3a:34';

const SAMPLE_BODY = `{
    "compartmentId": "ocid1.compartment.oc1..aaaaaaaam3we6vgnherjq5q2idnccdflvjsnog7mlr6rtdb25gilchfeyjxa",
    "instanceId": "ocid1.instance.oc1.phx.abuw4ljrlsfiqw6vzzxb43vyypt4pkodawglp3wqxjqofakrwvou52gb6s5a",
    "volumeId": "ocid1.volume.oc1.phx.abyhqljrgvttnlx73nmrwfaux7kcvzfs3s66izvxf2h4lgvyndsdsnoiwr5q"
}`;

const key = { keyId: KEY_ID, privateKey: createPrivateKey(SAMPLE_KEY) };

describe('an OCI request signature', () => {
  it('is the one that Oracle publishes for a request with a body', () => {
    // The published date names the wrong day of the week, so it can only be signed as text.
    const authorization = ociAuthorization(
      [
        ['date', 'Thu, 05 Jan 2014 21:31:40 GMT'],
        ['(request-target)', 'post /20160918/volumeAttachments'],
        ['host', 'iaas.us-phoenix-1.oraclecloud.com'],
        ['content-length', '316'],
        ['content-type', 'application/json'],
        ['x-content-sha256', 'V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0='],
      ],
      key,
    );

    expect(authorization).toBe(
      `Signature version="1",keyId="${KEY_ID}",algorithm="rsa-sha256",headers="date (request-target) host content-length content-type x-content-sha256",signature="Mje8vIDPlwIHmD/cTDwRxE7HaAvBg16JnVcsuqaNRim23fFPgQfLoOOxae6WqKb1uPjYEl0qIdazWaBy/Ml8DRhqlocMwoSXv0fbukP8J5N80LCmzT/FFBvIvTB91XuXI3hYfP9Zt1l7S6ieVadHUfqBedWH0itrtPJBgKmrWso="`,
    );
  });

  it('covers the published body by its length and hash, and verifies with the public key', () => {
    const headers = signOci(
      {
        method: 'POST',
        url: new URL('https://iaas.us-phoenix-1.oraclecloud.com/20160918/volumeAttachments'),
        headers: { 'content-type': 'application/json' },
        ...signedBody(SAMPLE_BODY),
      },
      key,
      Date.parse('2014-01-05T21:31:40Z'),
    );

    expect(headers['x-content-sha256']).toBe('V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=');
    expect(headers.date).toBe('Sun, 05 Jan 2014 21:31:40 GMT');
    const signed = [
      'date: Sun, 05 Jan 2014 21:31:40 GMT',
      '(request-target): post /20160918/volumeAttachments',
      'host: iaas.us-phoenix-1.oraclecloud.com',
      'content-length: 316',
      'content-type: application/json',
      'x-content-sha256: V9Z20UJTvkvpJ50flBzKE32+6m2zJjweHpDMX/U4Uy0=',
    ].join('\n');
    const signature = /signature="([^"]+)"/.exec(headers.authorization ?? '')?.[1] ?? '';
    expect(
      verify(
        'sha256',
        Buffer.from(signed),
        createPublicKey(SAMPLE_KEY),
        Buffer.from(signature, 'base64'),
      ),
    ).toBe(true);
  });
});

describe('the key of a channel', () => {
  const settings = { tenancy: 'ten', user: 'usr', fingerprint: 'aa:bb' };

  it('is named by tenancy, user and fingerprint, and may have its line ends escaped', () => {
    const credentials = { privateKey: new Secret(SAMPLE_KEY.replaceAll('\n', '\\n')) };

    expect(ociKey({ credentials, settings }).keyId).toBe('ten/usr/aa:bb');
  });

  it('may be encrypted with a passphrase', () => {
    const pem = key.privateKey.export({
      ...({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc' } as const),
      passphrase: 'open sesame',
    });
    const privateKey = new Secret(pem.toString());
    const read = (passphrase: string) =>
      ociKey({ credentials: { privateKey, passphrase: new Secret(passphrase) }, settings });

    expect(read('open sesame').privateKey.equals(key.privateKey)).toBe(true);
    expect(() => read('another')).toThrow(CredentialError);
  });

  it('is named by the token of a session if there is one', () => {
    const credentials = {
      privateKey: new Secret(SAMPLE_KEY),
      securityToken: new Secret('session'),
    };

    expect(ociKey({ credentials, settings: {} }).keyId).toBe('ST$session');
  });

  it.each([
    ['has no owner', SAMPLE_KEY, {}, /tenancy/],
    ['is no key', 'not a key', settings, /not a readable private key/],
    ['is of another kind', ecKey(), settings, /must be an RSA key/],
  ])('that %s is refused without being quoted', (_name, pem, owner, message) => {
    const read = () => ociKey({ credentials: { privateKey: new Secret(pem) }, settings: owner });

    expect(read).toThrow(CredentialError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(pem);
  });
});

function ecKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}
