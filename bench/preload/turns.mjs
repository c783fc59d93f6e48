/**
 * Measures the turns of a process's event loop: loaded with --import. Each SIGUSR2 prints, or sends to the parent if there
 * is a channel, the longest turn since the last signal, in milliseconds: how long it took, without the wait for something to do, and how long the processor worked, which other programs cannot lengthen.
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
let [atMs, idleMs, workedNs] = [performance.now(), performance.nodeTiming.idleTime, ranNs()];

const turn = () => {
  const [nextMs, nextIdleMs, nextNs] = [
    performance.now(),
    performance.nodeTiming.idleTime,
    ranNs(),
  ];
  longest = {
    tookMs: Math.max(longest.tookMs, nextMs - atMs - (nextIdleMs - idleMs)),
    workedMs: Math.max(longest.workedMs, (nextNs - workedNs) / 1e6),
  };
  [atMs, idleMs, workedNs] = [nextMs, nextIdleMs, nextNs];
  // Without a hold on the loop it is called once a turn, and the loop may still wait for something to do.
  setImmediate(turn).unref();
};
setImmediate(turn).unref();

process.on('SIGUSR2', () => {
  const said = { turns: longest };
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(said)}\n`);
  else process.send(said);
  longest = { tookMs: 0, workedMs: 0 };
});
