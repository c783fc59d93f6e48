import { describe, expect, it } from '@jest/globals';
import { sentDocuments, textDocuments, type Documents } from '../../src/core/documents.js';
import { encodeJson, Json, type JsonFragment } from '../../src/core/json/json.js';
import { scanBody } from '../../src/core/json/scan.js';
import { cutToTokens } from '../../src/core/tokens.js';
import { embeddings } from '../../src/providers/embeddings/openai.js';
import { defineEmbeddings, type EmbeddingApi } from '../../src/providers/embeddings/rank.js';
import { readIndexed, readVector } from '../../src/providers/embeddings/vectors.js';
import type { PartCall, SettingValue, UpstreamCall } from '../../src/providers/provider.js';
import { fc } from '../support/property.js';

const api: EmbeddingApi = {
  body: (texts) => ({ input: texts.map(({ text }) => text) }),
  decode: (reply, texts) => ({
    embeddings: readIndexed(reply.field('data'), texts.length, (row) => [
      readVector(row.field('embedding')),
    ]),
    tokens: 1,
  }),
  batch: 3,
  mixes: true,
};

const http = { status: 200, headers: {}, json: undefined, text: '' };

/** The texts of each call, and the rows in the end; every text has a vector by its length. */
function ranked(
  own: Partial<EmbeddingApi>,
  documents: Documents,
  settings: Readonly<Record<string, SettingValue>> = {},
) {
  const { id, title, baseUrl, path, headers, exampleModels } = embeddings;
  const provider = defineEmbeddings(
    { ...api, ...own },
    { id, title, baseUrl, path, headers, exampleModels },
  );
  const call: UpstreamCall = {
    ...{ model: 'm', query: 'the query', documents, topN: documents.count, options: {}, settings },
  };
  const rounds = provider.rounds(call, { vectors: undefined, prompts: () => undefined });
  const parts: PartCall[] = [];
  const inputs: string[][] = [];
  for (;;) {
    const step = rounds.next();
    if (step.done === true) return { inputs, rows: step.value.rows, parts };
    for (const part of step.value) {
      const { input } = JSON.parse(encodeJson(part.body).toString()) as { input: string[] };
      inputs.push(input);
      parts.push(part);
      const data = input.map((text) => ({ embedding: [1, text.length] }));
      const reading = part.read(new Json({ data }), http);
      while (reading?.next().done === false);
    }
  }
}

/** The same texts as they lie in a body, with escapes at will. */
function sent(texts: readonly string[], isEscaped: boolean): Documents {
  let json = JSON.stringify({ documents: texts.map((text) => text.toWellFormed()) });
  if (isEscaped) {
    json = json.replaceAll(
      /[^ -~]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
  }
  const scanned = scanBody(Buffer.from(json));
  if (scanned === undefined) throw new Error('the body was not split');
  return sentDocuments(scanned);
}

/** The calls that are due, from whole texts: as many of them in one as fit. */
function inputsOf(
  { batchBytes = Infinity, textTokens, textCharacters }: Partial<EmbeddingApi>,
  prefix: string,
  texts: readonly string[],
): string[][] {
  const prepared = texts.map((text) => {
    const whole = (prefix + text).slice(0, textCharacters?.('m') ?? Infinity).toWellFormed();
    return cutToTokens(whole, textTokens?.default ?? Infinity);
  });
  const inputs: string[][] = [['the query']];
  let bytes = 'the query'.length;
  for (const text of new Set(prepared)) {
    const size = Buffer.byteLength(text);
    const last = inputs[inputs.length - 1] ?? [];
    if (last.length < 3 && bytes + size <= batchBytes) {
      last.push(text);
      bytes += size;
    } else {
      inputs.push([text]);
      bytes = size;
    }
  }
  return inputs;
}

const LIMITS: readonly Partial<EmbeddingApi>[] = [
  {},
  { batchBytes: 60 },
  { textTokens: { default: 30 } },
  { textTokens: { default: 30 }, batchBytes: 60 },
  { textCharacters: () => 20 },
  { textTokens: { default: 9 }, textCharacters: () => 20 },
];

describe('texts to embed', () => {
  it.each(LIMITS)('are cut, counted and sent as their strings would be: %j', (limits) => {
    const unit = fc.constantFrom(
      'a',
      ' ',
      'word ',
      '"',
      '\\',
      '\n',
      'é',
      '签',
      '😀',
      '\ud83d',
      '7',
    );
    const text = fc.array(unit, { minLength: 1, maxLength: 60 }).map((units) => units.join(''));
    const texts = fc.array(text, { minLength: 1, maxLength: 12 });
    const prefix = fc.constantFrom('', 'passage: ', '文章："');
    fc.assert(
      fc.property(texts, prefix, fc.boolean(), (list, before, isEscaped) => {
        const settings = { documentPrefix: before, queryPrefix: '' };
        const due = inputsOf(
          limits,
          before,
          list.map((one) => one.toWellFormed()),
        );

        expect(ranked(limits, sent(list, isEscaped), settings).inputs).toEqual(due);
        expect(ranked(limits, textDocuments(list), settings).inputs).toEqual(due);
      }),
      { numRuns: 60 },
    );
  });

  it('are ranked by the vector of each, also if they occur twice', () => {
    const { rows } = ranked({}, sent(['aaaaaaaaa', 'a', 'aaaaaaaaa', 'aaaa'], false));

    expect(rows.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(rows[0]?.score).toBeCloseTo(1);
    expect(rows[2]?.score).toBe(rows[0]?.score);
    expect(rows[1]?.score).toBeLessThan(rows[3]?.score ?? 0);
  });

  it('that need not be cut are no strings, but the bytes of the body', () => {
    const body = Buffer.from(JSON.stringify({ documents: ['one\n'.repeat(1_000), 'two'] }));
    const scanned = scanBody(body);
    if (scanned === undefined) throw new Error('the body was not split');

    const { parts } = ranked({}, sentDocuments(scanned));

    const { input } = parts[0]?.body as { readonly input: readonly JsonFragment[] };
    for (const text of input.slice(1)) expect(text.bytes.buffer).toBe(body.buffer);
  });

  it('have vectors that are read in steps', () => {
    const embedding = Array.from({ length: 150_000 }, (_, at) => at + 1);
    const provider = defineEmbeddings(api, embeddings);
    const call: UpstreamCall = {
      ...{ model: 'm', query: 'q', documents: textDocuments(['a', 'b', 'c']), topN: 3 },
      ...{ options: {}, settings: {} },
    };
    const rounds = provider.rounds(call, { vectors: undefined, prompts: () => undefined });
    const [part] = rounds.next().value as readonly PartCall[];
    const data = Array.from({ length: 3 }, () => ({ embedding }));

    const reading = part?.read(new Json({ data }), http);

    let steps = 1;
    while (reading?.next().done === false) steps += 1;
    expect(steps).toBeGreaterThan(1);
  });
});
