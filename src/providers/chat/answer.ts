import { JsonShapeError, parseNumeric } from '../../core/json/json.js';

/** A token that a model could have begun its answer with, and how likely it was. */
export interface Likely {
  readonly token: string;
  readonly logprob: number;
}

const THOUGHTS = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;
const FENCE = '```';
const IDENTIFIER = /^\[?(\d+)\]?$/;
/** Less than this of all likelihood for "yes" and "no" together means that the answer is something else. */
const LEAST_SHARE = 0.1;

/**
 * The order of `count` passages, from 0, that an answer names by identifiers from 1. What is named twice counts where it
 * stands first, and what is left out follows in the order that it had. Anything else is not a ranking: words around it, an
 * identifier that was not given, less than half of them.
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
  // One identifier is a list of one.
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

/** What stands in a fence where that is all there is. A model writes what it likes: nothing here may take more than one pass. */
function unfenced(text: string): string {
  const isFenced =
    text.length >= 2 * FENCE.length && text.startsWith(FENCE) && text.endsWith(FENCE);
  if (!isFenced) return text;
  const inside = text.slice(FENCE.length, -FENCE.length);
  return (/^json/i.test(inside) ? inside.slice(4) : inside).trim();
}

/** `[3] > [1] > [2]`, as rankers that were trained for it answer; also with commas or line breaks, and without brackets. */
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

/** A string inside a string is not looked into again. */
function notText(value: unknown): unknown {
  if (typeof value === 'string') throw new JsonShapeError('the answer is not a ranking');
  return value;
}

/**
 * How likely "yes" is where the answer is "yes" or "no", by the tokens that it could have begun with.
 * @throws JsonShapeError where it is neither, or hardly either.
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
