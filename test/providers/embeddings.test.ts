import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import type { Documents, JsonFragment } from '../../src/bytes/index.js';
import { Json } from '../../src/core/json.js';
import { encodeJson, openedBody } from '../support/documents.js';
import { cutToTokens } from '../../src/core/tokens.js';
import { embeddings } from '../../src/providers/embeddings/openai.js';
import { defineEmbeddings, type EmbeddingApi } from '../../src/providers/embeddings/rank.js';
import { readIndexed } from '../../src/providers/embeddings/vectors.js';
import type {
  PartCall,
  SettingValue,
  UpstreamCall,
  VectorMemory,
} from '../../src/providers/provider.js';
import { fc } from '../support/property.js';

const api: EmbeddingApi = {
  body: (texts) => ({ input: texts.map(({ text }) => text) }),
  decode: (reply, count) => ({
    embeddings: readIndexed(reply.field('data'), count, (row) => [row.field('embedding')]),
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
  vectors?: VectorMemory,
  model = 'm',
) {
  const { id, title, baseUrl, path, headers, exampleModels } = embeddings;
  const provider = defineEmbeddings(
    { ...api, ...own },
    { id, title, baseUrl, path, headers, exampleModels },
  );
  const call: UpstreamCall = {
    ...{ model, query: 'the query', documents, topN: documents.count, options: {}, settings },
  };
  const rounds = provider.rounds(call, { vectors, prompts: () => undefined });
  const parts: PartCall[] = [];
  const inputs: string[][] = [];
  for (;;) {
    const step = rounds.next();
    if (step.done === true) return { inputs, rows: step.value.rows, parts };
    for (const part of step.value) {
      const { input } = JSON.parse(encodeJson(part.makeBody()).toString()) as { input: string[] };
      inputs.push(input);
      parts.push(part);
      const data = input.map((text) => ({ embedding: [1, text.length] }));
      part.read(new Json({ data }), http);
    }
  }
}

function sentIn(json: string | Buffer): Documents {
  return openedBody(json).documents({ elements: 'any' }) as Documents;
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
  return sentIn(json);
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
    const { parts } = ranked({}, sentIn(body));

    const sent = parts[0]?.makeBody() as { readonly input: readonly JsonFragment[] } | undefined;
    expect(sent?.input.slice(1).map(({ bytes }) => bytes.buffer === body.buffer)).toEqual([
      true,
      true,
    ]);
  });

  it('are one text however it is written', () => {
    const spellings = ['"a/b é 😀"', '"a\\/b \\u00e9 \\ud83d\\ude00"', '"a/b é \\uD83D\\uDE00"'];
    for (const before of ['', 'x'.repeat(65_533), 'x'.repeat(600)]) {
      const list = spellings.map((json) => json.replace('"', `"${before}`));
      const { inputs, rows } = ranked({}, sentIn(`{"documents":[${list.join(',')},"a\\\\/b"]}`));

      expect(inputs.flat()).toEqual(['the query', `${before}a/b é 😀`, 'a\\/b']);
      expect(new Set(rows.map(({ score }) => score)).size).toBe(2);
    }
  });

  it('are remembered as one text however it is written', () => {
    const kept = new Map<string, readonly Float32Array[]>();
    const one = ranked({}, sent(['é/', 'aaaa'], false), {}, kept);
    const two = ranked({}, sent(['aaaa', 'é/'], true), {}, kept);

    expect(one.inputs).toEqual([['the query', 'é/', 'aaaa']]);
    expect(two.inputs).toEqual([['the query']]);
    expect(two.rows[1]?.score).toBe(one.rows[0]?.score);
    expect(kept.size).toBe(2);
  });

  it('are asked for again where the model of that name has vectors of another length now', () => {
    const kept = new Map<string, readonly Float32Array[]>();
    const documents = sent(['one'], false);
    ranked({}, documents, {}, kept);
    for (const text of kept.keys()) kept.set(text, [Float32Array.of(1, 0, 0)]);

    expect(ranked({}, documents, {}, kept).inputs).toEqual([['the query'], ['one']]);
    expect([...kept.values()].map(([vector]) => vector?.length)).toEqual([2]);
  });

  it('are remembered for one model and one length of vectors alone', () => {
    const kept = new Map<string, readonly Float32Array[]>();
    const documents = sent(['one'], false);
    const asked = (model: string, settings = {}) =>
      ranked({}, documents, settings, kept, model).inputs.flat().includes('one');

    expect([asked('m'), asked('m'), asked('n'), asked('m', { dimensions: 2 })]).toEqual([
      ...[true, false, true, true],
    ]);
  });
});

