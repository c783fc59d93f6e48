import { describe, expect, it } from '@jest/globals';
import Joi from 'joi';
import {
  arrayOf,
  choice,
  extended,
  mapOf,
  namesOf,
  nullable,
  partial,
  recordOf,
  shape,
  wireOf,
  type Of,
} from '../../src/shapes/shape.js';

const NOTES = partial({ short_note: Joi.string(), seen_at: Joi.number() });
const THING = shape({
  id: Joi.number(),
  made_by: nullable(Joi.string()),
  tags: arrayOf(Joi.string()),
  sizes: mapOf(Joi.number()),
  kind: choice('big', 'small').default('big'),
  ...NOTES,
});
const SENT: Of<typeof THING> = { id: 1, made_by: null, tags: [], sizes: { a: 1 }, kind: 'small' };

describe('a shape', () => {
  it('requires members, except optional ones and those with a default', () => {
    const { kind: _, ...sent } = SENT;

    expect(THING.validate(sent)).toEqual({ value: { ...sent, kind: 'big' } });
    expect(THING.validate({ ...sent, id: undefined }).error?.message).toBe('"id" is required');
    expect(THING.validate({ ...sent, made_by: undefined }).error?.message).toBe(
      '"made_by" is required',
    );
  });

  it('has the type of what it lets pass', () => {
    // @ts-expect-error a number is not a string
    const wrong: Of<typeof THING> = { ...SENT, made_by: 1 };
    // @ts-expect-error an optional member has a type too
    const wrongNote: Of<typeof THING> = { ...SENT, short_note: 1 };
    // @ts-expect-error kind is missing
    const incomplete: Of<typeof THING> = { id: 1, made_by: null, tags: [], sizes: {} };

    for (const value of [wrong, wrongNote]) expect(THING.validate(value).error).toBeDefined();
    expect(THING.validate(incomplete).error).toBeUndefined();
  });

  it('can be extended: the other members come last', () => {
    const more = extended(THING, { owner: Joi.string() });

    expect(namesOf(more)).toEqual([...namesOf(THING), 'owner']);
    expect(more.validate(SENT).error?.message).toBe('"owner" is required');
  });
});

describe('a record on the wire', () => {
  const PLACE = shape({ street_name: Joi.string(), floor: nullable(Joi.number()) });

  it('has the members of the shape and no others, null for what is not set', () => {
    const record: { readonly streetName: string; readonly floor?: number; readonly key: string } = {
      streetName: 'High Street',
      key: 'secret',
    };

    expect(wireOf(PLACE, record)).toEqual({ street_name: 'High Street', floor: null });
  });

  it('does not compile if the record lacks a member', () => {
    // @ts-expect-error floor is missing, although it may be undefined
    expect(wireOf(PLACE, { streetName: 'High Street' })).toHaveProperty('floor', null);
    // @ts-expect-error streetName has the wrong type
    expect(wireOf(PLACE, { streetName: 1, floor: 2 })).toHaveProperty('floor', 2);
  });
});

describe('a record of what was sent', () => {
  it('has those of the named members that are there', () => {
    expect(recordOf(NOTES, { short_note: 'a' })).toEqual({ shortNote: 'a' });
    expect(Object.keys(recordOf(NOTES, {}))).toEqual([]);
  });
});
