/**
 * Measures the turns of a process's event loop: loaded with --import. Each SIGUSR2 prints, or sends to the parent if there
 * is a channel, the longest turn since the last signal, in milliseconds: how long it took, without the wait for something
 * to do, and how long the process worked, which other programs cannot lengthen.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';

/** The time so far, and how much of it was waiting and how much was work. */
const clocks = () => {
  const { user, system } = process.cpuUsage();
  return {
    nowMs: performance.now(),
    idleMs: performance.nodeTiming.idleTime,
    workedMs: (user + system) / 1000,
  };
};

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
  const said = { turns: longest };
  if (process.send === undefined) process.stdout.write(`${JSON.stringify(said)}\n`);
  else process.send(said);
  longest = { tookMs: 0, workedMs: 0 };
});
