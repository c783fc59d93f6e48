import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { startGateway } from '../support/gateway.js';
import { opened } from '../support/opened.js';
import { type Answer, cohereChannel, rankLikeCohere } from '../support/upstream.js';

const ask = { model: 'moon', query: 'moon', documents: ['sun', 'moon', 'sea'] };
/** How long the healthy channel takes: much longer than the gateway itself. */
const USUAL_MS = 600;
/** The limits are far apart, so that what decided shows. */
const ATTEMPT_MS = 6_000;
const OPEN_MS = 300;

const open = opened();

const hangs: Answer = () => undefined;
const afterMs =
  (ms: number): Answer =>
  async (request, res) => {
    await wait(ms);
    return rankLikeCohere(request, res);
  };

/** Two channels, of which the first is preferred, and one caller that asks one thing after the other. */
async function setUp(first: string, more: Readonly<Record<string, unknown>> = {}) {
  const well = await open.upstream(afterMs(USUAL_MS));
  const gateway = await startGateway({
    gateway: { attempt_timeout_ms: ATTEMPT_MS, deadline_ms: 30_000 },
    traffic: { breaker_open_ms: OPEN_MS },
    channels: [cohereChannel('first', first, { priority: 1 }), cohereChannel('second', well.url)],
    ...more,
  });
  open.push(gateway);
  const { key } = await gateway.createKey();
  const tookMs = async (): Promise<number> => {
    const startMs = performance.now();
    const { status } = await gateway.post(key, ask);
    expect(status).toBe(200);
    return performance.now() - startMs;
  };
  /** The times of so many requests, one after the other. */
  const many = async (count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let at = 0; at < count; at += 1) times.push(await tookMs());
    return times;
  };
  return {
    gateway,
    well,
    tookMs,
    many,
    /** The times of so many requests that take longer than usual, three times running: a machine may stall. */
    slowOf: async (count: number): Promise<number[]> => {
      let slow: number[] = [];
      for (let again = 0; again < 3; again += 1) {
        slow = (await many(count)).filter((ms) => ms >= 1.5 * USUAL_MS);
        if (slow.length === 0) break;
      }
      return slow;
    },
  };
}

/** A server in a process of its own, which can be stopped. */
async function serverProcess(): Promise<{ url: string; stop: () => void }> {
  const program = `
    const server = require('node:http').createServer((req, res) => {
      req.resume().on('end', () => res.setHeader('content-type', 'application/json').end(
        JSON.stringify({ results: [0, 1, 2].map((index) => ({ index, relevance_score: 1 - index / 4 })) }),
      ));
    });
    server.listen(0, '127.0.0.1', () => console.log(server.address().port));
  `;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  open.push({
    async close() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  });
  const [port] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { url: `http://127.0.0.1:${port}`, stop: () => void child.kill('SIGSTOP') };
}

describe('a channel that hangs, for one caller', () => {
  it('is found out by its first request, though nothing was known of it', async () => {
    const hung = await open.upstream(hangs);
    const { tookMs, slowOf } = await setUp(hung.url);

    expect(await tookMs()).toBeGreaterThan(ATTEMPT_MS);
    expect(await slowOf(4)).toEqual([]);
  }, 30_000);

  it('costs nobody time when its circuit is half open, however often it fails', async () => {
    const hung = await open.upstream(hangs);
    const { tookMs, slowOf } = await setUp(hung.url);
    await tookMs();

    // Each lasts longer than the pause: the first goes to both channels.
    expect(await slowOf(3)).toEqual([]);
    expect(hung.seen.length).toBeGreaterThan(1);
    await wait(ATTEMPT_MS);
    expect(await slowOf(3)).toEqual([]);
    expect(hung.seen.length).toBeGreaterThan(2);
  }, 40_000);

  it('is left after a share of the time that its own answers took', async () => {
    const { url, stop } = await serverProcess();
    const { many, tookMs, slowOf } = await setUp(url);
    await many(3);
    stop();

    expect(await tookMs()).toBeLessThan(1_000 + 1.5 * USUAL_MS);
    expect(await slowOf(4)).toEqual([]);
  }, 30_000);

  it('is found out where requests are joined by a second one, too', async () => {
    const first = await open.upstream();
    const { many, slowOf } = await setUp(first.url, { models: { moon: { hedge: true } } });
    await many(16);
    first.answer(hangs);

    await many(2);
    expect(await slowOf(4)).toEqual([]);
  }, 30_000);
});

describe('a channel that has become slow', () => {
  it('gets more time where the other one takes as long, and is not left alone', async () => {
    const first = await open.upstream();
    const { well, gateway, many } = await setUp(first.url);
    await many(3);
    first.answer(afterMs(2_500));
    well.answer(afterMs(2_500));

    const [slow = 0, next = 0] = await many(2);

    expect(slow).toBeGreaterThan(3_400);
    expect(next).toBeLessThan(3_400);
    expect(gateway.log.filter((line) => line.includes('"state":"open"'))).toEqual([]);
  }, 30_000);

  it('is asked again when the other one fails', async () => {
    const first = await open.upstream();
    const { well, many, tookMs } = await setUp(first.url);
    await many(3);
    first.answer(afterMs(2_000));
    well.answer((_request, res) => void res.writeHead(401).end('{}'));

    expect(await tookMs()).toBeGreaterThan(2_900);
  }, 30_000);
});
