/**
 * Measures the turns of a process's event loop: loaded with --import. Each SIGUSR2 prints, or sends to the parent if there
 * is a channel, the longest turn since the last signal, in milliseconds: how long it took, without the wait for something
 * to do, and how long its thread worked, which neither other programs nor other threads can lengthen. Where that cannot be told, it is the
 * whole process.
 */
import { Buffer } from 'node:buffer';
import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

const said = Buffer.alloc(64);
const ofThread = openOrNot(`/proc/self/task/${process.pid}/schedstat`);

function openOrNot(file) {
  try {
    return openSync(file);
  } catch {
    return undefined;
  }
}

function workedMs() {
  if (ofThread === undefined) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
  const text = said.toString('latin1', 0, readSync(ofThread, said, 0, said.length, 0));
  return Number(text.slice(0, text.indexOf(' '))) / 1e6;
}

/** The time so far, and how much of it was waiting and how much was work. */
const clocks = () => ({
  nowMs: performance.now(),
  idleMs: performance.nodeTiming.idleTime,
  workedMs: workedMs(),
});

let longest = { tookMs: 0, workedMs: 0 };
let begun = clocks();

const turn = () => {
  const next = clocks();
  longest = {
    tookMs: Math.max(longest.tookMs, next.nowMs - begun.nowMs - (next.idleMs - begun.idleMs)),
    workedMs: Math.max(longest.workedMs, next.workedMs - begun.workedMs),
  };
  begun = next;
  // Without a hold on the loop it is called once a turn, and the loop may still wait for something to do.
  setImmediate(turn).unref();
};
setImmediate(turn).unref();

process.on('SIGUSR2', () => {
  const message = { turns: longest };
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(message)}\n`);
  else process.send(message);
  longest = { tookMs: 0, workedMs: 0 };
});
