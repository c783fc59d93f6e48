import type { Example } from '../store/store.js';

/** An example of the playground, without what is in it. */
export interface ExampleWire {
  id: number;
  name: string;
  shared: boolean;
  own: boolean;
  created_time: number;
}

export type ExampleContent = Record<string, unknown>;

/** As one account sees it. */
export function exampleWire(userId: number | undefined): (example: Example) => ExampleWire {
  return ({ id, userId: ownerId, name, shared, createdTime }) => ({
    ...{ id, name, shared, own: ownerId === userId },
    created_time: createdTime,
  });
}
