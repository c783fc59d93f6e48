/**
 * How well the lexical ranker ranks, by its constants: `npm run bench:lexical -- --file labelled.jsonl`. Without a file it
 * takes the sets that ship. A question without a relevant document counts as 0, unless `--answerable` leaves it out.
 */
import { parseArgs } from 'node:util';
import { hasRelevant, ndcg, randomNdcg } from '../src/core/evaluation.js';
import {
  LEXICAL_CONSTANTS,
  scoreLexically,
  type LexicalConstants,
} from '../src/rankers/lexical.js';
import { mean, orderOf, questionSets, type Question } from './questions.js';

const { values } = parseArgs({
  options: { file: { type: 'string' }, answerable: { type: 'boolean', default: false } },
});
const PLACES = 10;

/** nDCG@10 of each question. */
function qualityOf(set: readonly Question[], constants: LexicalConstants): number[] {
  return set.map(({ query, documents, relevance }) =>
    ndcg(orderOf(scoreLexically(query, documents, constants)), relevance, PLACES),
  );
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

const grid: readonly LexicalConstants[] = [
  { k1: 1.2, b: 1, lift: 0.25 },
  { k1: 2, b: 0.9, lift: 0.2 },
  { k1: 4, b: 0.9, lift: 0.12 },
  { k1: 8, b: 0.9, lift: 0.06 },
];
for (const [name, all] of questionSets(values.file)) {
  const set = values.answerable ? all.filter(({ relevance }) => hasRelevant(relevance)) : all;
  const own = qualityOf(set, LEXICAL_CONSTANTS);
  const random = mean(set.map(({ relevance }) => randomNdcg(relevance, PLACES)));
  console.log(
    `${name}: nDCG@10 of ${set.length} questions is ${mean(own).toFixed(3)} (a random order: ${random.toFixed(3)}); with other constants, and by how much that differs:`,
  );
  for (const constants of grid) {
    const other = qualityOf(set, constants);
    const differences = other.map((value, at) => value - (own[at] ?? 0));
    console.log(
      `  k1 ${constants.k1}, b ${constants.b}: ${mean(other).toFixed(3)}  ${mean(differences).toFixed(3)} ${interval(differences)}`,
    );
  }
}
