import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

export interface TestMailServer {
  readonly url: string;
  /** The next message to an address, as it came; waits for it. */
  next(address: string): Promise<string>;
  /** How many messages to an address nobody has asked for yet. */
  waiting(address: string): number;
  /** How many clients are connected. */
  connected(): number;
  close(): Promise<void>;
}

/** A real SMTP server on a port of the system's choice, which keeps what it gets. */
export async function startMailServer(): Promise<TestMailServer> {
  const inbox = new Map<string, string[]>();
  const readers = new Map<string, ((message: string) => void)[]>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const message = Buffer.concat(chunks).toString();
        for (const { address } of session.envelope.rcptTo) deliver(address, message);
        callback();
      });
    },
  });
  const deliver = (address: string, message: string): void => {
    const reader = readers.get(address)?.shift();
    if (reader === undefined) inbox.set(address, [...(inbox.get(address) ?? []), message]);
    else reader(message);
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    next: (address) =>
      new Promise((resolve) => {
        const message = inbox.get(address)?.shift();
        if (message === undefined) readers.set(address, [...(readers.get(address) ?? []), resolve]);
        else resolve(message);
      }),
    waiting: (address) => inbox.get(address)?.length ?? 0,
    connected: () => server.connections.size,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}
