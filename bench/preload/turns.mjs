/**
 * Measures the turns of a process's event loop: loaded with --import. Each SIGUSR2 prints, or sends to the parent if there
 * is a channel, the longest turn since the last signal, in milliseconds: how long it took, and how long the processor worked, which other programs cannot lengthen.
 */
import { Buffer } from 'node:buffer';
import { openSync, readSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

const schedule = openSync('/proc/thread-self/schedstat', 'r');
const bytes = Buffer.alloc(64);
const ranNs = () => {
  const length = readSync(schedule, bytes, 0, 64, 0);
  return Number(bytes.toString('latin1', 0, length).split(' ', 1)[0]);
};

let longest = { tookMs: 0, workedMs: 0 };
let [atMs, workedNs] = [performance.now(), ranNs()];
let isEnding = false;

const turn = () => {
  const [nextMs, nextNs] = [performance.now(), ranNs()];
  longest = {
    tookMs: Math.max(longest.tookMs, nextMs - atMs),
    workedMs: Math.max(longest.workedMs, (nextNs - workedNs) / 1e6),
  };
  [atMs, workedNs] = [nextMs, nextNs];
  // A process that is told to end does so when nothing is left to do.
  if (!isEnding) setImmediate(turn);
};
setImmediate(turn);

process.once('SIGTERM', () => {
  isEnding = true;
});

process.on('SIGUSR2', () => {
  const said = { turns: longest };
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(said)}\n`);
  else process.send(said);
  longest = { tookMs: 0, workedMs: 0 };
});
