/**
 * Makes labelled questions from files in SQuAD format, such as XQuAD's (github.com/google-deepmind/xquad, CC BY-SA 4.0), one
 * per language: `npx tsx bench/squad.ts --as mixed --questions 50 xquad.*.json > labelled.jsonl`. Each question comes with
 * the text that has its answer and nine others, those of the same article first. `--as` says what a text is: a `sentence`, a
 * `paragraph`, a `page` (a whole article, five paragraphs in XQuAD), or `mixed`, which takes each in turn.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { Json } from '../src/core/json.js';
import type { Question } from './questions.js';

const SHAPES = ['sentence', 'paragraph', 'page'] as const;
type Shape = (typeof SHAPES)[number];
const DOCUMENTS = 10;

interface Asked {
  readonly question: string;
  /** Offset of its answer in the paragraph. */
  readonly at: number;
  readonly article: number;
  readonly paragraph: number;
}

interface Collection {
  readonly language: string;
  readonly articles: readonly (readonly string[])[];
  readonly asked: readonly Asked[];
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    as: { type: 'string', default: 'mixed' },
    questions: { type: 'string', default: '50' },
  },
});
const shapes = SHAPES.filter((shape) => values.as === 'mixed' || values.as === shape);
if (shapes.length === 0 || positionals.length === 0) {
  console.error('Usage: tsx bench/squad.ts [--as sentence|paragraph|page|mixed] FILE…');
  process.exit(2);
}
for (const file of positionals) {
  for (const question of questionsOf(read(file), Number(values.questions))) {
    console.log(JSON.stringify(question));
  }
}

function read(file: string): Collection {
  const asked: Asked[] = [];
  const data = new Json(JSON.parse(readFileSync(file, 'utf8')), file).field('data');
  const articles = data.map((article, articleAt) =>
    article.field('paragraphs').map((paragraph, paragraphAt) => {
      paragraph.field('qas').map((entry) => {
        const at = entry.field('answers').item(0).field('answer_start').number();
        const question = entry.field('question').string();
        asked.push({ question, at, article: articleAt, paragraph: paragraphAt });
      });
      return paragraph.field('context').string();
    }),
  );
  return { language: basename(file).split('.').at(-2) ?? '', articles, asked };
}

/** Takes questions evenly from the whole file. */
function questionsOf({ language, articles, asked }: Collection, most: number): Question[] {
  const step = Math.max(1, Math.floor(asked.length / most));
  return asked
    .filter((_, at) => at % step === 0)
    .slice(0, most)
    .map((one, number) => {
      const own = articles[one.article] ?? [];
      const beside = own.flatMap((text, at) => (at === one.paragraph ? [] : [text]));
      const further = Array.from(
        { length: DOCUMENTS },
        (_, at) => articles[(one.article + at + 1) % articles.length] ?? [],
      );
      const shapeAt = (at: number): Shape => shapes[(number + at) % shapes.length] ?? 'page';
      const relevant = textOf(shapeAt(0), own, one.paragraph, one.at);
      const others = [
        // A page of the same article would contain the answer.
        ...beside.map((text, at) =>
          textOf(shapeAt(at + 1) === 'sentence' ? 'sentence' : 'paragraph', [text], 0, 0),
        ),
        ...further.map((article, at) =>
          textOf(shapeAt(at + 1), article, number % article.length, 0),
        ),
      ].slice(0, DOCUMENTS - 1);
      // The position of the relevant document must not give it away.
      const place = (number * 7) % DOCUMENTS;
      const documents = [...others.slice(0, place), relevant, ...others.slice(place)];
      return {
        language,
        query: one.question,
        documents,
        relevance: documents.map((_, at) => (at === Math.min(place, others.length) ? 1 : 0)),
      };
    });
}

/** The part of an article around an offset in one of its paragraphs. */
function textOf(shape: Shape, article: readonly string[], paragraph: number, at: number): string {
  const text = article[paragraph] ?? '';
  if (shape === 'page') return article.join('\n');
  if (shape === 'paragraph') return text;
  const sentences = [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(text)];
  return sentences.findLast(({ index }) => index <= at)?.segment ?? text;
}
