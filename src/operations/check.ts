import Joi from 'joi';
import { closest } from '../core/closest.js';
import { GatewayError } from '../core/errors.js';
import { namesOf } from '../shapes/shape.js';
import { inOurWords } from './original-clients.js';

/** The schema of an operation that takes nothing. */
const NOTHING = Joi.object({});

export function check(
  given: Joi.ObjectSchema | undefined,
  value: unknown,
  convert: boolean,
): unknown {
  // The body of an operation that takes none is not read.
  if (given === undefined && value === undefined) return {};
  const schema = given ?? NOTHING;
  const known = namesOf(schema);
  // Validation passes over this one name.
  if (Object.hasOwn(Object(value) as object, '__proto__')) {
    throw new GatewayError('invalid_request', '__proto__ is unknown.', { param: '__proto__' });
  }
  const result = schema.required().validate(inOurWords(value, known), {
    convert,
    abortEarly: false,
    errors: { wrap: { label: false } },
  });
  if (result.error === undefined) return result.value as unknown;
  const { details } = result.error;
  const [first] = details;
  const path = first?.path.join('.') ?? '';
  const said = [...new Set(details.map((detail) => mistakeOf(detail, known)))].join('; ');
  throw new GatewayError(
    'invalid_request',
    said.endsWith('?') ? said : `${said}.`,
    path === '' ? {} : { param: path },
  );
}

function mistakeOf(
  { type, path, message, context }: Joi.ValidationErrorItem,
  known: readonly string[],
): string {
  if (type === 'object.oxor' || type === 'object.nand') {
    const names = (context?.peers ?? []) as readonly string[];
    return `Give either ${names.join(' or ')}, not both`;
  }
  if (path.length === 0) return 'The body must be a JSON object';
  if (type !== 'object.unknown') return message;
  const meant = path.length === 1 ? namesMeantBy(String(path.at(-1)), known) : [];
  const question = meant.length === 0 ? '' : `; did you mean ${meant.join(' or ')}?`;
  return `${path.join('.')} is unknown${question}`;
}

/** A name that is spelled slightly differently, else those that contain it. */
function namesMeantBy(name: string, known: readonly string[]): readonly string[] {
  const near = closest(name, known);
  return near === undefined ? known.filter((one) => one.split('_').includes(name)) : [near];
}
