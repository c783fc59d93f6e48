import { describe, expect, it } from '@jest/globals';
import {
  addressMistake,
  isAddressOrRange,
  isAmbiguousRange,
  judgeUrl,
  otherAddressMistakes,
  urlMistake,
} from '../../src/management/addresses.js';
import { findProvider } from '../../src/providers/index.js';
import type { Provider } from '../../src/providers/provider.js';

const STRICT = { allowPrivateUpstreams: false, allowMetadataUpstreams: false };
const OPEN = { allowPrivateUpstreams: true, allowMetadataUpstreams: true };
const PRIVATE = expect.stringContaining('is private');
const METADATA = expect.stringContaining('metadata service');

function provider(id: string): Provider {
  const found = findProvider(id);
  if (found === undefined) throw new Error(`no provider ${id}`);
  return found;
}

describe('an address or a range', () => {
  it.each([
    ['192.0.2.1', true],
    ['10.0.0.0/8', true],
    ['2001:db8::1', true],
    ['2001:db8::/32', true],
    ['::ffff:10.0.0.0/104', true],
    ['::ffff:10.0.0.0/96', true],
    ['::ffff:10.0.0.0/95', false],
    ['10.1', false],
    ['010.0.0.1', false],
    ['10.0.0.0/33', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/8/8', false],
    ['localhost', false],
    ['', false],
  ])('is %j: %s', (text, expected) => {
    expect(isAddressOrRange(text)).toBe(expected);
  });

  it.each([
    ['::ffff:10.0.0.0/95', true],
    ['::ffff:10.0.0.0/96', false],
    ['::ffff:10.0.0.1', false],
    ['10.0.0.0/8', false],
    ['2001:db8::/32', false],
    ['not:an:address/8', false],
  ])('is ambiguous, %j: %s', (text, expected) => {
    expect(isAmbiguousRange(text)).toBe(expected);
  });
});

describe('a base URL', () => {
  it.each([
    ['https://rerank.example.com/v1', undefined],
    ['http://10.0.0.1:8080', undefined],
    ['rerank.example.com', 'must be a URL'],
    ['ftp://rerank.example.com', 'must begin with http:// or https://'],
    ['https://user@rerank.example.com', 'must not carry a user or password'],
    ['https://:secret@rerank.example.com', 'must not carry a user or password'],
    ['https://rerank.example.com/\r\nX: y', 'must be one line without control characters'],
    ['https://rerank.\texample.com', 'must be one line without control characters'],
    ['https://rerank.example.com/?key=1', 'must end with the path'],
    ['https://rerank.example.com/#top', 'must end with the path'],
  ])('%j: %s', (text, mistake) => {
    expect(urlMistake(text)).toEqual(
      mistake === undefined ? undefined : expect.stringContaining(mistake),
    );
  });
});

describe('where a URL leads', () => {
  it.each([
    ['https://rerank.example.com', undefined],
    ['https://8.8.8.8', undefined],
    ['http://localhost:8080', PRIVATE],
    ['http://a.localhost', PRIVATE],
    ['http://localhost.', PRIVATE],
    ['http://[::1]:8080', PRIVATE],
    ['http://2130706433', PRIVATE],
    ['http://metadata/', METADATA],
    ['http://metadata.google.internal', METADATA],
    ['http://metadata.google.internal.', METADATA],
    ['http://[fe80::1]', METADATA],
    ['http://169.254.169.254', METADATA],
    ['no URL', undefined],
  ])('%j is judged by its host', (url, mistake) => {
    expect(judgeUrl(url, STRICT)).toEqual(mistake);
    expect(judgeUrl(url, OPEN)).toBeUndefined();
  });
});

describe('the address of a channel', () => {
  it.each<[string, string | undefined, string, unknown]>([
    ['of a hosted provider may be left out', undefined, 'cohere', undefined],
    [
      'of a server that people run must be there',
      undefined,
      'tei',
      expect.stringContaining('is missing'),
    ],
    ['is judged', 'http://127.0.0.1', 'tei', PRIVATE],
    [
      'is not used by what ranks in the gateway',
      'https://x.test',
      'local',
      expect.stringContaining('is not used'),
    ],
    ['is not needed by what ranks in the gateway', undefined, 'local', undefined],
  ])('%s', (_what, baseUrl, id, mistake) => {
    expect(addressMistake(baseUrl, provider(id), {}, STRICT)).toEqual(mistake);
  });
});

describe('further addresses of a channel', () => {
  const shared = { ...provider('cohere') };
  const issuing: Provider = {
    ...shared,
    settings: { tokenUrl: { address: true }, region: {} },
    credentialAddresses: ({ credentials }: { credentials: Record<string, string> }) => ({
      keyFile: credentials.keyFile ?? '',
    }),
  } as unknown as Provider;
  const judge = (tokenUrl: unknown, keyFile: string, rules = STRICT) =>
    otherAddressMistakes(
      issuing,
      { settings: { tokenUrl, region: 'http://127.0.0.1' }, credentials: { keyFile } } as never,
      rules,
    );

  it('are judged in settings and inside credentials, and nowhere else', () => {
    expect(judge('https://a.test/token', 'https://b.test/token')).toEqual([]);
    expect(judge('', 'https://b.test/token')).toEqual([]);
    expect(judge('http://10.0.0.1', 'http://169.254.169.254/')).toEqual([
      expect.stringMatching(/^settings\.token_url is private/),
      expect.stringMatching(/^credentials\.key_file names an address that is link-local/),
    ]);
    expect(judge('http://10.0.0.1', 'http://169.254.169.254/', OPEN)).toEqual([]);
  });

  it('have to be web addresses', () => {
    expect(judge('file:///etc/passwd', 'no URL', OPEN)).toEqual([
      expect.stringContaining('settings.token_url must be a URL'),
      'credentials.key_file names an address that is not a URL',
    ]);
  });

  it('do not exist for what ranks in the gateway', () => {
    const local = { ...issuing, transport: 'process' } as unknown as Provider;

    expect(
      otherAddressMistakes(local, { settings: { tokenUrl: 'no URL' }, credentials: {} }, STRICT),
    ).toEqual([]);
  });
});
