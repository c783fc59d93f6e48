import { describe, expect, it } from '@jest/globals';
import { sharedReplies } from '../../src/gateway/shared-replies.js';
import type { ReplyStore } from '../../src/store/store.js';
import { offer, ranking } from '../support/offers.js';

const REST_MS = 5_000;
const NONE = '{"version":1,"rows":[],"warnings":[],"servedBy":[]}';

function setUp(store: Partial<ReplyStore>) {
  let elapsedMs = 0;
  const faults: string[] = [];
  const replies = sharedReplies({
    store: {
      findReply: () => Promise.resolve(undefined),
      keepReply: () => Promise.resolve(),
      ...store,
    },
    most: 7,
    observe: (event) => {
      if (event.kind === 'fault') faults.push(event.what);
    },
    now: () => 1_000,
    elapsed: () => elapsedMs,
  });
  return { replies, faults, pass: (ms: number) => (elapsedMs += ms) };
}

describe('rankings that nodes keep for each other', () => {
  it('come back as they were, and name nothing that was asked', async () => {
    const kept = new Map<string, string>();
    const { replies } = setUp({
      keepReply: (name, text) => {
        kept.set(name, text);
        return Promise.resolve();
      },
      findReply: (name) => Promise.resolve({ text: kept.get(name) ?? '', leftMs: 9 }),
    });
    const given = { ...ranking(offer(1)), usage: { inputTokens: 3 }, warnings: ['w'] };

    replies.keep('name', given, 60_000);

    expect(await replies.find('name')).toEqual({
      ranking: { ...given, written: undefined },
      leftMs: 9,
    });
  });

  it.each<[string, () => Promise<never>]>([
    ['fails', () => Promise.reject(new Error('away'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('are done without for a while where the store %s', async (_what, findReply) => {
    let asked = 0;
    const { replies, faults, pass } = setUp({
      findReply: () => {
        asked += 1;
        return findReply();
      },
    });

    expect([await replies.find('a'), await replies.find('a')]).toEqual([undefined, undefined]);
    expect([asked, faults.length]).toEqual([1, 1]);
    pass(REST_MS);
    await replies.find('a');
    expect(asked).toBe(2);
  });

  it('rest once for all that fail at the same time, as long as from the first', async () => {
    const fails: (() => void)[] = [];
    const { replies, faults, pass } = setUp({
      keepReply: () =>
        new Promise((_resolve, reject) => fails.push(() => reject(new Error('away')))),
      findReply: () => Promise.resolve({ text: NONE, leftMs: 9 }),
    });
    const keep = (name: string): void => replies.keep(name, ranking(offer(1)), 1);
    const fail = async (): Promise<void> => {
      fails.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    };

    keep('a');
    keep('b');
    await fail();
    pass(REST_MS - 1);
    await fail();
    expect([faults.length, await replies.find('a')]).toEqual([1, undefined]);
    pass(1);

    expect(await replies.find('a')).toMatchObject({ leftMs: 9 });
  });

  it('are not kept where they are long', () => {
    const kept: number[] = [];
    const { replies } = setUp({
      keepReply: (_name, text) => {
        kept.push(text.length);
        return Promise.resolve();
      },
    });
    const empty = { ...ranking(offer(1)), rows: [], warnings: [''] };
    replies.keep('short', empty, 1);
    const [least = 0] = kept;
    for (const characters of [1_000_000, 1_000_001]) {
      replies.keep('long', { ...empty, warnings: ['w'.repeat(characters - least)] }, 1);
    }

    expect(kept).toEqual([least, 1_000_000]);
  });

  it.each(['takes', 'refuses'])(
    'are kept where the store %s them, and not while a hundred of them wait',
    async (how) => {
      const waiting: (() => void)[] = [];
      const { replies } = setUp({
        keepReply: () =>
          new Promise((resolve, reject) =>
            waiting.push(how === 'takes' ? resolve : () => reject(new Error('away'))),
          ),
      });
      const keep = (times: number): void => {
        for (let at = 0; at < times; at += 1) replies.keep('name', ranking(offer(1)), 1);
      };

      keep(101);
      expect(waiting).toHaveLength(100);
      for (const end of waiting) end();
      await new Promise((resolve) => setImmediate(resolve));
      keep(2);

      expect(waiting).toHaveLength(102);
    },
  );

  it('are not read where another release has written them', async () => {
    const text = '{"version":2,"rows":[0,1],"warnings":[],"servedBy":[]}';
    const { replies, faults } = setUp({ findReply: () => Promise.resolve({ text, leftMs: 9 }) });

    expect([await replies.find('a'), faults]).toEqual([undefined, []]);
  });
});
