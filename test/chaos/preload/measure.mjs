/**
 * With SIGUSR2, says what is left after a full collection: loaded with --import. Objects that stay are what a flood leaves
 * behind, whatever size the heap has.
 */
import { Readable } from 'node:stream';
import { queryObjects } from 'node:v8';

process.on('SIGUSR2', () => {
  const left = {
    // Connections, requests and streams of HTTP/2. Collects everything first, which takes seconds: a busy worker that takes ten is killed.
    streams: queryObjects(Readable, { format: 'count' }),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    heapBytes: process.memoryUsage().heapUsed,
    rssBytes: process.memoryUsage.rss(),
  };
  process.stderr.write(`left ${JSON.stringify(left)}\n`);
});
