import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { loadConfig } from '../src/config/load-config.js';
import { ENVIRONMENT_SETTINGS } from '../src/config/settings.js';

interface Service {
  readonly image?: string;
  readonly profiles?: readonly string[];
  readonly build?: string | { readonly args: Readonly<Record<string, string>> };
  readonly command?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly networks?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly pids_limit?: number;
}

const compose = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true }) as {
  readonly services: Readonly<
    Record<'redis' | 'gateway' | 'proxy' | 'single' | 'prometheus', Service>
  >;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
};
const { redis, gateway, proxy, single, prometheus } = compose.services;
const dockerfile = readFileSync('Dockerfile', 'utf8');

/** The exec form of an instruction of the last stage. */
function execForm(instruction: RegExp): string[] {
  const line = instruction.exec(dockerfile.slice(dockerfile.lastIndexOf('\nFROM ')))?.[1];
  return JSON.parse(line ?? 'null') as string[];
}

describe('docker-compose.yml', () => {
  it('names images by digest, and the same one for the gateway as its Dockerfile', () => {
    const text = readFileSync('docker-compose.yml', 'utf8');
    const named = new Map(
      [...text.matchAll(/\$\{(\w+_IMAGE):-(.*)\}/g)].map(([, name, image]) => [name, image]),
    );

    expect([...named.keys()]).toEqual([
      ...['REDIS_IMAGE', 'NODE_IMAGE', 'PROXY_IMAGE', 'PROMETHEUS_IMAGE'],
    ]);
    // Prometheus is not in the way of requests, nor does it hold a secret of theirs.
    named.delete('PROMETHEUS_IMAGE');
    for (const image of named.values())
      expect(image).toMatch(/^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
    expect(dockerfile).toContain(`ARG NODE_IMAGE=${named.get('NODE_IMAGE')}\n`);
  });

  it('gives each service an image or a build, and mounts only what is there', () => {
    for (const service of Object.values(compose.services)) {
      expect(service.image === undefined).toBe(service.build !== undefined);
      for (const volume of service.volumes ?? []) {
        const source = volume.split(':')[0] ?? '';
        // `${NAME:-file}:...` has a colon of its own.
        const file = /^\$\{\w+:-([^}]*)\}/.exec(volume)?.[1] ?? source;
        expect(file.startsWith('.') ? existsSync(file) : file in compose.volumes).toBe(true);
      }
    }
  });

  it('starts one gateway alone, or Prometheus beside the others, only if asked to', () => {
    expect([redis, gateway, proxy].map(({ profiles }) => profiles)).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect([single.profiles, prometheus.profiles]).toEqual([['single'], ['metrics']]);
    expect(single.build).toEqual(gateway.build);
    expect(single.environment).not.toHaveProperty('REDIS_URL');
    expect(single.volumes).toContain('single-data:/app/data');
    // From elsewhere nobody sees its graphs: it has no login.
    expect(prometheus.ports).toEqual(['127.0.0.1:9090:9090']);
    const settings = parse(readFileSync('config/deploy/prometheus/compose.yml', 'utf8')) as {
      scrape_configs: { dns_sd_configs: unknown; authorization: { credentials_file: string } }[];
    };
    expect(settings.scrape_configs).toMatchObject([
      { dns_sd_configs: [{ names: ['gateway'], type: 'A', port: 8080 }] },
    ]);
    expect(JSON.stringify(prometheus)).toContain(
      settings.scrape_configs[0]?.authorization.credentials_file,
    );
  });

  it('waits for services that exist and can tell their health', () => {
    for (const service of [gateway, proxy]) {
      for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
        const awaited = compose.services[name as keyof typeof compose.services];
        expect(condition).toBe('service_healthy');
        expect(awaited.healthcheck !== undefined || awaited.build !== undefined).toBe(true);
      }
    }
    expect(redis.healthcheck?.test.join(' ')).toContain('redis-cli ping');
  });

  it('keeps the store on a volume, appended to, with nothing evicted', () => {
    const flags = redis.command?.join(' ').replace(/\s+/g, ' ');

    expect(flags).toContain('--appendonly yes');
    expect(flags).toContain('--maxmemory-policy noeviction');
    expect(redis.volumes).toContain('redis-data:/data');
  });

  it('gives the gateway settings that it knows and takes', () => {
    const env = Object.fromEntries(
      Object.entries(gateway.environment ?? {}).map(([name, value]) => [
        name,
        value
          .replace(/\$\{\w+:\?[^}]*\}/, 'Value-from-the-env-file')
          .replace(/\$\{\w+:-([^}]*)\}/, '$1'),
      ]),
    );

    const config = loadConfig({ env, folder: 'no-such-folder' });

    expect(Object.keys(ENVIRONMENT_SETTINGS)).toEqual(expect.arrayContaining(Object.keys(env)));
    expect(config.store.redisUrl?.reveal()).toBe('redis://:Value-from-the-env-file@redis:6379');
    expect(config.server.trustedProxies).toEqual(['172.31.251.0/24']);
  });

  it('asks for secrets with a sentence, and .env.example names all of them', () => {
    const text = readFileSync('docker-compose.yml', 'utf8');
    const asked = [...new Set([...text.matchAll(/\$\{(\w+):\?[^}]+\}/g)].map(([, name]) => name))];
    const example = readFileSync('.env.example', 'utf8');

    expect(asked).toEqual(['REDIS_PASSWORD', 'ENCRYPTION_KEY', 'ROOT_PASSWORD']);
    for (const name of asked) expect(example).toContain(`${name ?? ''}=`);
  });

  it('confines every service, and keeps Redis behind a password in a network of its own', () => {
    for (const service of Object.values(compose.services)) {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        ulimits: { core: 0 },
        security_opt: ['no-new-privileges:true'],
        mem_limit: expect.stringMatching(/\d/) as unknown,
        pids_limit: expect.any(Number) as unknown,
      });
    }
    expect(redis.command?.join(' ')).toContain('requirepass');
    expect(redis.networks).toEqual(['store']);
    expect(compose.networks.store).toEqual({ internal: true });
    expect(proxy.networks).not.toContain('store');
    const shared = (proxy.networks ?? []).filter((name) => gateway.networks?.includes(name));
    expect(shared).toEqual(['front']);
  });

  it('can be scaled: only the proxy has a port, and requests may finish', () => {
    const graceMs = Number.parseInt(gateway.stop_grace_period ?? '0', 10) * 1_000;

    expect(gateway.ports).toBeUndefined();
    expect(proxy.ports).toHaveLength(1);
    expect(graceMs).toBeGreaterThan(loadConfig({ env: {}, folder: 'none' }).server.drainMs);
  });
});

