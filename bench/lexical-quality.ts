/**
 * How well the lexical ranker ranks, by its constants: `npm run bench:lexical -- --file labelled.jsonl`. Without a file it
 * takes the shipped questions, and then the same questions with documents of very different lengths, in which a relevant
 * text is surrounded by others as on a page.
 */
import { parseArgs } from 'node:util';
import { ndcg } from '../src/core/evaluation.js';
import {
  LEXICAL_CONSTANTS,
  scoreLexically,
  type LexicalConstants,
} from '../src/rankers/lexical.js';
import { mean, orderOf, readQuestions, SHIPPED_QUESTIONS, type Question } from './questions.js';

const { values } = parseArgs({ options: { file: { type: 'string' } } });
const questions = readQuestions(values.file ?? SHIPPED_QUESTIONS);

/** Each document followed by zero to twelve others of the set, as a page goes on about other things. */
function asPages(all: readonly Question[]): Question[] {
  return all.map((question, number) => ({
    ...question,
    documents: question.documents.map((document, at) => {
      const others = Array.from({ length: ((number + 1) * (at + 3) * 7) % 13 }, (_, step) => {
        const other = all[(number + step + 1) % all.length];
        return other?.documents[(at + step) % other.documents.length] ?? '';
      });
      return [document, ...others].join(' ');
    }),
  }));
}

/** nDCG@10 of each question that has a relevant document. */
function qualityOf(set: readonly Question[], constants: LexicalConstants): number[] {
  return set.flatMap(({ query, documents, relevance }) => {
    return ndcg(orderOf(scoreLexically(query, documents, constants)), relevance, 10) ?? [];
  });
}

const SAMPLES = 2_000;

/** The 95 % confidence interval of the mean difference, by bootstrapping. */
function interval(differences: readonly number[]): string {
  let seed = 1;
  const draw = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return differences[seed % differences.length] ?? 0;
  };
  const means = Array.from({ length: SAMPLES }, () => mean(differences.map(draw)));
  means.sort((one, other) => one - other);
  const at = (share: number): string => (means[Math.floor(share * SAMPLES)] ?? 0).toFixed(3);
  return `[${at(0.025)}, ${at(0.975)}]`;
}

const sets: readonly (readonly [string, readonly Question[]])[] =
  values.file === undefined
    ? [
        ['passages', questions],
        ['pages', asPages(questions)],
      ]
    : [['questions', questions]];
const grid: readonly LexicalConstants[] = [
  { k1: 1.2, b: 0.75, lift: 0.25 },
  { k1: 2, b: 0.9, lift: 0.2 },
  { k1: 4, b: 0.9, lift: 0.12 },
  { k1: 8, b: 0.9, lift: 0.06 },
];
console.log(`nDCG@10 of ${questions.length} questions\n`);
for (const [name, set] of sets) {
  const own = qualityOf(set, LEXICAL_CONSTANTS);
  console.log(
    `${name}: ${mean(own).toFixed(3)}; with other constants, and by how much that differs:`,
  );
  for (const constants of grid) {
    const other = qualityOf(set, constants);
    const differences = other.map((value, at) => value - (own[at] ?? 0));
    console.log(
      `  k1 ${constants.k1}, b ${constants.b}: ${mean(other).toFixed(3)}  ${mean(differences).toFixed(3)} ${interval(differences)}`,
    );
  }
}
