import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** A Sentinel that names a master, and leaves the old one as it is after a failover, as a real one does for seconds. */
export interface SentinelDouble {
  readonly port: number;
  /** Clients that listen for failovers. */
  readonly listening: number;
  failover(toPort: number): void;
  close(): Promise<void>;
}

export async function startSentinelDouble(masterPort: number): Promise<SentinelDouble> {
  let port = masterPort;
  const sockets = new Set<Socket>();
  const subscribers = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      subscribers.delete(socket);
    });
    let text = '';
    socket.on('data', (bytes) => {
      text += bytes.toString();
      for (let next = readCommand(text); next !== undefined; next = readCommand(text)) {
        text = next.rest;
        const [name = '', about = ''] = next.words.map((word) => word.toLowerCase());
        if (name === 'subscribe') subscribers.add(socket);
        socket.write(replyTo(name, about, next.words, port));
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get listening() {
      return subscribers.size;
    },
    failover(toPort) {
      port = toPort;
      const news = push(['message', '+switch-master', `mymaster 127.0.0.1 0 127.0.0.1 ${toPort}`]);
      for (const socket of subscribers) socket.write(news);
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function replyTo(name: string, about: string, words: readonly string[], port: number): string {
  if (name === 'subscribe') return `>3\r\n${bulk('subscribe')}${bulk(words[1] ?? '')}:1\r\n`;
  if (name !== 'sentinel') return '+OK\r\n';
  return about === 'get-master-addr-by-name' ? list(['127.0.0.1', String(port)]) : list([]);
}

function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}

/** What nobody has asked for, in the protocol that clients speak today. */
function push(texts: readonly string[]): string {
  return `>${list(texts).slice(1)}`;
}

function list(texts: readonly string[]): string {
  return `*${texts.length}\r\n${texts.map(bulk).join('')}`;
}

/** The first command of what was sent, and what follows it; `undefined` until it is there as a whole. */
function readCommand(
  text: string,
): { readonly words: readonly string[]; readonly rest: string } | undefined {
  const lines = text.split('\r\n');
  const count = 2 * Number(lines[0]?.slice(1));
  // Behind the last word there is a line end, so another line, if only an empty one.
  if (Number.isNaN(count) || lines.length < count + 2) return undefined;
  const words = lines.slice(1, count + 1).filter((_line, at) => at % 2 === 1);
  return { words, rest: lines.slice(count + 1).join('\r\n') };
}
