import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Request, type Response, type Router } from 'express';
import { GatewayError, systemCode } from '../core/errors.js';
import { allow } from './allow.js';

/** The console as built: its page, and files that never change under their names. */
export interface ConsoleFiles {
  readonly page: string;
  /** What tells it from the console of another build, even one of the same release. */
  readonly build: string | undefined;
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

interface ConsoleAsset {
  readonly mediaType: string;
  readonly plain: Buffer;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};

/** Nothing inline, nothing from elsewhere, and no markup made from text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

/** Reads the console's files into memory; `undefined` if it was not built. */
export function readConsole(folder: string): ConsoleFiles | undefined {
  try {
    const page = readFileSync(join(folder, 'index.html'), 'utf8');
    const names = readdirSync(join(folder, 'assets'));
    const assets = names.flatMap((name): [string, ConsoleAsset][] => {
      const mediaType = MEDIA_TYPES[name.slice(name.lastIndexOf('.') + 1)];
      if (mediaType === undefined) return [];
      const read = (ending: string): Buffer => readFileSync(join(folder, 'assets', name + ending));
      return [[name, { mediaType, plain: read(''), gzip: read('.gz'), brotli: read('.br') }]];
    });
    const [, build] = /<meta name="build" content="([^"]+)"/.exec(page) ?? [];
    return { page, build, assets: new Map(assets) };
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The browser console below `/console/`, under any prefix that a proxy gives it: none of its addresses is absolute. */
export function consoleRoutes({ page, assets }: Pick<ConsoleFiles, 'page' | 'assets'>): Router {
  const router = express.Router({ strict: true });
  const tag = createHash('sha256').update(page).digest('hex').slice(0, 16);

  router.get('/', (req, res, next) => {
    if (prefersHtml(req)) redirect(res, 'console/');
    else next('router');
  });
  router.get('/console', (_req, res) => redirect(res, 'console/'));
  router.get('/console/assets/:name', (req, res) => {
    const asset = assets.get(req.params.name);
    if (asset === undefined) {
      throw new GatewayError('not_found', 'This file belongs to another release of the console.');
    }
    sendAsset(req, res, asset);
  });
  router.get(['/console/', '/console/*path'], (req, res) => {
    res.setHeader('Cache-Control', 'no-cache');
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('X-Frame-Options', 'DENY');
    res.setHeader('Permissions-Policy', 'clipboard-write=(self)');
    const depth = req.path.split('/').length - 3;
    const etag = `"${tag}-${depth}"`;
    res.setHeader('ETag', etag);
    if (req.headers['if-none-match']?.includes(etag) === true) {
      res.status(304).end();
      return;
    }
    const base = depth === 0 ? './' : '../'.repeat(depth);
    res.type('html').send(page.replace('<base href="./" />', `<base href="${base}" />`));
  });
  router.all(['/console', '/console/', '/console/*path'], allow('GET, HEAD'));
  return router;
}

function redirect(res: Response, to: string): void {
  res.setHeader('Cache-Control', 'no-cache');
  res.setHeader('Location', to);
  res.status(302).end();
}

/** Browsers name HTML first when they open an address; programs ask for JSON or for anything. */
function prefersHtml(req: Request): boolean {
  return (req.headers.accept ?? '').includes('text/html') && req.accepts('html', 'json') === 'html';
}

function sendAsset(req: Request, res: Response, asset: ConsoleAsset): void {
  const encoding = req.acceptsEncodings('br', 'gzip', 'identity');
  const body = encoding === 'br' ? asset.brotli : encoding === 'gzip' ? asset.gzip : asset.plain;
  res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  res.setHeader('Vary', 'Accept-Encoding');
  res.setHeader('Content-Type', asset.mediaType);
  if (encoding === 'br' || encoding === 'gzip') res.setHeader('Content-Encoding', encoding);
  res.send(body);
}
