/** Finds Prometheus and promtool for the tests of metrics, or has the system's package manager install them. */
import { spawnSync } from 'node:child_process';
import { aptInstall } from './apt.mjs';

const areHere = () =>
  ['prometheus', 'promtool'].every(
    (program) => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0,
  );

if (!areHere() && !(aptInstall('prometheus') && areHere())) {
  console.error('Metrics are tested with prometheus and promtool: install both.');
  process.exit(1);
}
