import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/**
 * The cheapest upstream there is in Node: reads requests off a socket by their content length and answers each with a
 * ranking of as many documents as the path says (`/10/v2/rerank`). No HTTP library, so that it is never the bottleneck.
 */
const replies = new Map<number, Buffer>();

function replyFor(count: number): Buffer {
  let reply = replies.get(count);
  if (reply === undefined) {
    const results = Array.from({ length: count }, (_, rank) => ({
      index: (rank * 7919) % count,
      relevance_score: Number((0.99 - (rank * 0.98) / count).toFixed(6)),
    }));
    const body = JSON.stringify({
      id: 'bench',
      results,
      meta: {
        api_version: { version: '2' },
        billed_units: { search_units: Math.ceil(count / 100) },
      },
    });
    reply = Buffer.from(
      `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    replies.set(count, reply);
  }
  return reply;
}

function serve(socket: Socket): void {
  socket.setNoDelay(true);
  let head = '';
  let missing = 0;
  let count = 0;
  socket.on('data', (chunk: Buffer) => {
    let at = 0;
    while (at < chunk.length) {
      if (missing > 0) {
        const taken = Math.min(missing, chunk.length - at);
        missing -= taken;
        at += taken;
      } else {
        const end = chunk.indexOf('\r\n\r\n', at);
        if (end < 0) {
          head += chunk.toString('latin1', at);
          return;
        }
        head += chunk.toString('latin1', at, end + 4);
        at = end + 4;
        count = Number(/^POST \/(\d+)\//.exec(head)?.[1] ?? 10);
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        head = '';
      }
      if (missing === 0) socket.write(replyFor(count));
    }
  });
  socket.on('error', () => socket.destroy());
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