describe('the proxy', () => {
  const settings = readFileSync('config/haproxy.cfg', 'utf8');

  it('tries a request again only while nothing of it was sent', () => {
    expect(settings.match(/^\s*retry-on .*$/gm)?.map((line) => line.trim())).toEqual([
      'retry-on conn-failure',
    ]);
  });

  it('finds the gateways where compose puts them and waits longer than they do', () => {
    const seconds = Number(/timeout server (\d+)s/.exec(settings)?.[1]);
    const { deadlineMs } = loadConfig({ env: {}, folder: 'none' }).gateway;

    expect(settings).toContain(`gateway:${gateway.environment?.PORT ?? ''}`);
    expect(seconds * 1_000).toBeGreaterThan(deadlineMs);
  });
});

describe('the image', () => {
  it('runs the same program as npm start, as a user without rights', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      scripts: Readonly<Record<string, string>>;
    };
    const command = execForm(/\nCMD (.*)/);

    expect(command).toEqual([
      'node',
      '--single-threaded-gc',
      '--initial-old-space-size=128',
      '--max-semi-space-size=16',
      'dist/main.js',
    ]);
    expect(scripts.start).toBe(
      'exec env MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=16777216 node --single-threaded-gc --initial-old-space-size=128 --max-semi-space-size=16 src/setup.mjs --run dist/main.js',
    );
    expect(dockerfile).toMatch(/\nUSER node\n/);
    expect(dockerfile).toContain('NODE_ENV=production');
    // Others may read the log of a container.
    expect(dockerfile).toContain('ROOT_SHOW_SECRETS=false');
    expect(dockerfile).toContain('npm sbom');
    expect(dockerfile).not.toMatch(/HEALTHCHECK[^]*\bnode\b[^]*\nCMD/);
    expect(dockerfile).toMatch(/\nSTOPSIGNAL SIGTERM\n/);
  });

  it('is built from files that are there and are not kept out', () => {
    const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(
      ([, sources = '']) => sources.split(' '),
    );

    expect(copied.length).toBeGreaterThan(5);
    for (const source of copied) {
      expect(existsSync(source)).toBe(true);
      expect(ignored).toContain(`!${source}`);
    }
  });

  it('tells healthy from unhealthy and from gone by its health check', async () => {
    let status = 200;
    const asked: (string | undefined)[] = [];
    const server = createServer((req, res) => {
      asked.push(req.url);
      res.writeHead(status).end('{}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const command = /\n\s+CMD (wget .*)/.exec(dockerfile)?.[1] ?? '';
    const run = promisify(execFile);
    const env = { PATH: process.env.PATH, PORT: String(port) };
    const check = (): Promise<unknown> => run('sh', ['-c', command], { env });

    await expect(check()).resolves.toBeDefined();
    status = 503;
    await expect(check()).rejects.toMatchObject({ code: 1 });
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await expect(check()).rejects.toMatchObject({ code: 1 });

    expect(asked).toEqual(['/healthz', '/healthz']);
  });
});
