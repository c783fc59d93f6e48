import { JsonShapeError, parseNumeric } from '../../core/json.js';

/** A token with which a model could have begun its answer, and its likelihood. */
export interface Likely {
  readonly token: string;
  readonly logprob: number;
}

const THOUGHTS = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;
const FENCE = '```';
const IDENTIFIER = /^\[?(\d+)\]?$/;
/** If "yes" and "no" together have a smaller share of the likelihood than this, the answer is something else. */
const LEAST_SHARE = 0.1;

/**
 * The order of `count` passages, from 0, that an answer names by identifiers from 1. A passage named twice counts at its
 * first place, and omitted ones follow in their previous order. Any other answer is not a ranking: one with words around it,
 * with an identifier that was not given, or with less than half of the identifiers.
 * @throws JsonShapeError
 */
export function readOrder(answer: unknown, count: number): number[] {
  const named = identifiersOf(answer);
  const order: number[] = [];
  const seen = new Set<number>();
  for (const identifier of named) {
    if (!Number.isInteger(identifier) || identifier < 1 || identifier > count) {
      throw new JsonShapeError(`the answer names a passage ${identifier} of ${count}`);
    }
    if (seen.has(identifier)) continue;
    seen.add(identifier);
    order.push(identifier - 1);
  }
  if (order.length * 2 < count) {
    throw new JsonShapeError(`the answer names ${order.length} of ${count} passages`);
  }
  for (let at = 0; at < count; at += 1) if (!seen.has(at + 1)) order.push(at);
  return order;
}

function identifiersOf(answer: unknown): number[] {
  if (typeof answer === 'string') return fromText(answer);
  const list: unknown =
    typeof answer === 'object' && answer !== null && 'ranking' in answer ? answer.ranking : answer;
  // A single identifier counts as a list of one.
  if (typeof list === 'number') return [list];
  if (!Array.isArray(list)) throw new JsonShapeError('the answer is not a ranking');
  return list.map((value: unknown) => {
    const text = typeof value === 'string' ? value.replace(/^\[(\d+)\]$/, '$1') : value;
    return parseNumeric(text) ?? Number.NaN;
  });
}

function fromText(answer: string): number[] {
  const thought = answer.replace(THOUGHTS, '').trim();
  const bare = unfenced(thought);
  try {
    return identifiersOf(notText(JSON.parse(bare)));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return fromChain(bare);
  }
}

/** The content of a fence if there is nothing else. A model may write anything: nothing here may take more than one pass. */
function unfenced(text: string): string {
  const isFenced =
    text.length >= 2 * FENCE.length && text.startsWith(FENCE) && text.endsWith(FENCE);
  if (!isFenced) return text;
  const inside = text.slice(FENCE.length, -FENCE.length);
  return (/^json/i.test(inside) ? inside.slice(4) : inside).trim();
}

/** `[3] > [1] > [2]`, the answer of rankers trained for it; also with commas or line breaks, and without brackets. */
function fromChain(text: string): number[] {
  const chain = text.endsWith('.') ? text.slice(0, -1) : text;
  return chain.split(/[>,]/).flatMap((part) => {
    const lines = part.split('\n').map((line) => line.trim());
    return (part.trim() === '' ? lines.slice(0, 1) : lines.filter((line) => line !== '')).map(
      identifierOf,
    );
  });
}

function identifierOf(text: string): number {
  const [, digits] = IDENTIFIER.exec(text) ?? [];
  if (digits === undefined) throw new JsonShapeError('the answer is not a ranking');
  return Number(digits);
}

/** A string inside a string is not parsed again. */
function notText(value: unknown): unknown {
  if (typeof value === 'string') throw new JsonShapeError('the answer is not a ranking');
  return value;
}

/**
 * How likely "yes" is, given that the answer is "yes" or "no", by the tokens with which it could have begun.
 * @throws JsonShapeError if it is neither, or hardly either.
 */
export function readChance(likely: readonly Likely[]): number {
  const sum = (word: string): number =>
    likely
      .filter(({ token }) => token.replace(/[^\p{L}]/gu, '').toLowerCase() === word)
      .reduce((total, { logprob }) => total + Math.exp(logprob), 0);
  const yes = sum('yes');
  const no = sum('no');
  if (!(yes + no >= LEAST_SHARE)) throw new JsonShapeError('the answer is neither yes nor no');
  return yes / (yes + no);
}
