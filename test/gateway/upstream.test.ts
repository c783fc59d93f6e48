import { afterEach, describe, expect, it } from '@jest/globals';
import { Upstream, type UpstreamRequest } from '../../src/gateway/upstream.js';
import { deferred } from '../support/deferred.js';
import { startUpstream, type TestUpstream } from '../support/upstream.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of open.splice(0).reverse()) await part.close();
});

function upstreamWith(refuses?: (address: string) => boolean): Upstream {
  const upstream = new Upstream({ maxReplyBytes: 1_000, refuses });
  open.push(upstream);
  return upstream;
}

async function server(body: string): Promise<TestUpstream> {
  const started = await startUpstream((_request, res) => void res.writeHead(200).end(body));
  open.push(started);
  return started;
}

const post = (origin: string, more: Partial<UpstreamRequest> = {}): UpstreamRequest => ({
  origin,
  path: '/',
  method: 'POST',
  headers: [],
  body: '{}',
  timeoutMs: 5_000,
  stillWanted: () => true,
  ...more,
});

describe('Upstream', () => {
  it('refuses a name that leads to a private address, before anything is sent', async () => {
    const target = await server('ok');
    const byName = target.url.replace('127.0.0.1', 'localhost');
    const refusing = upstreamWith((address) => address === '127.0.0.1' || address === '::1');

    await expect(refusing.send(post(byName))).rejects.toMatchObject({ fault: 'connect' });

    expect(target.seen).toHaveLength(0);
    expect(await upstreamWith(() => false).send(post(byName))).toMatchObject({ text: 'ok' });
  });

  it('does not write a request that is not wanted any more when the connection is made', async () => {
    const target = await server('ok');

    const sending = upstreamWith().send(post(target.url, { stillWanted: () => false }));

    await expect(sending).rejects.toMatchObject({ fault: 'withdrawn' });
    expect(target.seen).toHaveLength(0);
  });

  it('stops reading a reply that is larger than allowed', async () => {
    const target = await server('x'.repeat(2_000));

    await expect(upstreamWith().send(post(target.url))).rejects.toMatchObject({
      fault: 'unreadable',
    });
  });

  it('tells a connection that cannot be made from one that breaks', async () => {
    await expect(upstreamWith().send(post('http://127.0.0.1:1'))).rejects.toMatchObject({
      fault: 'connect',
      stale: false,
    });
  });

  it('lets go of an origin that is not kept, once what is under way has ended', async () => {
    const answer = deferred();
    const sockets = new Set<unknown>();
    const target = await startUpstream(async (_request, res) => {
      sockets.add(res.socket);
      await answer.promise;
      res.writeHead(200).end('ok');
    });
    open.push(target);
    const upstream = upstreamWith();
    const sending = upstream.send(post(target.url));
    await target.reached(1);

    upstream.keepOnly(new Set());
    answer.resolve();

    expect(await sending).toMatchObject({ text: 'ok' });
    expect(await upstream.send(post(target.url))).toMatchObject({ text: 'ok' });
    expect(sockets.size).toBe(2);
  });

  it('keeps the connections to the origins that are kept', async () => {
    const sockets = new Set<unknown>();
    const target = await startUpstream((_request, res) => {
      sockets.add(res.socket);
      res.writeHead(200).end('ok');
    });
    open.push(target);
    const upstream = upstreamWith();
    await upstream.send(post(target.url));
    // The connection is free again a turn after its reply.
    await new Promise((resolve) => setImmediate(resolve));

    upstream.keepOnly(new Set([target.url]));
    await upstream.send(post(target.url));

    expect(sockets.size).toBe(1);
  });

  it('waits at its end for nothing that was let go', async () => {
    const target = await startUpstream(() => undefined);
    open.push(target);
    const upstream = upstreamWith();
    const sending = upstream.send(post(target.url));
    await target.reached(1);
    upstream.keepOnly(new Set());

    await Promise.all([
      expect(sending).rejects.toMatchObject({ fault: 'reset' }),
      upstream.close(),
    ]);
  });
});
