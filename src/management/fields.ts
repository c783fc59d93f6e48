import { GatewayError } from '../core/errors.js';

const MAX_NAME_CHARACTERS = 128;
/**
 * What cannot be seen, or makes the rest of a line read otherwise than it is: controls, halves of characters, blanks without
 * width and turns of direction. Joiners stay, which emoji and some scripts are written with.
 */
const UNSEEN = /[\p{Cc}\p{Cs}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u;

/** What is refused before anything is done. `param` is the field in wire spelling. */
export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** A name that people give: trimmed, printable, of a length that fits on a line. */
export function checkName(value: string, param: string): string {
  const name = value.trim();
  if (name === '' || name.length > MAX_NAME_CHARACTERS || UNSEEN.test(name)) {
    throw invalid(
      param,
      `${param} must have 1 to ${MAX_NAME_CHARACTERS} printable characters on one line.`,
    );
  }
  return name;
}

/** A username or an address in the one form in which it is kept, however it was typed. */
export function loginName(text: string): string {
  return text.trim().normalize('NFKC');
}

/** Names without repetition, in the order given. */
export function checkNames(values: readonly string[], param: string): string[] {
  return [...new Set(values.map((value) => checkName(value, param)))];
}

export function checkInteger(value: number, min: number, max: number, param: string): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalid(param, `${param} must be a whole number from ${min} to ${max}.`);
  }
  return value;
}
