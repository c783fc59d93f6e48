import { request } from 'node:http';
import { connect } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Violation } from '../observations.js';

const EVERY_MS = 40;
/** What a gateway under attack may do before it answers a caller: on a machine that has other work, time itself says little. */
const MOST_CPU_MS = 6_000;
const GIVE_UP_MS = 15_000;

export interface Probes {
  /** The longest wait since it was asked last, and the most that the gateway computed during one. */
  longest(): { readonly ms: number; readonly cpuMs: number };
  readonly violations: readonly Violation[];
  stop(): Promise<void>;
}

/** Asks for `/healthz` over and over, each time on a new connection: HTTP/1 and HTTP/2 in turns. */
export function startProbes(port: number, cpuMs: () => number): Probes {
  const violations: Violation[] = [];
  let longest = { ms: 0, cpuMs: 0 };
  let isStopped = false;
  const probe = async (): Promise<void> => {
    for (let at = 0; !isStopped; at += 1) {
      const beganMs = performance.now();
      const beforeMs = cpuMs();
      const way = at % 2 === 0 ? 'HTTP/1' : 'HTTP/2';
      const heard = await (at % 2 === 0 ? overHttp1(port) : overHttp2(port));
      const tookMs = performance.now() - beganMs;
      const busyMs = cpuMs() - beforeMs;
      longest = {
        ms: Math.max(longest.ms, Math.round(tookMs)),
        cpuMs: Math.max(longest.cpuMs, busyMs),
      };
      if (heard !== '200') {
        const what = `${way} on a new connection: ${heard}`;
        violations.push({ rule: 'answered once', what, evidence: [] });
      }
      if (busyMs > MOST_CPU_MS) {
        const what = `the gateway computed for ${busyMs} ms before it answered ${way} on a new connection`;
        violations.push({ rule: 'deadline', what, evidence: [] });
      }
      await sleep(EVERY_MS);
    }
  };
  const over = probe();
  return {
    violations,
    longest() {
      const told = longest;
      longest = { ms: 0, cpuMs: 0 };
      return told;
    },
    async stop() {
      isStopped = true;
      await over;
    },
  };
}

function overHttp1(port: number): Promise<string> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/healthz', agent: false });
    asked.setTimeout(GIVE_UP_MS, () => asked.destroy(new Error('silence')));
    asked.on('error', ({ message }) => resolve(message));
    asked.on('response', (res) => res.resume().on('end', () => resolve(String(res.statusCode))));
    asked.end();
  });
}

function overHttp2(port: number): Promise<string> {
  return new Promise((resolve) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const end = (heard: string): void => {
      session.close();
      resolve(heard);
    };
    session.setTimeout(GIVE_UP_MS, () => session.destroy(new Error('silence')));
    session.on('error', ({ message }: Error) => end(message));
    const stream = session.request({ ':path': '/healthz' });
    stream.on('response', (headers) => {
      stream.resume().on('end', () => end(String(headers[':status'])));
    });
    stream.on('error', ({ message }: Error) => end(message));
  });
}
