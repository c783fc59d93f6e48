import { JsonFragment, type JsonBody } from '../bytes/index.js';
import { ERRORS, type GatewayError } from '../core/errors.js';
import type { RankedRow } from '../core/rerank.js';
import type { Ranking } from './dialect.js';

/** Always with a fraction or an exponent: typed clients refuse an integer where they expect a float. */
function scoreText(score: number): string {
  return Number.isInteger(score) ? score.toFixed(1) : String(score);
}

/**
 * The scores of all rows in their written form: as the upstream wrote them where it did so in a form that will do, since writing
 * a double takes longer than all else about a row.
 */
export function scoreTexts({ rows, written }: Pick<Ranking, 'rows' | 'written'>): string[] {
  if (written?.kind !== 'scores') return rows.map(({ score }) => scoreText(score));
  let positions: Uint32Array | undefined;
  return rows.map((row, rank) => {
    let at = rank;
    if (written.rows[rank] !== row) {
      positions ??= positionsByIndex(written.rows);
      at = positions[row.index] ?? 0;
    }
    const text = written.rows[at]?.score === row.score ? written.texts[at] : undefined;
    return text === undefined || text === '' ? scoreText(row.score) : text;
  });
}

function positionsByIndex(rows: readonly { readonly index: number }[]): Uint32Array {
  let most = 0;
  for (const { index } of rows) most = Math.max(most, index);
  const positions = new Uint32Array(most + 1);
  for (const [at, { index }] of rows.entries()) positions[index] = at;
  return positions;
}

/** A score in its written form. */
export function scoreJson(score: number): JsonBody {
  return Number.isInteger(score) ? new JsonFragment(score.toFixed(1)) : score;
}

/** The rows in the order of the documents, for forms that answer by position. */
export function byPosition(rows: readonly RankedRow[]): readonly RankedRow[] {
  return [...rows].sort((a, b) => a.index - b.index);
}

/** The smallest distance of a probability from 0 and 1: its logit has to be finite. */
const MARGIN = 1e-16;

/**
 * Rows with logits as scores, for forms whose clients apply the logistic function themselves. Scores that all lie in
 * 0 … 1 are taken for probabilities; others are logits already.
 */
export function asLogits(rows: readonly RankedRow[]): readonly RankedRow[] {
  return areProbabilities(rows)
    ? rows.map(({ index, score }) => ({ index, score: logit(score) }))
    : rows;
}

/** Rows with scores from 0 to 1, for forms that promise them. */
export function asProbabilities(rows: readonly RankedRow[]): readonly RankedRow[] {
  return areProbabilities(rows)
    ? rows
    : rows.map(({ index, score }) => ({ index, score: 1 / (1 + Math.exp(-score)) }));
}

function areProbabilities(rows: readonly RankedRow[]): boolean {
  return rows.every(({ score }) => score >= 0 && score <= 1);
}

function logit(probability: number): number {
  return Math.log(Math.max(probability, MARGIN)) - Math.log(Math.max(1 - probability, MARGIN));
}

/** Whether the error is about the body: some forms have a separate status for those. */
export function isOfBody({ code, status }: GatewayError): boolean {
  return (
    status === 400 &&
    (code === 'invalid_request' || code === 'invalid_query' || code === 'invalid_documents')
  );
}

/** An error as OpenAI's clients read it, and with them those of many other forms. */
export function errorMember({ message, code, param }: GatewayError): object {
  return { message, type: ERRORS[code].type, code, param: param ?? null };
}

/** Errors in the form of FastAPI servers: a list of faults for a body that does not fit, otherwise a sentence. */
export function fastApiError(error: GatewayError): { body: string; status?: number } {
  const { message, code, param } = error;
  const common = { message, error: errorMember(error) };
  if (!isOfBody(error) && code !== 'too_many_documents') {
    return { body: JSON.stringify({ detail: message, ...common }) };
  }
  const loc = param === undefined ? ['body'] : ['body', param];
  const type = code === 'too_many_documents' ? 'too_long' : 'value_error';
  return {
    status: 422,
    body: JSON.stringify({ detail: [{ type, loc, msg: message }], ...common }),
  };
}
