import { GatewayError } from '../core/errors.js';
import { memberMistake, type MembersOf, type MemberSpecs } from '../core/members.js';
import { snakeCase } from '../core/records.js';
import { withoutKeys } from '../core/secret.js';
import { hasUnseen, mixesAlphabets } from './names.js';

const MAX_NAME_CHARACTERS = 128;
/** The refusal of a field before anything is done. `param` is the field in wire spelling. */
export function invalid(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}

/** A name that people give: trimmed, printable, short enough for one line, and not easily confused with another. */
export function checkName(value: string, param: string): string {
  const name = value.trim();
  if (name === '' || name.length > MAX_NAME_CHARACTERS || hasUnseen(name)) {
    throw invalid(
      param,
      `${param} must have 1 to ${MAX_NAME_CHARACTERS} printable characters on one line.`,
    );
  }
  refuseKeys(name, param);
  if (mixesAlphabets(name)) {
    throw invalid(
      param,
      `${param} has a word that mixes letters of two alphabets, which looks like another word.`,
    );
  }
  return name;
}

/** @throws GatewayError 400 for a text with an API key or an access token in it. */
export function refuseKeys(text: string, param: string): void {
  if (withoutKeys(text) === text) return;
  throw invalid(
    param,
    `${param} looks like a key or an access token, which must not be kept in clear text.`,
  );
}

/** A username or an address in the one form in which it is stored, however it was typed. */
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

/** Checks those of a table's members that are present. */
export function checkMembers<T extends MemberSpecs>(specs: T, given: Partial<MembersOf<T>>): void {
  for (const [name, spec] of Object.entries(specs)) {
    const value = given[name];
    const mistake = value === undefined ? undefined : memberMistake(spec, value);
    if (mistake !== undefined) throw invalid(snakeCase(name), `${snakeCase(name)} ${mistake}.`);
    if (typeof value === 'string') refuseKeys(value, snakeCase(name));
  }
}
