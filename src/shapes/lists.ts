import Joi from 'joi';
import type { Order, Page, Slice } from '../store/store.js';
import { arrayOf, optional, shape, type ObjectOf, type Of, type Optional } from './shape.js';

const MAX_PAGE_SIZE = 100;
const MAX_PAGE = 1_000_000;

/** Which part of a list. */
export const LIST_QUERY = {
  p: Joi.number().integer().min(1).max(MAX_PAGE).default(1).description('The page, from 1.'),
  page_size: Joi.number().integer().min(1).max(MAX_PAGE_SIZE).default(20),
};
export type ListQuery = ObjectOf<typeof LIST_QUERY>;

export const ID = Joi.number().integer().min(1).max(Number.MAX_SAFE_INTEGER);

/** In a view: what it was read at. In a change: what it was made from. */
export const REVISION = Joi.string().description(
  'Send it as `if_revision`, so that a change made meanwhile is not overwritten.',
);
export const IF_REVISION = optional(Joi.string().max(64).empty(null)).description(
  'The `revision` that the change was made from: if somebody else has changed it since, 409 with the current state as `data`.',
);

/** Of a search: a part of a name, for instance. */
export const KEYWORD = optional(Joi.string().max(256).empty(''));

/** A label in a query: its name, or its name and value. */
export const LABEL = Joi.string()
  .max(320)
  .pattern(/^[\w.][-\w./]*(?:=[-\w.]*)?$/)
  .empty('')
  .messages({ 'string.pattern.base': '{{#label}} must be a label such as team or team=search' });

/** The names on the wire of what a list can be ordered by. */
type Sorts<By extends string> = Readonly<Record<string, By>>;

/** `sort` of a query: one of the members, the least first or, with a minus before it, the greatest first. */
export function sortOf<By extends string>(
  members: Sorts<By>,
  otherwise: string,
): Optional<Joi.StringSchema> {
  const names = Object.keys(members).flatMap((name) => [name, `-${name}`]);
  return optional(
    Joi.string()
      .valid(...names)
      .empty(''),
  ).description(`With a minus, the greatest first. If not given: ${otherwise}.`);
}

/** The order that a `sort` asks for, if one is given. */
export function orderOf<By extends string>(
  members: Sorts<By>,
  sort: string | undefined,
): { readonly order?: Order<By> } {
  if (sort === undefined) return {};
  const descending = sort.startsWith('-');
  const by = members[descending ? sort.slice(1) : sort];
  return by === undefined ? {} : { order: { by, descending } };
}

/** The `:id` of a path. */
export const ID_PARAMS = shape({ id: ID });

export function sliceOf({ p, page_size }: ListQuery): Slice {
  return { offset: (p - 1) * page_size, limit: page_size };
}

/** A page of a list on the wire, each item as `view` shows it. */
export function listReply<T, V>(
  { items, total }: Page<T>,
  { p, page_size }: ListQuery,
  view: (item: T) => V,
): ListReply<V> {
  return { items: items.map(view), total, page: p, page_size };
}

/** The schema of a list of such items. */
export function listOf<V>(item: Joi.ObjectSchema<V>) {
  return shape({
    items: arrayOf(item),
    total: Joi.number().integer().min(0),
    page: Joi.number().integer().min(1),
    page_size: Joi.number().integer().min(1),
  });
}
export type ListReply<V> = Of<ReturnType<typeof listOf<V>>>;
