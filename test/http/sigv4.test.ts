import { createHash, createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import aws4 from 'aws4';
import { readSignature, signatureFault, type SignedRequest } from '../../src/http/sigv4.js';

const SECRET = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const AT = Date.UTC(2015, 7, 30, 12, 36);
const HOST = { host: 'example.amazonaws.com', 'x-amz-date': '20150830T123600Z' };

const authorization = (signed: string, signature: string) =>
  `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${signed}, Signature=${signature}`;

interface Vector {
  readonly request: SignedRequest;
  readonly signed: string;
  readonly signature: string;
  readonly body?: string;
}

/** From the test suite that AWS publishes for Signature Version 4. */
const VECTORS: Readonly<Record<string, Vector>> = {
  'get-vanilla': {
    request: { method: 'GET', target: '/', headers: HOST },
    signed: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  'get-relative': {
    request: { method: 'GET', target: '/example/..', headers: HOST },
    signed: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  'get-slash': {
    request: { method: 'GET', target: '//', headers: HOST },
    signed: 'host;x-amz-date',
    signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  },
  'post-vanilla': {
    request: { method: 'POST', target: '/', headers: HOST },
    signed: 'host;x-amz-date',
    signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  },
  'get-vanilla-query-order-key-case': {
    request: { method: 'GET', target: '/?Param2=value2&Param1=value1', headers: HOST },
    signed: 'host;x-amz-date',
    signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  },
  'post-x-www-form-urlencoded': {
    request: {
      method: 'POST',
      target: '/',
      headers: { ...HOST, 'content-type': 'application/x-www-form-urlencoded' },
    },
    signed: 'content-type;host;x-amz-date',
    signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    body: 'Param1=value1',
  },
};

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

function faultOf({ request, signed, signature, body = '' }: Vector, nowMs = AT, secret = SECRET) {
  const read = readSignature(authorization(signed, signature));
  if (read === undefined) throw new Error('the header was not read');
  return signatureFault(request, read, hashOf(body), secret, nowMs);
}

describe('Signature Version 4', () => {
  it.each(Object.entries(VECTORS))('takes the published %s', (_name, vector) => {
    expect(faultOf(vector)).toBeUndefined();
  });

  it.each(Object.entries(VECTORS))('refuses %s with anything changed', (_name, vector) => {
    const { request } = vector;
    const headers = { ...request.headers, host: 'another.example' };

    expect(faultOf({ ...vector, body: 'other' })).toBe('mismatch');
    expect(faultOf({ ...vector, request: { ...request, target: '/other' } })).toBe('mismatch');
    expect(faultOf({ ...vector, request: { ...request, method: 'PUT' } })).toBe('mismatch');
    expect(faultOf({ ...vector, request: { ...request, headers } })).toBe('mismatch');
    expect(faultOf(vector, AT, 'other')).toBe('mismatch');
    expect(faultOf({ ...vector, signature: '0'.repeat(64) })).toBe('mismatch');
  });

  it('takes the authority of HTTP/2 for the host that a proxy makes of it', () => {
    const canonical = [
      ...['GET', '/', '', ':authority:example.amazonaws.com', 'x-amz-date:20150830T123600Z', ''],
      ...[':authority;x-amz-date', hashOf('')],
    ].join('\n');
    const scope = '20150830/us-east-1/service/aws4_request';
    const toSign = ['AWS4-HMAC-SHA256', '20150830T123600Z', scope, hashOf(canonical)].join('\n');
    const signature = [...scope.split('/'), toSign]
      .reduce<Buffer>(
        (key, part) => createHmac('sha256', key).update(part).digest(),
        Buffer.from(`AWS4${SECRET}`),
      )
      .toString('hex');
    const vector = {
      request: { method: 'GET', target: '/', headers: HOST },
      signed: ':authority;x-amz-date',
      signature,
    };
    const elsewhere = { ...HOST, host: 'other.amazonaws.com' };

    expect(faultOf(vector)).toBeUndefined();
    expect(faultOf({ ...vector, request: { ...vector.request, headers: elsewhere } })).toBe(
      'mismatch',
    );
  });

  it('allows five minutes between two clocks, and no more', () => {
    const [, vector] = Object.entries(VECTORS)[0] ?? [];
    if (vector === undefined) throw new Error('there is none');

    expect(faultOf(vector, AT + 300_000)).toBeUndefined();
    expect(faultOf(vector, AT - 300_000)).toBeUndefined();
    expect(faultOf(vector, AT + 300_001)).toBe('expired');
    expect(faultOf(vector, AT - 300_001)).toBe('expired');
  });

  it('insists on a signed host and date, and on the day of the scope', () => {
    const vector = VECTORS['get-vanilla'];
    if (vector === undefined) throw new Error('there is none');
    const { request } = vector;
    const dated = (date: string) => ({
      ...vector,
      request: { ...request, headers: { ...request.headers, 'x-amz-date': date } },
    });

    expect(faultOf({ ...vector, signed: 'x-amz-date' })).toBe('incomplete');
    expect(faultOf({ ...vector, signed: 'host' })).toBe('incomplete');
    expect(faultOf(dated('20150831T123600Z'))).toBe('incomplete');
    expect(faultOf(dated('yesterday'))).toBe('incomplete');
  });

  it('compares the hash that a client names with that of the body', () => {
    const vector = VECTORS['post-vanilla'];
    if (vector === undefined) throw new Error('there is none');
    const headers = { ...vector.request.headers, 'x-amz-content-sha256': 'f'.repeat(64) };

    expect(faultOf({ ...vector, request: { ...vector.request, headers } })).toBe('mismatch');
  });

  it('accepts what another implementation signs, encoded paths included', () => {
    const body = '{"query":"q","documents":["a"]}';
    for (const path of [
      '/rerank',
      '/model/cohere.rerank-v3-5%3A0/invoke',
      '/a%20b?x=%7E&a=1%2F2',
      '/rerank?x=2&x=1',
    ]) {
      const signed = aws4.sign(
        {
          method: 'POST',
          host: 'localhost:8080',
          path,
          service: 'bedrock',
          region: 'eu-west-1',
          headers: { 'Content-Type': 'application/json' },
          body,
        },
        { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET },
      );
      const headers = Object.fromEntries(
        Object.entries(signed.headers ?? {}).map(([name, value]) => [
          name.toLowerCase(),
          String(value),
        ]),
      );
      const read = readSignature(headers.authorization);
      if (read === undefined) throw new Error('the header was not read');
      const request = { method: 'POST', target: path, headers };

      expect(signatureFault(request, read, hashOf(body), SECRET, Date.now())).toBeUndefined();
      expect(signatureFault(request, read, hashOf('{}'), SECRET, Date.now())).toBe('mismatch');
    }
  });

  it.each([
    undefined,
    '',
    'Bearer sk-1',
    'AWS4-HMAC-SHA256 Credential=a/b',
    authorization('host', 'xyz'),
  ])('does not read %s', (header) => {
    expect(readSignature(header)).toBeUndefined();
  });
});
