import { flag, number, recordOf, text } from './records.js';

/** An input of the playground that somebody keeps. */
export interface Example {
  readonly id: number;
  readonly userId: number;
  readonly name: string;
  /** Whether everybody sees it. */
  readonly shared: boolean;
  readonly createdTime: number;
}

export type NewExample = Omit<Example, 'id' | 'createdTime'> & { readonly content: string };

/** An example as it is kept. */
export interface StoredExample extends Example {
  readonly content: string;
}

export const EXAMPLES = recordOf<StoredExample>('examples', {
  id: number(),
  userId: number('user'),
  name: text('name'),
  shared: flag('shared'),
  createdTime: number('created'),
  content: text('content'),
});

export function exampleOf({ content: _, ...example }: StoredExample): Example {
  return example;
}

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
