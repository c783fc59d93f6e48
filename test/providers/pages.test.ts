import { describe, expect, it } from '@jest/globals';
import { textDocuments } from '../../src/core/text-documents.js';
import { bedrock } from '../../src/providers/bedrock.js';
import { readPages } from '../../src/providers/pages.js';
import type { HttpProvider, UpstreamCall } from '../../src/providers/provider.js';

const call: UpstreamCall = {
  model: 'cohere.rerank-v3-5:0',
  query: 'q',
  documents: textDocuments(['a', 'b', 'c', 'd']),
  topN: 4,
  options: {},
  settings: { region: 'us-west-2' },
};

interface Page {
  readonly status?: number;
  readonly rows?: readonly number[];
  readonly nextToken?: string;
}

/** Answers call after call with the pages given, and keeps what each call asked for. */
async function play(
  pages: readonly Page[],
  asking: UpstreamCall = call,
  provider: HttpProvider = bedrock,
  regions: unknown[] = [],
) {
  const asked: (string | undefined)[] = [];
  const send = ({ page, settings }: UpstreamCall) => {
    const { status = 200, rows, nextToken } = pages[asked.length] ?? {};
    asked.push(page);
    regions.push(settings.region);
    const results = rows?.map((index) => ({ index, relevanceScore: 1 - index / 10 }));
    return Promise.resolve({
      status,
      headers: {},
      text: JSON.stringify(status === 200 ? { results, nextToken } : { message: 'no' }),
    });
  };
  const reading = await readPages(provider, asking, await send(asking), send, () => 0);
  const rows = reading.kind === 'ranking' ? reading.ranking.rows.map(({ index }) => index) : [];
  return { asked, rows, failure: reading.kind === 'failure' ? reading.failure.kind : undefined };
}

describe('readPages', () => {
  it('goes on in the other form that a refusal asked for', async () => {
    const regions: unknown[] = [];
    const provider: HttpProvider = {
      ...bedrock,
      otherForm: ({ status }) => (status === 400 ? { region: 'eu-west-1' } : undefined),
    };
    const pages = [{ status: 400 }, { rows: [0, 1], nextToken: 'two' }, { rows: [2, 3] }];

    expect(await play(pages, call, provider, regions)).toMatchObject({ rows: [0, 1, 2, 3] });
    expect(regions).toEqual(['us-west-2', 'eu-west-1', 'eu-west-1']);
  });

  it('asks once if there is one page', async () => {
    expect(await play([{ rows: [0, 1, 2, 3] }])).toEqual({
      asked: [undefined],
      rows: [0, 1, 2, 3],
      failure: undefined,
    });
  });

  it('goes on with the token of the previous page until there is none', async () => {
    const pages = [
      { rows: [0, 1], nextToken: 'two' },
      { rows: [2], nextToken: 'three' },
      { rows: [3] },
    ];

    expect(await play(pages)).toEqual({
      asked: [undefined, 'two', 'three'],
      rows: [0, 1, 2, 3],
      failure: undefined,
    });
  });

  it('stops at as many rows as were asked for', async () => {
    const pages = [{ rows: [0, 1], nextToken: 'two' }];

    expect((await play(pages, { ...call, topN: 2 })).asked).toEqual([undefined]);
  });

  it('fails if a later page fails', async () => {
    const pages = [{ rows: [0, 1], nextToken: 'two' }, { status: 500 }];

    expect((await play(pages)).failure).toBe('transient');
  });

  it('does not go on for ever if pages come back empty', async () => {
    const pages = [
      { rows: [0, 1], nextToken: 'two' },
      { rows: [], nextToken: 'two' },
    ];

    expect(await play(pages)).toMatchObject({ asked: [undefined, 'two'], failure: 'invalid' });
  });
});
