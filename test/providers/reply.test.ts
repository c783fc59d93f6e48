import { describe, expect, it } from '@jest/globals';
import { Json } from '../../src/core/json.js';
import { documentsIn } from '../support/documents.js';
import { cohere } from '../../src/providers/cohere.js';
import { readRows } from '../../src/providers/dialects.js';
import { withoutLongTexts } from '../../src/bytes/index.js';
import type { UpstreamCall } from '../../src/providers/provider.js';
import {
  MESSAGE_BYTES,
  readErrorMessage,
  readReply,
  type RawReply,
} from '../../src/providers/reply.js';

const MAX_MS = 1_000;

/** In time of this process alone: whatever else the machine does counts for nothing. */
function timed(read: () => string): { message: string; ms: number } {
  const before = process.cpuUsage();
  const message = read();
  const { user, system } = process.cpuUsage(before);
  return { message, ms: (user + system) / 1_000 };
}

describe('the message of an error reply', () => {
  it.each([
    ['<h1>502</h1> <style>p { x }</style>Bad gateway', '502 Bad gateway'],
    ['the length must be < 512 tokens', 'the length must be < 512 tokens'],
    ['<html><script>let a = 1;', ''],
    ['connect fd00::12:8080 refused', 'connect [address] refused'],
    ['worker gpu01:8000 [fd00::12]:80', 'worker [address] [address]'],
    ['host gpu01.mycompany.com:8000 down', 'host [address] down'],
    ['no model at 12:30:45, see line 3:7', 'no model at 12:30:45, see line 3:7'],
    ['api key AIzaSyA-1234567890abcdefghijk', 'api key [secret]'],
    ['token hf_abcdefghijklmnopqrstuv', 'token [secret]'],
    ['password=hunter2 is wrong', 'password=[secret] is wrong'],
    ['Authorization: Basic abcdefgh==', 'Authorization: Basic [secret]'],
    ['error code: 1234', 'error code: 1234'],
    ['[error] no such model', '[error] no such model'],
    ['{"results":[{"document":{"text":"a secret', ''],
    ['\ufeff [ {"text": "a secret"', ''],
    ['["a secret', ''],
  ])('of the page %s is its text', (text, message) => {
    expect(readErrorMessage({ json: undefined, text })).toBe(message);
  });

  it.each([
    ['brackets that never close', ' <'.repeat(200_000)],
    ['scripts that never end', '<script'.repeat(50_000)],
    ['a word as long as the reply', 'a.'.repeat(200_000)],
  ])('does not take long to find in %s', (_what, text) => {
    const { message, ms } = timed(() => readErrorMessage({ json: undefined, text }));

    expect(message.length).toBeLessThanOrEqual(300);
    expect(ms).toBeLessThan(MAX_MS);
  });

  it.each([
    [300, 300, 'a'],
    [301, 300, '…'],
  ])('of %d characters has %d', (characters, most, last) => {
    const text = 'a '.repeat(200).slice(0, characters - 1) + 'a';
    const message = readErrorMessage({ json: undefined, text });

    expect([message.length <= most, message.at(-1)]).toEqual([true, last]);
  });

  it('is empty if lists are nested without end', () => {
    const text = '['.repeat(50_000) + ']'.repeat(50_000);

    expect(readErrorMessage({ json: new Json(JSON.parse(text)), text })).toBe('');
  });

  it('of a hundred thousand mistakes is made from the first', () => {
    const detail = Array.from({ length: 100_000 }, () => ({ loc: ['body', 0], msg: 'no' }));

    const { message, ms } = timed(() => readErrorMessage({ json: new Json({ detail }), text: '' }));

    expect(message).toMatch(/^body\.0: no; body\.0: no/);
    expect(ms).toBeLessThan(MAX_MS);
  });
});

