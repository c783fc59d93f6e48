import { expect, it } from '@jest/globals';
import { cohere } from '../../src/ingress/cohere.js';
import { listName, IngressRequest } from '../../src/ingress/read.js';

const lists = () => [listName('documents')];
const DEEP = `${'['.repeat(200)}${']'.repeat(200)}`;

/** Reads a body, counting what `JSON.parse` and `JSON.stringify` do between two pauses, in units of text. */
async function readingOf(body: object | string) {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const request = new IngressRequest(Buffer.from(text), {}, {}, 10_000);
  const [parse, stringify] = [JSON.parse, JSON.stringify];
  let pauses = 0;
  let most = 0;
  let units = 0;
  const worked = (more: number) => {
    units += more;
    most = Math.max(most, units);
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
    return { documents, pauses, most };
  } finally {
    [JSON.parse, JSON.stringify] = [parse, stringify];
  }
}

it.each([
  ['deep lists beside a text', `{"text":"t","deep":${DEEP}}`, {}, 't'],
  ['deep lists that are ranked by', `{"deep":${DEEP}}`, { rank_fields: ['deep'] }, DEEP],
])('a body of many small values takes steps: %s', async (_, document, more, text) => {
  const documents = Array.from({ length: 1_500 }, () => JSON.parse(document) as object);

  const { documents: read, pauses, most } = await readingOf({ query: 'q', documents, ...more });

  expect(pauses).toBeGreaterThan(5);
  expect(most).toBeLessThan(150_000);
  expect([read.count, read.text(0), read.text(1_499)]).toEqual([1_500, text, text]);
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
