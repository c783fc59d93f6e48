import { describe, expect, it } from '@jest/globals';
import { openBody, writeJson } from '../../src/bytes/index.js';
import { dialectByHeaders, dialectOf, ingressRoute, listsAt } from '../../src/ingress/index.js';
import { readIn } from '../../src/ingress/dialect.js';
import { IngressRequest } from '../../src/ingress/read.js';
import { allProviders } from '../../src/providers/index.js';
import type { HttpProvider } from '../../src/providers/provider.js';
import { defaultSettings } from '../../src/providers/settings.js';

/** Bodies as the JSON writers of other languages make them, of texts as they are: what is sent on is what was meant. */

function escapeOf(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

const plain = (value: unknown) => JSON.stringify(value);

const WRITERS: Readonly<Record<string, (value: unknown) => string>> = {
  JavaScript: plain,
  Python: (value) =>
    JSON.stringify(value, undefined, 1)
      .replaceAll(/,\n */g, ', ')
      .replaceAll(/\n */g, '')
      .replaceAll(/[^\0-\x7e]/g, escapeOf),
  'Python, indented': (value) => JSON.stringify(value, undefined, 2),
  Go: (value) => plain(value).replaceAll(/[<>&\u2028\u2029]/g, escapeOf),
  PHP: (value) =>
    plain(value)
      .replaceAll(/[^\0-\x7f]/g, escapeOf)
      .replaceAll('/', '\\/'),
  Gson: (value) => plain(value).replaceAll(/[<>&='\u2028\u2029]/g, escapeOf),
  '.NET': (value) =>
    plain(value)
      .replaceAll(/\\\\|\\"/g, (two) => (two === '\\"' ? '\\u0022' : two))
      .replaceAll(/[^\0-\x7e]|[<>&'+`]/g, (unit) => `\\u${escapeOf(unit).slice(2).toUpperCase()}`),
};

const SENTENCES: Readonly<Record<string, string>> = {
  code: '\tif (name === "x" && path !== \'y\') {\n\t\treturn log("a\\tb", { "key": [1, 2] });\n\t}\n',
  'paths and patterns':
    'C:\\Users\\me\\x.txt \\\\server\\share ^\\s*(\\d+)\\.(\\w+)\\s*"([^"\\\\]|\\\\.)*"$\n',
  'tables and links':
    '"a","b",12,,0.5\r\nc\td\t<a href="/x?y=z&amp;q=2">it\'s</a> https://e.com/a/b\r\n',
  'JSON in a string': JSON.stringify({ a: 'b', list: [1, 'x'], more: JSON.stringify('say "hi"') }),
  'control characters': '\0\u0001 \u001b[31mred\u001b[0m \b\f\u007f \u2028\u2029\ufeff\u00a0',
  'languages with accents':
    'Les clés où «\u00a0tout\u00a0» dort; größere Änderungen; ¿mañana? It’s “fine” — yes…\n',
  'other scripts':
    'Ключи 签名密钥每九十天 मालिक इसे पहले คีย์จะถูกหมุน 서명 키는 يتم تدوير المفاتيح 署名鍵は\n',
  'emoji and halves': '🔑🔄✅ 👩🏻‍💻 text 🙏🏽 half \ud83d and \ude00 of one \ud83d\ud83d\ude00 end\n',
};

const textOf = (sentence: string, at: number, length: number) =>
  `${at}. ${sentence.repeat(Math.ceil(length / sentence.length))}`.slice(0, length);

const QUERY = 'which "key" — où?';
const NOT_BLANK = '-';

/** What may stand around the same texts. */
const SHAPES: Readonly<Record<string, (texts: readonly string[]) => object>> = {
  'strings, first': (documents) => ({ documents, query: QUERY, model: 'm' }),
  'strings, blanks among them': (documents) => ({
    model: 'm',
    documents: documents.flatMap((text, at) => (at % 3 === 0 ? [text, '', ' \n\u3000'] : [text])),
    unknown: { list: [1.5e-3, null, true, { documents: [''] }], text: documents[0] },
    query: QUERY,
  }),
  'objects, the text last': (texts) => ({
    query: QUERY,
    documents: texts.map((text, id) => ({ id, title: 'a "b"', url: 'https://e.com/', text })),
    return_documents: true,
  }),
  'objects with members of all kinds': (texts) => ({
    query: QUERY,
    return_documents: true,
    max_tokens_per_doc: 512,
    documents: texts.map((text, at) => ({
      image: null,
      text,
      embedding: [0.123456789012345, -1e-7, at, 12345678901],
      metadata: { source: { page: at, text: 'no', image: 'x' }, tags: [], none: null, '': {} },
    })),
  }),
  'mixed kinds, ranked by their text': (texts) => ({
    query: QUERY,
    rank_fields: ['text'],
    return_documents: true,
    documents: texts.map((text, at) => (at % 2 === 0 ? text : { text, image: '' })),
  }),
};

interface Meant {
  readonly query: string;
  readonly documents: readonly (string | { readonly text: string })[];
  readonly return_documents?: boolean;
}

const provider = allProviders().find(({ id }) => id === 'cohere') as HttpProvider;

/** What an upstream gets and what the caller gets back. */
async function answer(body: Buffer): Promise<{ readonly sent: unknown; readonly reply: unknown }> {
  const route = ingressRoute('/v1/rerank');
  if (route === undefined) throw new Error('nothing is there');
  const opened = await openBody(body, listsAt(route), 10_000);
  const request = new IngressRequest(opened, {}, route.params, 10_000);
  const dialect = dialectOf(route, dialectByHeaders(route, {}), request);
  const { kept, ...parsed } = await readIn(dialect, request);
  const { documents, query, topN, options } = parsed;
  const settings = defaultSettings(provider);
  const call = { model: 'm', query, documents, topN, options, settings };
  const { bytes } = await writeJson(provider.body(call));
  const sent = JSON.parse(bytes.toString()) as unknown;
  const rows = Array.from({ length: topN }, (_, at) => ({ index: topN - 1 - at, score: 0.5 }));
  const usage = { inputTokens: 1, searchUnits: 1, estimated: false };
  const ranking = { rows, usage, warnings: [], written: undefined };
  const clock = { nowMs: 0, elapsedMs: 0 };
  const text = await writeJson(
    dialect.reply('rr_1', { ...parsed, model: 'm' }, ranking, kept, clock),
  );
  return { sent, reply: JSON.parse(text.toString()) as unknown };
}

const SIZES = [
  ['a few short documents', 4, 40],
  ['documents of a window together', 70, 900],
  ['documents of more than a megabyte', 130, 9_000],
] as const;

describe.each(SIZES)('%s', (_size, count, length) => {
  describe.each(Object.keys(WRITERS))('written by %s', (writer) => {
    it.each(Object.keys(SHAPES))('are sent and returned as they were meant: %s', async (shape) => {
      const sentences = Object.values(SENTENCES);
      const texts = Array.from({ length: count }, (_, at) =>
        textOf(sentences[at % sentences.length] ?? NOT_BLANK, at, length),
      );
      const json = WRITERS[writer]?.(SHAPES[shape]?.(texts)) ?? '';
      const meant = JSON.parse(json) as Meant;
      const { sent, reply } = await answer(Buffer.from(json));

      expect(sent).toMatchObject({
        query: meant.query,
        documents: meant.documents.map((document) =>
          (typeof document === 'string' ? document : document.text).toWellFormed(),
        ),
      });
      const { results } = reply as { readonly results: readonly object[] };
      expect(results).toEqual(
        meant.documents
          .map((document, index) => ({
            index,
            relevance_score: 0.5,
            ...(meant.return_documents === true && {
              document: typeof document === 'string' ? { text: document } : document,
            }),
          }))
          .reverse(),
      );
    });
  });
});
