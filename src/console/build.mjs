/**
 * Bundles the console into `dist/console`: the page, and hashed files with their compressed forms. Called by
 * `src/setup.mjs`; `node src/console/build.mjs --watch` rebuilds after every change.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import * as esbuild from 'esbuild';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = path.join(root, 'src', 'console');
const target = path.join(root, 'dist', 'console');
const assets = path.join(target, 'assets');

/** The server replaces it with the relative path up to the console's root. */
const BASE = '<base href="./" />';

const settings = {
  entryPoints: [path.join(source, 'main.tsx')],
  outdir: assets,
  bundle: true,
  format: 'esm',
  splitting: true,
  minify: true,
  sourcemap: false,
  metafile: true,
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  tsconfig: path.join(source, 'tsconfig.json'),
  target: ['chrome130', 'edge130', 'firefox128', 'safari18'],
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
};

function write({ outputFiles, metafile }) {
  fs.rmSync(target, { recursive: true, force: true });
  fs.mkdirSync(assets, { recursive: true });
  const hash = createHash('sha256');
  for (const { path: file, contents } of outputFiles) {
    fs.writeFileSync(file, contents);
    fs.writeFileSync(`${file}.gz`, zlib.gzipSync(contents, { level: 9 }));
    const quality = { [zlib.constants.BROTLI_PARAM_QUALITY]: 9 };
    fs.writeFileSync(`${file}.br`, zlib.brotliCompressSync(contents, { params: quality }));
    hash.update(path.basename(file)).update(contents);
  }
  const entry = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
    entryPoint?.endsWith('main.tsx'),
  );
  const script = path.basename(entry[0]);
  const style = path.basename(entry[1].cssBundle);
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  const page = fs
    .readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('{{script}}', `assets/${script}`)
    .replace('{{style}}', `assets/${style}`)
    .replace('{{release}}', version)
    .replace('{{build}}', hash.digest('hex').slice(0, 16));
  if (!page.includes(BASE)) throw new Error('src/console/index.html has lost its base element');
  fs.writeFileSync(path.join(target, 'index.html'), page);
}

if (process.argv.includes('--watch')) {
  const rewrite = {
    name: 'rewrite',
    setup(build) {
      build.onEnd((result) => {
        if (result.errors.length === 0) write(result);
      });
    },
  };
  const context = await esbuild.context({ ...settings, minify: false, plugins: [rewrite] });
  await context.watch();
} else {
  try {
    write(await esbuild.build(settings));
  } catch (error) {
    // esbuild has already printed what is wrong, and where.
    if (!Array.isArray(error.errors)) throw error;
    process.exit(1);
  }
}
