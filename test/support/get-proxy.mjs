/** Finds HAProxy, OpenSSL and docker-compose for the tests of what deploys, or has the system's package manager install them. */
import { spawnSync } from 'node:child_process';
import { aptInstall } from './apt.mjs';

const runs = (program, argument) =>
  spawnSync(program, [argument], { stdio: 'ignore' }).status === 0;
const areHere = () =>
  runs('haproxy', '-v') && runs('openssl', 'version') && runs('docker-compose', 'version');

if (!areHere()) aptInstall('haproxy', 'openssl', 'docker-compose');
if (!areHere()) {
  console.error('The proxy is tested with haproxy, openssl and docker-compose: install them.');
  process.exit(1);
}
