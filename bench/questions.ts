import { readFileSync } from 'node:fs';
import { trecOrder } from '../src/core/evaluation.js';
import { Json } from '../src/core/json.js';

/** A labelled question: the query, the documents that a search found, and how relevant each document is. */
export interface Question {
  readonly language: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** One per document: 0 is not relevant, a higher number is more relevant. */
  readonly relevance: readonly number[];
}

/** The sets that ship, which `bench/build-questions.mjs` builds. */
export const SHIPPED = ['readmes', 'docstrings'] as const;

/** How many texts each question of a set that ships has to choose from. */
const CANDIDATES = 100;

/**
 * A set that ships: questions in English, each with 100 candidates, one of which is right: its own text and those beside it in the
 * file, whose order is a drawn one. The right one stands in no particular place.
 */
export function shippedQuestions(name: (typeof SHIPPED)[number]): Question[] {
  const pairs = jsonLines(new URL(`./data/${name}.jsonl`, import.meta.url)).map((json) => ({
    query: json.field('query').string(),
    text: json.field('text').string(),
  }));
  return pairs.map(({ query }, own) => {
    const place = (own * 37) % CANDIDATES;
    const candidates = Array.from(
      { length: CANDIDATES },
      (_, at) => (own + at - place + pairs.length) % pairs.length,
    );
    return {
      language: 'en',
      query,
      documents: candidates.map((at) => pairs[at]?.text ?? ''),
      relevance: candidates.map((at) => (at === own ? 1 : 0)),
    };
  });
}

/** The questions of a file, or those that ship, by the name of their set. */
export function questionSets(file: string | undefined): readonly (readonly [string, Question[]])[] {
  return file === undefined
    ? SHIPPED.map((name) => [name, shippedQuestions(name)])
    : [['questions', readQuestions(file)]];
}

/** Questions from a file with one JSON object per line: `query`, `documents`, `relevance`, and optionally `language`. */
export function readQuestions(file: string | URL): Question[] {
  return jsonLines(file).map((json, at) => {
    const documents = json.field('documents').map((document) => document.string());
    const relevance = json.field('relevance').map((label) => label.number());
    if (relevance.length !== documents.length) {
      throw new Error(
        `question ${at + 1} has ${documents.length} documents and ${relevance.length} labels`,
      );
    }
    return {
      language: json.maybe('language').optionalString() ?? '',
      query: json.field('query').string(),
      documents,
      relevance,
    };
  });
}

function jsonLines(file: string | URL): Json[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, at) =>
      line.trim() === '' ? [] : [new Json(JSON.parse(line), `line ${at + 1}`)],
    );
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** The order of documents by their scores, ties as trec_eval breaks them. */
export function orderOf(scores: readonly number[]): number[] {
  return trecOrder(scores.map((score, index) => ({ index, score })));
}
