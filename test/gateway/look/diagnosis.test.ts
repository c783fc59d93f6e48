import { describe, expect, it } from '@jest/globals';
import type { Channel } from '../../../src/core/channel.js';
import type { UpstreamFailure } from '../../../src/core/retry.js';
import { Secret } from '../../../src/core/secret.js';
import { diagnose, type Sighting } from '../../../src/gateway/look/diagnosis.js';
import { TransportError, type TransportFault } from '../../../src/gateway/transport/transport.js';
import { MODEL, offer } from '../../support/offers.js';

type Kind = UpstreamFailure['kind'];

interface Seen {
  readonly kind?: Kind;
  readonly says?: string;
  readonly sighting?: Partial<Sighting>;
  readonly channel?: Partial<Channel>;
}

/** What is said of a call to a server that was reached and did not answer, changed as the test says. */
function told({ kind = 'transient', says = '', sighting = {}, channel = {} }: Seen) {
  const failure = { kind, status: sighting.reply?.status, message: says };
  const seen = {
    askedForToken: false,
    url: 'http://server.test/rerank',
    reply: undefined,
    error: undefined,
    ...sighting,
  };
  return diagnose(failure, seen, offer(1, channel).route, MODEL);
}

/** What is said of a reply. */
function toldOf(status: number, kind: Kind, says: string, text = '{}', more: Seen = {}) {
  return told({ ...more, kind, says, sighting: { reply: { status, headers: {}, text } } });
}

/** What is said of a call that failed on the way, for a cause with this code. */
function toldOfFault(fault: TransportFault, code?: string, more: Seen = {}) {
  const cause = code === undefined ? undefined : Object.assign(new Error('cause'), { code });
  const error = new TransportError(fault, 'the words of the fault', undefined, cause);
  return told({ ...more, sighting: { ...more.sighting, error } });
}

const says = (code: string, message: RegExp) => ({
  code,
  message: expect.stringMatching(message) as unknown,
});

const KEY: Partial<Channel> = { credentials: { apiKey: new Secret('k') } };
const FOR_TOKEN: Partial<Sighting> = { askedForToken: true, url: undefined };

