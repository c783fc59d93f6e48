import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { findProvider } from '../../src/providers/index.js';
import { edgeReply, writeReply } from './faults.js';
import { findStub } from './index.js';
import { credentialsOf, type Stub, type StubCall, type StubReply } from './stub.js';

/** One request as it reached a stub. */
export interface SeenCall extends StubCall {
  readonly id: string;
  /** What was answered, before faults of transport. */
  readonly reply: StubReply;
}

export interface Stubs {
  readonly origin: string;
  /** Base URL of a provider's stub, with modes in force for all that goes there: faults, variants, `error-<name>`. */
  url(id: string, ...modes: readonly string[]): string;
  /** A channel for it, as the configuration declares one, apart from its name and models. */
  channel(id: string, ...modes: readonly string[]): StubChannelConfig;
  /** Requests in the order they came. */
  readonly seen: SeenCall[];
  close(): Promise<void>;
}

export interface StubChannelConfig {
  readonly provider: string;
  readonly base_url: string;
  readonly credentials: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, unknown>>;
}

/** In a query, switches a mode on for that request alone. */
const MARKER = /!stub:([\w-]+)/g;

/**
 * Every provider on one port of the system's choice, each below a prefix of its own. Modes are switched on by the path
 * (`/<id>/!nan/v1/rerank`), by words in the query (`!stub:nan`) or by the header `x-stub-mode`.
 */
export async function startStubs(
  port = 0,
  find: (id: string) => Stub | undefined = findStub,
): Promise<Stubs> {
  const seen: SeenCall[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((req, res) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      respond(req, res, Buffer.concat(chunks), `http://${req.headers.host ?? ''}`, seen, find);
    });
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${address.port}`;
  const url = (id: string, ...modes: readonly string[]): string =>
    [origin, id, ...modes.map((mode) => `!${mode}`)].join('/');
  return {
    origin,
    url,
    channel: (id, ...modes) => {
      const { channel } = find(id) ?? knownStub(id);
      return {
        provider: id,
        base_url: url(id, ...modes),
        credentials: credentialsOf(channel, url(id)),
        settings: channel.settings?.(url(id)) ?? {},
      };
    },
    seen,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** The stub of a provider that is known to have one. */
export function knownStub(id: string): Stub {
  const stub = findStub(id);
  if (stub === undefined) throw new Error(`there is no stub of ${id}`);
  return stub;
}

/** The model that a channel for the stub names upstream. */
export function stubModel(id: string): string {
  return knownStub(id).channel.model ?? findProvider(id)?.exampleModels[0] ?? 'a-model';
}

function respond(
  req: IncomingMessage,
  res: ServerResponse,
  body: Buffer,
  origin: string,
  seen: SeenCall[],
  find: (id: string) => Stub | undefined,
): void {
  const target = req.url ?? '/';
  const [pathname = '', query = ''] = target.split('?', 2);
  const [, id = '', ...rest] = pathname.split('/');
  const modes = new Set<string>();
  while (rest[0]?.startsWith('!') === true) modes.add(rest.shift()?.slice(1) ?? '');
  for (const [, mode = ''] of body.toString('utf8').matchAll(MARKER)) modes.add(mode);
  const named = req.headers['x-stub-mode'];
  for (const mode of String(named ?? '').split(',')) if (mode !== '') modes.add(mode.trim());
  const call: StubCall = {
    method: req.method ?? 'GET',
    target,
    path: `/${rest.join('/')}`,
    search: new URLSearchParams(query),
    headers: req.headers,
    body,
    base: `${origin}/${id}`,
    modes,
    nowMs: Date.now(),
  };
  const stub = find(id);
  const reply: StubReply =
    stub === undefined ? { status: 404, text: `no stub is named ${id}\n` } : answer(stub, call);
  seen.push({ ...call, id, reply });
  writeReply(res, reply, modes);
}

function answer(stub: Stub, call: StubCall): StubReply {
  for (const mode of call.modes) {
    const failure = mode.startsWith('error-') ? stub.failures[mode.slice(6)] : undefined;
    if (failure !== undefined) return failure.reply;
  }
  return edgeReply(call.modes, call.nowMs) ?? stub.answer(call);
}
