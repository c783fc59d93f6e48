// Says when the machine did not let this process run: nobody can keep a deadline then. A process that was busy itself says nothing.
import { performance } from 'node:perf_hooks';
import { setInterval } from 'node:timers';

const TICK_MS = 20;
const STALL_MS = 100;

let lastMs = performance.now();
let lastUsage = process.cpuUsage();
setInterval(() => {
  const nowMs = performance.now();
  const { user, system } = process.cpuUsage(lastUsage);
  const idleMs = nowMs - lastMs - (user + system) / 1_000;
  if (nowMs - lastMs > TICK_MS + STALL_MS && idleMs > (nowMs - lastMs) / 2) {
    const [from, to] = [lastMs, nowMs].map((ms) => Math.round(performance.timeOrigin + ms));
    process.stderr.write(`stalled from ${from} to ${to}\n`);
  }
  lastMs = nowMs;
  lastUsage = process.cpuUsage();
}, TICK_MS).unref();
