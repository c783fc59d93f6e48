import type { Redis } from 'ioredis';

/** The parts of a client that are watched. */
interface Watched {
  /** Its connection: none before the first. */
  readonly stream: Redis['stream'] | undefined;
  /** Commands that wait for answers. */
  readonly commandQueue: { readonly length: number };
}

interface Silence {
  readonly bytesRead: number;
  readonly sinceMs: number;
}

/** How many looks are taken in the time that a server may be silent. */
const LOOKS = 4;

/**
 * Drops connections on which nothing arrives for a while although commands wait for answers: a server that hangs would
 * collect commands without limit. The client's own `socketTimeout` would be simpler, but it blames the server for whatever
 * keeps this process busy: its timer fires before the answer that has long arrived is read. Returns a function that stops it.
 */
export function dropSilent(clients: () => readonly Watched[], silentMs: number): () => void {
  const silences = new WeakMap<Redis['stream'], Silence>();
  const look = ({ stream, commandQueue }: Watched): void => {
    if (stream === undefined) return;
    const { bytesRead } = stream;
    const nowMs = performance.now();
    const known = silences.get(stream);
    if (commandQueue.length === 0) silences.delete(stream);
    else if (known?.bytesRead !== bytesRead) silences.set(stream, { bytesRead, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= silentMs) {
      // Whatever has arrived is read before this runs.
      setImmediate(() => {
        if (stream.bytesRead === bytesRead) {
          stream.destroy(new Error(`Redis was silent for ${silentMs} ms`));
        }
      });
    }
  };
  const timer = setInterval(() => clients().forEach(look), silentMs / LOOKS).unref();
  return () => clearInterval(timer);
}
