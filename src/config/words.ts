import type Joi from 'joi';
import { unknownName } from '../core/closest.js';
import type { SettingPath } from './files.js';
import { gluedMistake } from './layout.js';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import { isRecord } from '../core/records.js';

/** The mistake that the schema found in one setting, as the end of a sentence that says what would be right. */
export function sayMistake(schema: Joi.Schema, detail: Joi.ValidationErrorItem): string {
  const { type, path, message, context } = detail;
  const limit = String(context?.limit);
  const slip = slipIn(schema, detail);
  if (slip !== undefined) return slip;
  switch (type) {
    case 'any.required':
      return 'is missing';
    case 'object.unknown':
      return unknownName(String(path.at(-1)), namesAt(schema, path.slice(0, -1)), 'a setting');
    case 'object.missing':
      return `needs one of ${listOf(context?.peers)}`;
    case 'object.xor':
      return `has more than one of ${listOf(context?.peers)}; keep one`;
    case 'string.base':
      return Array.isArray(context?.value)
        ? 'must be a string, not a list'
        : isRecord(context?.value)
          ? 'must be a string, not a group'
          : 'must be a string; put it in quotes';
    case 'string.empty':
      return 'must not be empty';
    case 'string.min':
      return `must have at least ${limit} characters`;
    case 'string.max':
      return `must have at most ${limit} characters`;
    case 'string.uriCustomScheme':
      return 'must be a URL with http:// or https://';
    case 'boolean.base':
      return 'must be true or false';
    case 'number.base':
      return `must be a number${exampleOf(schema, path)}${/^\d/.test(String(context?.value)) ? ', without a unit or a separator' : ''}`;
    case 'number.integer':
      return `must be a whole number${exampleOf(schema, path)}`;
    case 'number.infinity':
    case 'number.unsafe':
      return 'is too large a number';
    case 'object.base':
      return `must be a group of settings by name${groupOf(namesAt(schema, path))}`;
    case 'object.min':
      return 'must not be empty';
    case 'array.sparse':
      return 'is empty; remove it, or give it a value';
    case 'array.base':
      return `must be a list,${exampleOf(schema, path) || ' such as [a, b]'}`;
    case 'array.min':
      return 'must not be an empty list';
    case 'array.unique':
      return context?.path === undefined
        ? 'is in the list already'
        : `has the ${String(context.path)} of another entry; ${String(context.path)}s must be unique`;
    default:
      return message;
  }
}

/** Names that other gateways' files begin with. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'model_list',
  'general_settings',
  'litellm_settings',
  'router_settings',
]);

/** Settings that hold units of quota. */
const UNITS = /^(?:per_\w+|\w*quota|budget|cost)$/;

/** What is wrong with an amount in dollars; `undefined` if it is none. */
function dollarsMistake(value: unknown, path: SettingPath): string | undefined {
  const text = String(value);
  const isAmount = typeof value === 'number' && UNITS.test(String(path.at(-1)));
  if (!isAmount && !/^\$\s*[\d.]|\d\s*(?:usd|\$|dollars?)$/i.test(text)) return undefined;
  const units = Math.round(Number.parseFloat(text.replace(/^\$\s*/, '')) * UNITS_PER_DOLLAR);
  const whole = isAmount ? 'a whole number' : 'a number';
  return `must be ${whole} of units (a dollar has ${UNITS_PER_DOLLAR}): ${units}`;
}

