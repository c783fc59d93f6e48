import { afterEach } from '@jest/globals';
import { startUpstream, type Answer, type TestUpstream } from './upstream.js';

interface Closable {
  close(): Promise<void>;
}

/** What a test opens: closed after it, the latest first. */
export function opened(): {
  readonly push: (...parts: readonly Closable[]) => void;
  /** An upstream for this test alone. */
  readonly upstream: (answer?: Answer) => Promise<TestUpstream>;
} {
  const open: Closable[] = [];
  afterEach(async () => {
    for (const part of open.splice(0).reverse()) await part.close();
  });
  return {
    push: (...parts) => void open.push(...parts),
    upstream: async (answer) => {
      const upstream = await startUpstream(answer);
      open.push(upstream);
      return upstream;
    },
  };
}
