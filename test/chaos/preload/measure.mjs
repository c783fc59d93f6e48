/**
 * With SIGUSR2, says what is left after a full collection: loaded with --import. Objects that stay are what a flood leaves
 * behind, whatever size the heap has.
 */
import { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';
import { Socket } from 'node:net';
import { queryObjects } from 'node:v8';

process.on('SIGUSR2', () => {
  // Collects everything first.
  const count = (constructor) => queryObjects(constructor, { format: 'count' });
  const left = {
    sockets: count(Socket),
    requests: count(IncomingMessage) + count(Http2ServerRequest),
    timers: process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length,
    heapBytes: process.memoryUsage().heapUsed,
    rssBytes: process.memoryUsage.rss(),
  };
  process.stderr.write(`left ${JSON.stringify(left)}\n`);
});