/** What people write who know the setting and not its form. */
function slipIn(schema: Joi.Schema, { type, path, context }: Joi.ValidationErrorItem) {
  const value: unknown = context?.value;
  const where = path.map((part) => (typeof part === 'number' ? '#' : part)).join('.');
  const glued = gluedMistake(value);
  if (glued !== undefined && type === 'object.base') return glued;
  const [name = 'name'] = isRecord(value) ? Object.keys(value) : [];
  switch (`${where} ${type}`) {
    case 'channels array.base':
      return `must be a list; begin each channel with "- ", such as "- name: ${name}"`;
    case 'channels.# object.base':
      return 'must have a name, a provider and models; begin it with "- name: "';
    case 'channels.#.models object.base':
      return typeof value === 'string'
        ? `must be a list of models: [${value.replace(/^\[|\]$/g, '')}]${value.startsWith('[') ? ', without quotes' : ''}`
        : 'must be a list of models, such as [rerank-v3.5], or names with those of the upstream';
    case 'channels.#.models object.min':
      return 'must have at least one name with that of the upstream, such as "m: m"; names alone are a list, such as [m]';
    case 'channels.#.models.# string.base':
      return isRecord(value)
        ? `must be a name; to give the names of the upstream too, write each as a line "${name}: …" without "- "`
        : undefined;
    case 'models object.base':
      return 'must have rules by the names of models, such as "rerank-v3.5: { hedge: true }"; what a channel serves is in its own "models:"';
    case 'tags array.base':
      return `must be a list; begin each tag with "- ", such as "- tag: ${name}"`;
    case 'tags.# object.base':
      return typeof value === 'string' ? `must be a group, such as "- tag: ${value}"` : undefined;
  }
  if (type === 'number.base' || type === 'number.integer') {
    const inDollars = dollarsMistake(value, path);
    if (inDollars !== undefined) return inDollars;
  }
  return type === 'object.unknown' ? misplaced(schema, path) : undefined;
}

/** What is wrong with a name that another program knows, or that stands in the wrong group. */
function misplaced(schema: Joi.Schema, path: SettingPath): string | undefined {
  const name = String(path.at(-1));
  if (path.length === 2 && namesAt(schema, []).includes(name)) {
    return `belongs at the beginning of a line, outside "${path[0]}:"`;
  }
  if (path.length > 2) return undefined;
  if (path.length === 1 && ELSEWHERE.has(name)) {
    return 'is a setting of LiteLLM; here, "channels:" has a provider, an api_key and models for each entry: "rerank-gateway import litellm FILE" carries them over';
  }
  const groups = namesAt(schema, []).filter((group) => namesAt(schema, [group]).includes(name));
  return groups.length === 0
    ? undefined
    : `belongs below ${groups.map((group) => `"${group}:"`).join(' or ')}, indented by two spaces`;
}

/** The names that the schema knows in the group at `path`. */
function namesAt(schema: Joi.Schema, path: SettingPath): string[] {
  return Object.keys(descriptionAt(schema, path)?.keys ?? {});
}

function exampleOf(schema: Joi.Schema, path: SettingPath): string {
  const example = descriptionAt(schema, path)?.flags?.default;
  if (Array.isArray(example) && example.length > 0) return ` such as [${example.join(', ')}]`;
  return typeof example === 'number' ? ` such as ${example}` : '';
}

function groupOf(names: readonly string[]): string {
  return names.length === 0 ? '' : `: ${names.join(', ')}`;
}

/** Joi types descriptions loosely; these members are how it lays out objects, maps and lists. */
interface Description {
  readonly keys?: Readonly<Record<string, Description>>;
  readonly items?: readonly Description[];
  readonly patterns?: readonly { readonly rule: Description }[];
  readonly flags?: { readonly default?: unknown };
}

/** Joi checks each description that it makes, which takes longer than everything else that is done with settings. */
const descriptions = new WeakMap<Joi.Schema, Description>();

function descriptionOf(schema: Joi.Schema): Description {
  const known = descriptions.get(schema);
  if (known !== undefined) return known;
  const made: Description = schema.describe();
  descriptions.set(schema, made);
  return made;
}

function descriptionAt(schema: Joi.Schema, path: SettingPath): Description | undefined {
  let found: Description | undefined = descriptionOf(schema);
  for (const part of path) {
    found =
      typeof part === 'number'
        ? found?.items?.[0]
        : (found?.keys?.[part] ?? found?.patterns?.[0]?.rule);
  }
  return found;
}

function listOf(names: unknown): string {
  return Array.isArray(names) ? names.join(', ') : '';
}
