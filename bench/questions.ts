import { readFileSync } from 'node:fs';
import { Json } from '../src/core/json.js';

/** A labelled question: the query, the documents that a search found, and how relevant each document is. */
export interface Question {
  readonly language: string;
  readonly query: string;
  readonly documents: readonly string[];
  /** One per document: 0 is not relevant, a higher number is more relevant. */
  readonly relevance: readonly number[];
}

/** The set that ships: 24 questions in 17 languages, written for this project and under its license. */
export const SHIPPED_QUESTIONS = new URL('./data/questions.jsonl', import.meta.url);

/** Questions from a file with one JSON object per line: `query`, `documents`, `relevance`, and optionally `language`. */
export function readQuestions(file: string | URL): Question[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line, at) => {
      if (line.trim() === '') return [];
      const json = new Json(JSON.parse(line), `line ${at + 1}`);
      const documents = json.field('documents').map((document) => document.string());
      const relevance = json.field('relevance').map((label) => label.number());
      if (relevance.length !== documents.length) {
        throw new Error(
          `line ${at + 1} has ${documents.length} documents and ${relevance.length} labels`,
        );
      }
      return [
        {
          language: json.maybe('language').optionalString() ?? '',
          query: json.field('query').string(),
          documents,
          relevance,
        },
      ];
    });
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

/** Best first; equal scores keep their order. */
export function orderOf(scores: readonly number[]): number[] {
  return scores
    .map((score, index) => ({ score, index }))
    .sort((one, other) => other.score - one.score)
    .map(({ index }) => index);
}
