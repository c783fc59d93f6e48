/** Finds HAProxy, OpenSSL and docker-compose for the tests of what deploys, or has the system's package manager install them. */
import { spawnSync } from 'node:child_process';
import { aptInstall } from './apt.mjs';

const runs = (program, argument) =>
  spawnSync(program, [argument], { stdio: 'ignore' }).status === 0;
const areHere = () => runs('haproxy', '-v') && runs('openssl', 'version');

if (!areHere()) aptInstall('haproxy', 'openssl');
if (!runs('docker-compose', 'version') && !aptInstall('docker-compose')) {
  console.error(
    'docker-compose is not here, and cannot be installed: the compose file is not tried.',
  );
}
if (!areHere()) {
  console.error('The proxy is tested with haproxy and openssl: install both.');
  process.exit(1);
}
