import type { ParseLimits } from './scan.js';

/** What there is instead of a value. */
type NoValue =
  | { readonly kind: 'excess'; readonly excess: keyof ParseLimits }
  /** `place`: as the engine names it, or how far the walk came. */
  | { readonly kind: 'invalid'; readonly cause: unknown; readonly place: string }
  /** It is large, and this part of it is not as usual. */
  | { readonly kind: 'unusual'; readonly part: string; readonly mostBytes: number };

export type Parsed = { readonly kind: 'value'; readonly value: unknown } | NoValue;

export function parsed(text: string): Parsed {
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch (cause) {
    // The place where the parser stopped, without the piece of the body that newer engines quote.
    const place = /position \d+/.exec(cause instanceof Error ? cause.message : '')?.[0] ?? '';
    return { kind: 'invalid', cause, place };
  }
}

/** The text before and after a member that is cut out, without the comma that only one of them needs. */
export function joinedAtCut(before: string, behind: string): string {
  const [head, after] = [before.trimEnd(), behind.trimStart()];
  if (after.startsWith(',') && !head.endsWith(',')) return head + after.slice(1);
  return (head.endsWith(',') ? head.slice(0, -1) : head) + after;
}
