import { Worker } from 'node:worker_threads';
import { GatewayError } from '../core/errors.js';

/** 2^`ln` blocks of `r`, `p` times. */
export interface Cost {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
}

/** One derivation. */
export interface ScryptJob extends Cost {
  readonly password: string;
  readonly salt: Uint8Array;
  readonly bytes: number;
}

/** On whose behalf something is hashed. */
export interface Asker {
  /** An account, or the address block of a stranger. */
  readonly owner: string;
  /** Whether they are logged in, or have logged in from there before. */
  readonly isKnown: boolean;
}

/** The process itself, and whoever works at its command line. */
export const OURSELVES: Asker = { owner: 'this process', isKnown: true };

/** An account that is logged in, or was before from the same place. */
export function knownUser(id: number): Asker {
  return { owner: `user ${id}`, isKnown: true };
}

interface Waiting {
  readonly owner: string;
  readonly job: ScryptJob;
  readonly resolve: (key: Buffer) => void;
  readonly reject: (reason: Error) => void;
}

type Answer = { readonly key: Uint8Array } | { readonly failure: string };

/** In each line. About two seconds of work: anybody later had better try again. */
const MOST_WAITING = 16;
/** No single account fills a line. */
const MOST_OF_ONE = MOST_WAITING / 2;
const RETRY_AFTER_MS = 2_000;

/** Plain text, so that it runs the same from sources, from the build and under a test runner. */
const THREAD = `
const { parentPort } = require('node:worker_threads');
const { scryptSync } = require('node:crypto');
parentPort.on('message', ({ password, salt, bytes, ln, r, p }) => {
  try {
    const N = 2 ** ln;
    // Scrypt needs a little more than 128 * N * r.
    const key = scryptSync(password, salt, bytes, { N, r, p, maxmem: 128 * N * r * 2 });
    parentPort.postMessage({ key: new Uint8Array(key) });
  } catch (error) {
    parentPort.postMessage({ failure: String(error) });
  }
});
`;

let thread: Worker | undefined;
let running: Waiting | undefined;
/** Strangers are served while no known person waits: they never keep a known person out, however many they are. */
const known: Waiting[] = [];
const strangers: Waiting[] = [];

/**
 * Runs scrypt in a separate thread, one at a time. Libuv's threads, shared by decompression and name look-ups, stay free
 * however many people log in. Rejects with 503 `overloaded` if too many already wait.
 */
export function scryptApart(job: ScryptJob, { owner, isKnown }: Asker): Promise<Buffer> {
  const line = isKnown ? known : strangers;
  const own = line.filter((each) => each.owner === owner).length;
  if (line.length >= MOST_WAITING || own >= MOST_OF_ONE) {
    return Promise.reject(
      new GatewayError('overloaded', 'Too many passwords are being checked; try again shortly.', {
        retryAfterMs: RETRY_AFTER_MS,
      }),
    );
  }
  return new Promise((resolve, reject) => {
    line.push({ owner, job, resolve, reject });
    next();
  });
}

function next(): void {
  if (running !== undefined) return;
  running = known.shift() ?? strangers.shift();
  if (running === undefined) {
    // An idle thread keeps no process alive.
    thread?.unref();
    return;
  }
  thread ??= startThread();
  thread.ref();
  thread.postMessage(running.job);
}

function startThread(): Worker {
  const worker = new Worker(THREAD, { eval: true, name: 'scrypt' });
  worker.on('message', (answer: Answer) => {
    const done = running;
    running = undefined;
    if ('key' in answer) done?.resolve(Buffer.from(answer.key));
    else done?.reject(new Error(`scrypt failed: ${answer.failure}`));
    next();
  });
  // A thread that dies, perhaps for lack of memory, takes its one job with it; the next job gets a new thread.
  const lost = (error: unknown): void => {
    if (thread !== worker) return;
    thread = undefined;
    const done = running;
    running = undefined;
    done?.reject(error instanceof Error ? error : new Error('The hashing thread ended.'));
    next();
  };
  worker.on('error', lost);
  worker.on('exit', lost);
  return worker;
}
