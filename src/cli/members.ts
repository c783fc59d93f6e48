import { InvalidArgumentError, Option, type Command } from 'commander';
import { snakeCase } from '../core/records.js';
import type { BUDGET_USE } from '../shapes/budget.js';
import type { ObjectOf } from '../shapes/shape.js';
import type { MembersWire } from '../shapes/members.js';
import { memberMistake, type MemberSpec, type MemberSpecs } from '../core/members.js';
import { inOptions } from './option-names.js';
import { amount, moment } from './text.js';
import { units } from './values.js';

/** The word that removes an optional member. */
const NONE = 'none';

/** Adds an option for each member of a table. A change keeps what is not given, so its options name no defaults. */
export function withMembers(command: Command, specs: MemberSpecs, creating: boolean): Command {
  for (const spec of Object.values(specs)) {
    const option = optionOf(spec, `${spoken(spec)}${creating ? byDefault(spec) : takenAway(spec)}`);
    if (spec.type === 'choice') option.choices([...spec.choices]);
    else if (spec.type === 'labels') option.argParser(eachLabel(spec));
    else option.argParser((text) => parse(spec, text, creating));
    command.addOption(option);
  }
  return command;
}

/** The members that the options of a command set, as a body has them; null removes one. */
export function givenMembers<T extends MemberSpecs>(
  command: Command,
  specs: T,
): Partial<MembersWire<T>> {
  const options = command.opts<Record<string, unknown>>();
  return Object.fromEntries(
    Object.entries(specs).flatMap(([name, spec]) => {
      const given = options[optionOf(spec).attributeName()];
      return given === undefined ? [] : [[snakeCase(name), given]];
    }),
    // `parse` has checked each against its row.
  ) as Partial<MembersWire<T>>;
}

/** The members of a record, for people. */
export function memberFacts<T extends MemberSpecs>(
  specs: T,
  record: MembersWire<T>,
): [string, string][] {
  const values: Readonly<Record<string, unknown>> = record;
  return Object.entries(specs).map(([name, spec]) => [
    spec.label,
    told(spec, values[snakeCase(name)] ?? undefined),
  ]);
}

/** How a budget stands, for people; nothing without a budget. */
export function budgetFacts(use: ObjectOf<typeof BUDGET_USE>): [string, string][] {
  if (use.budget_renews_at === null) return [];
  return [
    ['budget spent', amount(use.budget_spent)],
    ['budget renews', moment(use.budget_renews_at)],
  ];
}

function told(spec: MemberSpec, value: unknown): string {
  if (spec.unset !== undefined && value === spec.default) return spec.unset;
  if (spec.type === 'units') return amount(Number(value));
  return spec.unit === undefined ? String(value) : `${String(value)} ${spec.unit}`;
}

function optionOf({ flag }: MemberSpec, text?: string): Option {
  return new Option(`--${flag}`, text);
}

/** Help texts are not sentences here. */
function spoken({ help }: MemberSpec): string {
  return inOptions(`${help.charAt(0).toLowerCase()}${help.slice(1).replace(/\.$/, '')}`);
}

function byDefault({ default: value, unset }: MemberSpec): string {
  return (value === 0 || value === '') && unset !== undefined
    ? ''
    : ` (default: ${String(value ?? unset)})`;
}

function takenAway(spec: MemberSpec): string {
  return spec.default === undefined || spec.type === 'labels' ? `; ${NONE} removes it` : '';
}

/** Null for a member to remove: commander reads undefined as not given. */
function parse(spec: MemberSpec, text: string, creating: boolean): unknown {
  if (!creating && spec.default === undefined && text === NONE) return null;
  const value = valueOf(spec, text);
  const mistake = memberMistake(spec, value);
  if (mistake !== undefined) throw new InvalidArgumentError(`It ${mistake}.`);
  return value;
}

/** Labels of one option that may be given several times. */
function eachLabel(spec: MemberSpec): (text: string, before?: unknown) => unknown {
  return (text, before) => {
    const more = parse(spec, text, true);
    return typeof before === 'string' && before !== ''
      ? parse(spec, `${before},${String(more)}`, true)
      : more;
  };
}

function valueOf({ type }: MemberSpec, text: string): unknown {
  switch (type) {
    case 'units':
      return units(text);
    case 'integer':
    case 'number':
      return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' || (text === 'false' ? false : text);
    case 'labels':
      return text === NONE ? '' : text;
    case 'choice':
    case 'time_zone':
      return text;
  }
}
