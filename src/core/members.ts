import { labelsMistake } from './label-text.js';
import { isTimeZone } from './time-zone.js';

/** What all code that reads, writes, checks or shows a member must know about it. */
interface MemberText {
  /** A sentence for people: in the API document, in the tables of `docs/` and, without its full stop, in `--help`. */
  readonly help: string;
  /** Its command-line option with the argument, such as `timeout <ms>`. */
  readonly flag: string;
  /** Its label in the output of the command line. */
  readonly label: string;
  /** What forms call it. */
  readonly title: string;
  /** What forms say below it. */
  readonly hint?: string;
  /** What people read in place of the default, such as `no bound`. */
  readonly unset?: string;
  /** Unit or other suffix shown after the value. */
  readonly unit?: string;
}

interface NumberSpec extends MemberText {
  /** `units`: an amount of quota, which people may also give in dollars. */
  readonly type: 'integer' | 'number' | 'units';
  readonly least: number;
  readonly most: number;
  /** `undefined` for a member that may be absent; null on the wire. */
  readonly default: number | undefined;
}

interface BooleanSpec extends MemberText {
  readonly type: 'boolean';
  readonly default: boolean;
}

interface ChoiceSpec extends MemberText {
  readonly type: 'choice';
  readonly choices: readonly [string, ...string[]];
  /** What people read in place of a choice. */
  readonly choiceTitles?: Readonly<Record<string, string>>;
  readonly default: string;
}

interface TimeZoneSpec extends MemberText {
  readonly type: 'time_zone';
  readonly default: string;
}

/** Labels as a text, such as `team=search,env=prod`. */
interface LabelsSpec extends MemberText {
  readonly type: 'labels';
  readonly default: string;
}

/** One row of a table of members, from which files, API, command line and documentation are generated. */
export type MemberSpec = NumberSpec | BooleanSpec | ChoiceSpec | TimeZoneSpec | LabelsSpec;
export type MemberSpecs = Readonly<Record<string, MemberSpec>>;

/** The type of a member, by its row. */
export type MemberValue<S extends MemberSpec> =
  | (S extends { readonly type: 'choice'; readonly choices: readonly (infer C)[] }
      ? C
      : S extends { readonly type: 'boolean' }
        ? boolean
        : S extends { readonly type: 'time_zone' | 'labels' }
          ? string
          : number)
  | (undefined extends S['default'] ? undefined : never);

/** The members that a table describes. */
export type MembersOf<T extends MemberSpecs> = {
  readonly [K in keyof T]: MemberValue<T[K]>;
};

export function defaultsOf<T extends MemberSpecs>(specs: T): MembersOf<T> {
  const defaults = Object.entries(specs).map(([name, spec]) => [name, spec.default]);
  // Each name has the default of its row, whose type is the member's.
  return Object.fromEntries(defaults) as MembersOf<T>;
}

/** The members of a table that a record has. */
export function presentMembers<T extends MemberSpecs>(
  specs: T,
  record: Partial<MembersOf<T>>,
): Partial<MembersOf<T>> {
  const given: Readonly<Record<string, unknown>> = record;
  return Object.fromEntries(
    Object.keys(specs).flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    // Names and values are the record's own.
  ) as Partial<MembersOf<T>>;
}

function numberMistake(
  { type, least, most }: Extract<MemberSpec, { least: number }>,
  value: unknown,
): string | undefined {
  const isWhole = type !== 'number';
  const isOfType = isWhole ? Number.isInteger(value) : Number.isFinite(value);
  if (isOfType && Number(value) >= least && Number(value) <= most) return undefined;
  return `must be a ${isWhole ? 'whole number' : 'number'} from ${least} to ${most}`;
}

/** The mistake in a value and what would be right; `undefined` if there is none. */
export function memberMistake(spec: MemberSpec, value: unknown): string | undefined {
  if (value === undefined && spec.default === undefined) return undefined;
  switch (spec.type) {
    case 'integer':
    case 'number':
    case 'units':
      return numberMistake(spec, value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false';
    case 'choice':
      return spec.choices.some((choice) => choice === value)
        ? undefined
        : `must be ${spec.choices.join(' or ')}`;
    case 'time_zone':
      return typeof value === 'string' && isTimeZone(value)
        ? undefined
        : 'must be the name of a time zone, such as UTC or Europe/Berlin';
    case 'labels':
      return typeof value === 'string' ? labelsMistake(value) : 'must be a text';
  }
}