describe('the rows of a reply', () => {
  it.each([
    ['never', [1, Number.NaN, Number.NaN]],
    ['null', [1, undefined, Number.NaN]],
    ['absent', [1, undefined, undefined]],
  ] as const)('have marks for scores that are not there: %s', (unscored, scores) => {
    const list = new Json([{ i: 0, s: '1' }, { i: 1, s: null }, { i: 2 }]);

    expect(readRows(list, 'i', 's', unscored).map(({ score }) => score)).toEqual(scores);
  });

  const call: UpstreamCall = {
    model: 'm',
    query: 'q',
    documents: documentsIn('["a","b"]'),
    topN: 2,
    options: {},
    settings: {},
  };
  const rows = '[{"index":1,"relevance_score":0.5},{"index":0,"relevance_score":0.25}]';
  const read = (text: string) => {
    const bytes = Buffer.from(text);
    return readReply(cohere, call, { status: 200, headers: {}, text, bytes }, 0);
  };

  it('are handed on as they came only where they are best first', () => {
    const written = (text: string) => {
      const reading = read(text);
      return reading.kind === 'ranking' ? reading.written?.kind : undefined;
    };
    const worstFirst = '[{"index":0,"relevance_score":0.25},{"index":1,"relevance_score":0.5}]';

    expect(written(`{"results":${rows}}`)).toBe('rows');
    expect(written(`{"results":${worstFirst}}`)).toBe('scores');
  });

  it.each([429, 500, 503])(
    'are none with the status %i, which may say when to ask again',
    (status) => {
      const raw = { status, headers: { 'retry-after': '7' }, text: '{}' };

      expect(readReply(cohere, call, raw, 0)).toMatchObject({ failure: { retryAfterMs: 7_000 } });
    },
  );

  it.each([200, 201])('are a ranking with the status %i', (status) => {
    const text = `{"results":${rows}}`;

    expect(readReply(cohere, call, { status, headers: {}, text }, 0).kind).toBe('ranking');
  });

  it.each([202, 204, 206])(
    'are none with the status %i, which says that there is none yet',
    (status) => {
      const text = `{"results":${rows}}`;

      expect(readReply(cohere, call, { status, headers: {}, text }, 0)).toMatchObject({
        kind: 'failure',
        failure: { kind: 'invalid', status },
      });
    },
  );

  it.each([
    ['characters beyond ASCII', `{"id":"ü","results":${rows}}`],
    ['much around them', `{"id":"${'x'.repeat(100_000)}","results":${rows}}`],
  ])('are read beside %s', (_what, text) => {
    const reading = read(text);

    expect(reading.kind === 'ranking' && reading.ranking.rows).toEqual([
      { index: 1, score: 0.5 },
      { index: 0, score: 0.25 },
    ]);
  });

  it.each([
    [
      'lists in lists without end',
      `{"results":${rows},"x":${'['.repeat(40_000)}${']'.repeat(40_000)}}`,
    ],
    ['more values than any ranking has', `{"results":${rows},"x":[${'{},'.repeat(40_000)}{}]}`],
  ])('are not looked for beside %s', (_what, text) => {
    expect(read(text)).toMatchObject({ kind: 'failure', failure: { kind: 'invalid' } });
  });
});

describe('a large reply', () => {
  const documents = documentsIn('["a", "b", "c"]');
  const call: UpstreamCall = {
    ...{ model: 'm', query: 'q', documents, topN: 3, options: {}, settings: {} },
  };
  const rows = (more: (index: number) => object) =>
    [2, 0, 1].map((index) => ({ index, relevance_score: 0.5 - index / 10, ...more(index) }));
  const long = 'Keys are "rotated";\n每九十天 '.repeat(40_000);

  function rawOf(text: string, status = 200): RawReply {
    return { status, headers: {}, text, bytes: Buffer.from(text) };
  }

  it.each([
    [
      'with the documents in its rows',
      JSON.stringify({ results: rows(() => ({ document: { text: long } })) }),
    ],
    [
      'with rows as the contract writes them',
      `${JSON.stringify({ results: rows(() => ({})) })}${' '.repeat(2_000_000)}`,
    ],
    [
      'behind a byte-order mark',
      `\ufeff${JSON.stringify({ results: rows(() => ({ document: long })) })}`,
    ],
    ['that is cut off', JSON.stringify({ results: rows(() => ({ document: long })) }).slice(0, -1)],
    ['that is nested without end', `{"results":${'['.repeat(1_100_000)}`],
    ['that is a page', `<html>${long.repeat(2)}</html>`],
    [
      'with an error in it',
      JSON.stringify({ error: { message: 'no such model' }, more: long.repeat(2) }),
    ],
  ])('%s reads the same without the texts in it', async (_what, text) => {
    const raw = rawOf(text);
    const short = await withoutLongTexts(Buffer.from(text));

    const reading = readReply(cohere, call, rawOf(short.toString()), 0);
    // Scores are cut out of a text only if there is not much between them.
    expect({ ...reading, written: undefined }).toStrictEqual({
      ...readReply(cohere, call, raw, 0),
      written: undefined,
    });
  });

  it.each([
    ['a page', 502, `<html><p>The upstream is away.</p>${'<p>word</p>'.repeat(200_000)}`],
    ['a page for a ranking', 200, `<html><p>No ranking.</p>${'<p>word</p>'.repeat(200_000)}`],
    ['a long message', 500, JSON.stringify({ error: { message: 'word, '.repeat(400_000) } })],
    ['a long message of quotes', 400, JSON.stringify({ message: '"\\'.repeat(400_000) })],
    [
      'a long message in a list',
      422,
      JSON.stringify({ errors: [{ msg: 'word '.repeat(400_000) }] }),
    ],
    [
      'a mistake with what was sent',
      422,
      JSON.stringify({
        detail: [
          { loc: ['body', 'top_n'], msg: 'not a number', input: ['word '.repeat(400_000)] },
          { msg: 'a word '.repeat(20_000) },
        ],
      }),
    ],
  ])('is told from its beginning, and reads the same: %s', async (_name, status, text) => {
    const short = await withoutLongTexts(Buffer.from(text), MESSAGE_BYTES);

    expect(readReply(cohere, call, rawOf(short.toString(), status), 0)).toStrictEqual(
      readReply(cohere, call, rawOf(text, status), 0),
    );
  });
});
