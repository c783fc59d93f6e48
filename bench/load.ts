import { connect, type Socket } from 'node:net';

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
}

export interface LoadPlan {
  readonly port: number;
  readonly request: Buffer;
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second over all connections; `undefined`: as fast as replies come. */
  readonly rate?: number;
}

/** Drives a server over keep-alive connections, one request in flight on each. Bounded in time. */
export async function drive(plan: LoadPlan): Promise<LoadResult> {
  const until = performance.now() + plan.seconds * 1000;
  const tally = { requests: 0, failures: 0, latencies: [] as number[] };
  const started = performance.now();
  const gapMs = plan.rate === undefined ? 0 : (plan.connections * 1000) / plan.rate;
  await Promise.all(
    Array.from({ length: plan.connections }, (_, index) =>
      runConnection(plan, until, gapMs, (gapMs * index) / plan.connections, tally),
    ),
  );
  return {
    requests: tally.requests,
    failures: tally.failures,
    seconds: (performance.now() - started) / 1000,
    latencies: tally.latencies.sort((a, b) => a - b),
  };
}

export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function runConnection(
  plan: LoadPlan,
  until: number,
  gapMs: number,
  delayMs: number,
  tally: { requests: number; failures: number; latencies: number[] },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(plan.port, '127.0.0.1');
    socket.setNoDelay(true);
    let sentAt = 0;
    let pending = '';
    let missing = -1;
    let failed = false;
    const send = () => {
      if (performance.now() >= until) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(plan.request);
    };
    socket.on('connect', () => {
      if (delayMs > 0) setTimeout(send, delayMs);
      else send();
    });
    socket.on('error', reject);
    socket.on('data', (chunk: Buffer) => {
      let size = chunk.length;
      if (missing < 0) {
        pending += chunk.toString('latin1');
        const end = pending.indexOf('\r\n\r\n');
        if (end < 0) return;
        failed = !pending.startsWith('HTTP/1.1 200');
        const length = Number(/content-length: (\d+)/i.exec(pending.slice(0, end))?.[1] ?? 0);
        size = pending.length - end - 4;
        missing = length;
        pending = '';
      }
      missing -= size;
      if (missing > 0) return;
      missing = -1;
      tally.requests += 1;
      if (failed) tally.failures += 1;
      const now = performance.now();
      tally.latencies.push(now - sentAt);
      const wait = gapMs - (now - sentAt);
      if (gapMs > 0 && wait > 0) setTimeout(send, wait);
      else send();
    });
  });
}
