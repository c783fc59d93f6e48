import { expect, it } from '@jest/globals';
import { cohere, RERANK_MEMBERS } from '../../src/ingress/cohere.js';
import { google } from '../../src/ingress/google.js';
import { ingressRoute, keptOf, listsAt } from '../../src/ingress/index.js';
import { listName, IngressRequest, validate } from '../../src/ingress/read.js';
import { leftToParser } from '../support/documents.js';

const lists = () => [listName('documents')];
const DEEP = `${'['.repeat(200)}${']'.repeat(200)}`;

/** Reads a body, counting the most that `JSON.parse` and `JSON.stringify` do between two pauses, in units of text. */
async function readingOf(body: object | string, work = { most: 0 }) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = new IngressRequest(Buffer.from(text), {}, {}, 10_000);
  const [parse, stringify] = [JSON.parse, JSON.stringify];
  let pauses = 0;
  let units = 0;
  const worked = (more: number) => {
    units += more;
    work.most = Math.max(work.most, units);
  };
  JSON.parse = (json: string) => {
    worked(json.length);
    return parse(json) as unknown;
  };
  JSON.stringify = (value: unknown) => {
    const json = stringify(value);
    worked(json.length);
    return json;
  };
  try {
    const read = () => cohere.parse(request);
    const { documents } = await request.read(lists, read, async () => {
      pauses += 1;
      units = 0;
      await Promise.resolve();
    });
    return { documents, pauses, most: work.most };
  } finally {
    [JSON.parse, JSON.stringify] = [parse, stringify];
  }
}

it.each([
  ['deep lists beside a text', `{"text":"t","deep":${DEEP}}`, {}, 't', true],
  ['deep lists that are ranked by', `{"deep":${DEEP}}`, { rank_fields: ['deep'] }, DEEP, false],
  ['the same, to parse', `{"deep":${DEEP}}`, { rank_fields: ['deep'] }, DEEP, true],
])('a body of many small values takes steps: %s', async (_, document, more, text, isParsed) => {
  const documents = Array.from({ length: 1_500 }, () => JSON.parse(document) as object);
  const body = JSON.stringify({ query: 'q', documents, ...more });

  const {
    documents: read,
    pauses,
    most,
  } = await readingOf(isParsed ? leftToParser(body, 'documents') : body);

  expect(pauses).toBeGreaterThan(5);
  expect(most).toBeLessThan(150_000);
  expect([read.count, read.text(0), read.text(1_499)]).toEqual([1_500, text, text]);
});

it('images before one that is refused are not parsed in one go', async () => {
  const image = `data:image/png;base64,${'A'.repeat(50_000)}`;
  const documents = [...Array.from({ length: 40 }, () => ({ image })), { image: 5 }];
  const work = { most: 0 };

  const reading = readingOf({ query: 'q', documents }, work);

  await expect(reading).rejects.toThrow('documents[40]');
  expect(work.most).toBeLessThan(250_000);
});

it('many documents take steps, however small they are', async () => {
  const route = ingressRoute('/v1/projects/p/locations/l/rankingConfigs/c:rank');
  if (route === undefined) throw new Error('nothing is there');
  const records = Array.from({ length: 9_000 }, (_, at) => ({ title: `t${at}`, content: 'c' }));
  const reading = async (count: number) => {
    const body = Buffer.from(JSON.stringify({ query: 'q', records: records.slice(0, count) }));
    const request = new IngressRequest(body, {}, {}, 10_000);
    let pauses = 0;
    const { documents } = await request.read(
      () => listsAt(route),
      () => google.parse(request),
      () => {
        pauses += 1;
        return Promise.resolve();
      },
    );
    return { pauses, last: documents.text(count - 1) };
  };

  expect(await reading(1_000)).toEqual({ pauses: 0, last: 't999\nc' });
  const { pauses, last } = await reading(9_000);
  expect(pauses).toBeGreaterThan(2);
  expect(last).toBe('t8999\nc');
});

it('of fields to rank by no more are looked at than it takes to refuse them', () => {
  const fields = Array.from({ length: 200 }, (_, at) => `f${at}`);
  Object.defineProperty(fields, 150, {
    get: () => {
      throw new Error('it was looked at');
    },
  });

  expect(() => validate(RERANK_MEMBERS, { query: 'q', rank_fields: fields })).toThrow(
    'rank_fields must contain less than or equal to 100 items.',
  );
});

it('members that no form knows are not looked at', () => {
  const members = Object.defineProperty({ query: 'q' }, 'other', {
    enumerable: true,
    get: () => {
      throw new Error('it was looked at');
    },
  });

  expect(validate(RERANK_MEMBERS, members)).toEqual({ query: 'q' });
});

it.each([
  [
    'payload_too_large',
    'The body has an object with more than 50000 members, the limit regardless of its size.',
    Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`m${at}`, 1])),
  ],
  [
    'payload_too_large',
    'The body has a member whose name is longer than 1048576 bytes, the limit regardless of its size.',
    { ['k'.repeat(1_100_000)]: 1 },
  ],
])('an object may not have too much: %s', async (code, message, more) => {
  const reading = readingOf({ ...more, query: 'q', documents: ['a'] });

  await expect(reading).rejects.toMatchObject({ code, message });
});

it('small bodies take no steps, and fields of large ones are checked like those of small ones', async () => {
  const documents = [{ a: 1 }, { a: [2] }];
  const small = await readingOf({ query: 'q', documents, rank_fields: ['a'] });
  const large = readingOf({
    query: 'q',
    documents: [{ a: 'x'.repeat(70_000) }, 3],
    rank_fields: ['a'],
  });

  expect([small.pauses, small.documents.text(1)]).toEqual([0, '[2]']);
  await expect(large).rejects.toMatchObject({
    code: 'invalid_documents',
    message: 'documents[1] must be a string or an object.',
  });
});

it('of long texts only those are kept that some form takes', async () => {
  const long = 'long "汉字" '.repeat(700_000);
  const read = async (members: object) => {
    const body = Buffer.from(JSON.stringify({ query: 'q', documents: ['a'], ...members }));
    const request = new IngressRequest(body, {}, {}, 10);
    const parse = () => cohere.parse(request);
    return request.read(lists, parse, () => Promise.resolve(), keptOf);
  };

  expect((await read({ instruction: long, user: long })).options.instruction).toBe(long);
  expect((await read({ extra: [long, 'a'], model: 'm' })).model).toBe('m');
  await expect(read({ query: long })).rejects.toThrow(`query has ${long.length} characters;`);
  await expect(read({ model: long })).rejects.toThrow('model length must be less than or equal to');
  await expect(read({ query: 'y'.repeat(1_000_001) })).rejects.toThrow('has 1000001 characters;');
  await expect(read({ documents: long })).rejects.toThrow('documents must be an array.');
});