describe('a reply', () => {
  it.each<[number, Kind, string, string, RegExp]>([
    [300, 'invalid', '', 'redirected', /redirects elsewhere \(300\)/],
    [399, 'invalid', '', 'redirected', /redirects elsewhere \(399\)/],
    [400, 'rejected', 'too long', 'refused', /refuses the request \(400\)\. It says: too long$/],
    [400, 'misconfigured', 'No connected db.', 'wrong_key', /key.*\(400\).*No connected db\.$/],
    [400, 'rejected', 'API key not valid.', 'wrong_key', /\(400\).*It says: API key not valid/],
    [401, 'misconfigured', 'no such model', 'wrong_key', /asks for a key.*It says: no such model$/],
    [402, 'misconfigured', 'top up', 'no_credit', /no credit left \(402\)\. It says: top up$/],
    [403, 'misconfigured', 'denied', 'wrong_key', /\(403\)\. It says: denied$/],
    [403, 'misconfigured', 'model is closed', 'unknown_model', /does not serve "m"/],
    [404, 'misconfigured', 'gone', 'wrong_path', /no such path \(404\).*It says: gone$/],
    [404, 'misconfigured', 'no such model', 'unknown_model', /\(404\).*It says: no such model$/],
    [405, 'misconfigured', 'POST', 'wrong_path', /no such path \(405\)/],
    [418, 'caller', 'a teapot', 'refused', /refuses the request \(418\)/],
    [422, 'rejected', 'Models: a, b', 'unknown_model', /does not serve "m"/],
    [501, 'misconfigured', 'not here', 'refused', /refuses the request \(501\)/],
    [429, 'busy', 'slow down', 'busy', /limits this key \(429\).*It says: slow down$/],
    [200, 'invalid', 'no rows', 'not_a_ranking', /reply \(200\).*"tei" sends.*It says: no rows$/],
    [504, 'timeout', 'late', 'timeout', /itself gave up \(504\)\. It says: late$/],
    [413, 'limit', 'big', 'refused', /Two short documents are too much.*\(413\).*It says: big$/],
    [500, 'transient', 'oops', 'upstream_fault', /failed \(500\).*It says: oops$/],
  ])('of status %i that is %s and says “%s” is %s', (status, kind, words, code, message) => {
    expect(toldOf(status, kind, words)).toEqual(says(code, message));
  });

  it.each([
    [504, 'timeout' as const, 'timeout', /gave up waiting \(504\)/],
    [502, 'transient' as const, 'upstream_fault', /in place of the server \(502\)/],
    [503, 'busy' as const, 'upstream_fault', /in place of the server \(503\)/],
  ])('of status %i in a page is of a proxy', (status, kind, code, message) => {
    const page = '<html><h1>The server is late</h1></html>';

    expect(toldOf(status, kind, 'The server is late', page)).toEqual(says(code, message));
  });

  it('to a channel with a key that is refused blames the key', () => {
    const { message } = toldOf(401, 'misconfigured', '', '{}', { channel: KEY });

    expect(message).toMatch(/refuses the channel's credentials \(401\)\. Check that the key/);
  });

  it('that names the model as the upstream knows it is about the model', () => {
    const channel = { models: { [MODEL]: 'bge-large' } };
    const of = (words: string) => toldOf(400, 'rejected', words, '{}', { channel });

    expect(of('bge-large is not loaded')).toEqual(says('unknown_model', /serve "bge-large"/));
    expect(of('a remodelled house')).toMatchObject({ code: 'refused' });
  });

  it('without words ends with what to check', () => {
    expect(toldOf(500, 'transient', '').message).toBe('The server failed (500). Look at its log.');
  });

  it.each(['a text', '"a lone string"', 'null', ''])(
    'of which the body is no JSON object is not quoted: %s',
    (text) => {
      expect(toldOf(500, 'transient', 'payroll', text).message).not.toContain('payroll');
    },
  );
});

describe('a web page', () => {
  const PAGE = ' <!DOCTYPE html><p>no such model</p>';
  const toldOfPage = (status: number, text = PAGE) =>
    toldOf(status, 'misconfigured', 'no such model', text);

  it.each([200, 401, 403, 500])('of status %i leads to a site instead of the API', (status) => {
    expect(toldOfPage(status)).toEqual(says('web_page', new RegExp(`instead.*\\(${status}\\)`)));
  });

  it.each([404, 405])('of status %i has a wrong path, whatever it says', (status) => {
    expect(toldOfPage(status)).toEqual(says('wrong_path', /started for reranking\.$/));
  });

  it('is known by its beginning', () => {
    expect(toldOfPage(500, '<html>')).toMatchObject({ code: 'web_page' });
    expect(toldOfPage(500, '{"page":"<html>"}')).not.toMatchObject({ code: 'web_page' });
  });

  it('is known by its type, and not quoted although its body is JSON', () => {
    const reply = { status: 404, headers: { 'content-type': 'Text/HTML; charset=utf-8' } };
    const sighting = { reply: { ...reply, text: '{}' } };

    const problem = told({ kind: 'misconfigured', says: 'no such model', sighting });

    expect(problem).toEqual(says('wrong_path', /started for reranking\.$/));
  });
});

describe('a call that failed on the way', () => {
  it.each<[TransportFault, string | undefined, string, RegExp]>([
    ['forbidden', undefined, 'unusable', /was not called: the words of the fault\.$/],
    ['no_room', undefined, 'upstream_fault', /no room for more replies/],
    ['connect', 'ENOTFOUND', 'unknown_host', /does not resolve \(ENOTFOUND\)/],
    ['connect', 'EAI_AGAIN', 'unknown_host', /does not resolve \(EAI_AGAIN\)/],
    ['connect', 'EAI_NODATA', 'unknown_host', /does not resolve \(EAI_NODATA\)/],
    ['connect', 'ECONNREFUSED', 'unreachable', /cannot be reached \(ECONNREFUSED\)/],
    ['connect', undefined, 'unreachable', /cannot be reached \(the words of the fault\)/],
    ['connect', 'CERT_HAS_EXPIRED', 'tls', /certificate has expired: renew it/],
    ['connect', 'ERR_TLS_CERT_ALTNAME_INVALID', 'tls', /certificate is for another name/],
    ['connect', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls', /certificate is not trusted here/],
    ['connect', 'ERR_SSL_WRONG_VERSION_NUMBER', 'tls', /does not speak TLS there/],
    ['connect', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'tls', /does not speak TLS there/],
    ['connect', 'ERR_SSL_HTTP_REQUEST', 'tls', /does not speak TLS there/],
    ['connect', 'EPROTO', 'tls', /does not speak TLS there/],
    ['reset', 'ECONNRESET', 'connection_broken', /without an answer \(ECONNRESET\)/],
    ['reset', 'EPROTO', 'tls', /does not speak TLS there/],
    ['unreadable', 'HPE_INVALID_CONSTANT', 'not_a_ranking', /be read: the words of the fault\./],
    ['withdrawn', undefined, 'timeout', /was abandoned/],
    ['cancelled', undefined, 'timeout', /was abandoned/],
  ])('by %s (%s) is %s', (fault, cause, code, message) => {
    expect(toldOfFault(fault, cause)).toEqual(says(code, message));
  });

  it('for a cause without a code is told in the words of the cause', () => {
    const cause = new Error('the words of the cause');
    const error = new TransportError('reset', 'broken', undefined, cause);

    expect(told({ sighting: { error } }).message).toMatch(/\(the words of the cause\)/);
  });

  it('by its own time limit is told with that limit, or with that of each test', () => {
    const within = (timeoutMs?: number) =>
      toldOfFault('timeout', undefined, { channel: { timeoutMs } });

    expect(within(300)).toEqual(says('timeout', /^The server did not answer within 300 ms/));
    expect(within()).toEqual(says('timeout', /within 45000 ms/));
  });

  it('to the token endpoint is told of that, and of the server once that was asked', () => {
    const to = (sighting: Partial<Sighting>) => toldOfFault('reset', undefined, { sighting });

    expect(to(FOR_TOKEN).message).toMatch(/^The token endpoint closed/);
    expect(to({ askedForToken: true }).message).toMatch(/^The server closed/);
    expect(to({ url: undefined }).message).toMatch(/^The server closed/);
  });
});

describe('a token that was not given', () => {
  const toldOfToken = (kind: Kind, text?: string) => {
    const reply = text === undefined ? undefined : { status: 400, headers: {}, text };
    return told({ kind, says: 'its words', sighting: { ...FOR_TOKEN, reply } });
  };

  it('is due to the credentials, to the endpoint or to its silence', () => {
    expect(toldOfToken('misconfigured')).toEqual(says('wrong_key', /no token.*It says: its words/));
    expect(toldOfToken('invalid')).toEqual(says('upstream_fault', /token endpoint failed/));
    expect(toldOfToken('timeout')).toEqual(says('timeout', /^The token endpoint did not answer/));
  });

  it('is told without quoting what is not JSON', () => {
    expect(toldOfToken('invalid', '{}').message).toContain('its words');
    expect(toldOfToken('invalid', '<p>its words</p>').message).not.toContain('its words');
  });
});

describe('a ranking without a call', () => {
  it('could not be sent, or failed in the gateway', () => {
    const here = (kind: Kind) => told({ kind, says: 'why', sighting: { url: undefined } });

    expect(here('misconfigured')).toEqual(says('unusable', /^Nothing could be sent.*: why\.$/));
    expect(here('transient')).toEqual(says('upstream_fault', /^The ranking failed: why\.$/));
  });
});
