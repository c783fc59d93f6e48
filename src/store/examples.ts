import type { Owned, OwnedRecords, OwnedSpec } from './owned-records.js';
import { flag, number, recordOf, text } from './records.js';

/** An input of the playground that somebody keeps. */
export interface Example extends Owned {
  readonly name: string;
}

/** An example as it is kept. */
interface StoredExample extends Example {
  readonly content: string;
}

export type NewExample = Omit<StoredExample, 'id' | 'createdTime'>;

export const EXAMPLES: OwnedSpec<StoredExample> = {
  ...recordOf<StoredExample>('examples', {
    id: number(),
    userId: number('user'),
    name: text('name'),
    shared: flag('shared'),
    createdTime: number('created'),
    content: text('content'),
  }),
  unlisted: ['content'],
};

export interface ExampleStore {
  /** Keeps one more; `too_many` if the account already has `most` of them. */
  addExample(example: NewExample, most: number, nowMs: number): Promise<Example | 'too_many'>;
  /** Those of the account and those that are shared, newest first, without what is in them. */
  listExamples(userId: number): Promise<readonly Example[]>;
  getExample(
    id: number,
  ): Promise<{ readonly example: Example; readonly content: string } | undefined>;
  deleteExample(id: number): Promise<boolean>;
}

export function exampleStore(examples: OwnedRecords<StoredExample>): ExampleStore {
  return {
    async addExample(example, most, nowMs) {
      const added = await examples.add(example, most, nowMs);
      return added === 'too_many' ? added : exampleOf(added);
    },
    listExamples: async (userId) => (await examples.list(userId)).map(exampleOf),
    async getExample(id) {
      const stored = await examples.get(id);
      return stored && { example: exampleOf(stored), content: stored.content };
    },
    deleteExample: (id) => examples.delete(id),
  };
}

function exampleOf({ content: _, ...example }: StoredExample): Example {
  return example;
}
