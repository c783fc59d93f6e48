import type { InputOf } from '../../client/client.js';
import { isRecord } from '../../core/records.js';
import type { CarriedCode } from '../../management/carried.js';
import type { TokenDraft, TokenSecret } from '../../management/tokens.js';

export interface Note {
  /** What is meant, such as `model gpt-4`. */
  readonly what: string;
  readonly why: string;
}

type ChannelBody = NonNullable<InputOf<'createChannel'>['body']>;
type UserBody = NonNullable<InputOf<'createUser'>['body']>;

export type CarriedChannel = Omit<ChannelBody, 'name'> & { readonly name: string };
export type CarriedUser = Omit<UserBody, 'username' | 'password'> & { readonly username: string };

export interface CarriedKey {
  readonly secret: TokenSecret;
  /** The name of the account here or there; absent: the one that the command names. */
  readonly owner?: string;
  readonly draft: Omit<TokenDraft, 'userId'>;
}

/** What another gateway has that this one can have too, and what it cannot. */
export interface Plan {
  readonly channels: CarriedChannel[];
  readonly users: CarriedUser[];
  readonly keys: CarriedKey[];
  readonly codes: CarriedCode[];
  readonly notCarried: Note[];
  /** Remaining work for people, one sentence each. */
  readonly toDo: string[];
}

export function emptyPlan(): Plan {
  return { channels: [], users: [], keys: [], codes: [], notCarried: [], toDo: [] };
}

/** Whether a name is one that rerankers have. */
export function isRerankerName(name: string): boolean {
  return /re-?rank|ranker|llama-rank|rank-?llm|mxbai-colbert/i.test(name);
}

/** A name that no other has yet: with a number at its end, if it must be. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(candidate)) return candidate;
  }
}

type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function listIn(fields: Fields, name: string): readonly unknown[] {
  const value = fields[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/** A text that is not empty; numbers count as texts. */
export function textIn(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

export function numberIn(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  if (value === null || value === undefined || value === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/** A list of texts, or one text with commas or line breaks. */
export function namesIn(fields: Fields, name: string): string[] {
  const value = fields[name];
  const parts = typeof value === 'string' ? value.split(/[,\n]/) : listIn(fields, name);
  return parts.flatMap((part) => (typeof part === 'string' && part.trim() ? [part.trim()] : []));
}

/** A limit as ours are: a whole number, 0 for none. */
export function limitIn(fields: Fields, name: string): number | undefined {
  const limit = numberIn(fields, name);
  return limit === undefined ? undefined : Math.max(0, Math.floor(limit));
}