describe('vectors', () => {
  const numbers = (length: number) =>
    fc.array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: length, maxLength: length });
  const vector = numbers(3).filter((each) => each.some((value) => Math.abs(value) > 1e-6));
  const vectors = fc.array(vector, { minLength: 1, maxLength: 4 });
  const texts = fc.array(vectors, { minLength: 1, maxLength: 9 });
  const many: Partial<EmbeddingApi> = {
    mixes: false,
    decode: (reply, count) => ({
      embeddings: readIndexed(reply.field('data'), count, (row) =>
        row.field('embedding').map((each) => each),
      ),
      tokens: 1,
    }),
  };

  /** The mean over the query's vectors of the best cosine, computed plainly. */
  function due(query: number[][], document: number[][]): number {
    const unit = (of: number[]): Float32Array => {
      const floats = Float32Array.from(of);
      const length = Math.sqrt(floats.reduce((sum, value) => sum + value * value, 0));
      return floats.map((value) => value / length);
    };
    const cosine = (one: Float32Array, other: Float32Array): number =>
      one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
    const best = query.map((own) =>
      Math.min(1, Math.max(-1, ...document.map((other) => cosine(unit(own), unit(other))))),
    );
    return best.reduce((sum, value) => sum + value, 0) / query.length;
  }

  it('are compared alike in whatever order the replies come, and whoever keeps them', () => {
    const order = fc.array(fc.nat(20), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(vectors, texts, order, fc.boolean(), (query, documents, turns, isKept) => {
        const { id, title, baseUrl, path, headers, exampleModels } = embeddings;
        const provider = defineEmbeddings(
          { ...api, ...many },
          { id, title, baseUrl, path, headers, exampleModels },
        );
        const call: UpstreamCall = {
          ...{ model: 'm', query: 'q', topN: documents.length, options: {}, settings: {} },
          documents: textDocuments(documents.map((_, at) => `text ${at}`)),
        };
        const kept = isKept ? new Map<string, readonly Float32Array[]>() : undefined;
        const rounds = provider.rounds(call, { vectors: kept, prompts: () => undefined });
        let step = rounds.next();
        while (step.done !== true) {
          // In any order.
          const left = [...step.value];
          for (let turn = 0; left.length > 0; turn += 1) {
            const at = (turns[turn % turns.length] ?? 0) % left.length;
            const [part] = left.splice(at, 1);
            if (part === undefined) continue;
            const { input } = JSON.parse(encodeJson(part.makeBody()).toString()) as {
              input: string[];
            };
            const data = input.map((text) => ({
              embedding: text === 'q' ? query : documents[Number(text.slice(5))],
            }));
            part.read(new Json({ data }), http);
          }
          step = rounds.next();
        }

        const scores = step.value.rows.map(({ score }) => score);
        expect(scores).toEqual(documents.map((document) => due(query, document)));
        if (kept !== undefined) expect(kept.size).toBe(documents.length);
      }),
      { numRuns: 200 },
    );
  });

  it('of a reply that is refused are not remembered', () => {
    const { id, title, baseUrl, path, headers, exampleModels } = embeddings;
    const provider = defineEmbeddings(
      { ...api, mixes: false },
      { id, title, baseUrl, path, headers, exampleModels },
    );
    const call: UpstreamCall = {
      ...{ model: 'm', query: 'q', documents: textDocuments(['one', 'two']), topN: 2 },
      ...{ options: {}, settings: {} },
    };
    const kept = new Map<string, readonly Float32Array[]>();
    const rounds = provider.rounds(call, { vectors: kept, prompts: () => undefined });
    let parts = rounds.next().value as readonly PartCall[];
    while (parts.length === 0) parts = rounds.next().value as readonly PartCall[];
    const read = (part: PartCall | undefined, indexes: readonly number[]): void => {
      const data = indexes.map((index, at) => ({ index, embedding: [1, at + 1] }));
      part?.read(new Json({ data }), http);
    };

    read(parts[0], [0]);
    expect(() => read(parts[1], [0, 0])).toThrow('no embedding of text 1 came back');
    expect(kept.size).toBe(0);
    read(parts[1], [1, 0]);
    rounds.next();
    rounds.next();
    expect(kept.size).toBe(2);
  });
});

describe('how many texts a call has', () => {
  const texts = textDocuments(Array.from({ length: 7 }, (_, at) => `text ${at}`));

  it.each([
    [{}, 3],
    [{ batchSize: 2 }, 2],
    [{ batchSize: 5_000 }, 3],
  ])('is what the channel says, as %j, but never more than the API takes', (settings, most) => {
    const { inputs } = ranked({}, texts, settings);

    expect(Math.max(...inputs.map((input) => input.length))).toBe(most);
  });
});
