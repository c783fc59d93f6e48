import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { documentsOf, isReturned, type BodyName } from './bodies.js';

/**
 * The cheapest possible upstream in Node: reads requests off a socket by their content length and answers each with a canned
 * ranking. The path says which: `/<documents>/<milliseconds to wait>/<body>/…` for a ranking of that many rows, with the
 * documents if that body wants them returned; the gateway, which asks for none, names `none`. No HTTP library, so that it is
 * never the bottleneck. With the files of a key and a certificate as arguments it speaks TLS.
 */
const PATH = /^POST \/(\d+)\/(\d+)\/([a-z-]+)\//;

interface Answer {
  readonly reply: Buffer;
  readonly delayMs: number;
}

const answers = new Map<string, Answer>();

function answerTo(head: string): Answer {
  const [path = '', documents, delay, body] = PATH.exec(head) ?? [];
  let answer = answers.get(path);
  if (answer === undefined) {
    const echoed = body === undefined || body === 'none' ? undefined : (body as BodyName);
    answer = { reply: replyOf(Number(documents ?? 10), echoed), delayMs: Number(delay ?? 0) };
    answers.set(path, answer);
  }
  return answer;
}

function replyOf(count: number, body: BodyName | undefined): Buffer {
  const echoed = body !== undefined && isReturned(body) ? documentsOf(body, count) : undefined;
  const results = Array.from({ length: count }, (_, rank) => {
    const index = (rank * 7919) % count;
    const relevance_score = Number((0.99 - (rank * 0.98) / count).toFixed(6));
    return { index, relevance_score, document: echoed?.[index] };
  });
  const json = JSON.stringify({
    id: 'bench',
    results,
    meta: { api_version: { version: '2' }, billed_units: { search_units: Math.ceil(count / 100) } },
  });
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

function serve(socket: Socket): void {
  socket.setNoDelay(true);
  let head = '';
  let missing = 0;
  let answer: Answer | undefined;
  const finish = (): void => {
    if (answer === undefined) return;
    const { reply, delayMs } = answer;
    if (delayMs === 0) socket.write(reply);
    else setTimeout(() => socket.write(reply), delayMs);
  };
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
        answer = answerTo(head);
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        head = '';
      }
      if (missing === 0) finish();
    }
  });
  socket.on('error', () => socket.destroy());
}

const [key, cert] = process.argv.slice(2).map((file) => readFileSync(file));
const server = key === undefined ? createServer(serve) : createTlsServer({ key, cert }, serve);
server.listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
