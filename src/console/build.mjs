/**
 * Writes what the console knows of the gateway into `src/console/api`, and bundles the console into `dist/console`: the page,
 * and hashed files with their compressed forms. Called by `src/setup.mjs`.
 *
 *   node src/console/build.mjs [--types | --watch]
 *
 * --types  writes the files of `src/console/api` alone, after an operation or a member has changed
 * --watch  bundles again after every change
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import zlib from 'node:zlib';
import * as esbuild from 'esbuild';
import { tsImport } from 'tsx/esm/api';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const source = path.join(root, 'src', 'console');
const target = path.join(root, 'dist', 'console');
const assets = path.join(target, 'assets');

/** The operations' types and the tables of members, from the gateway's own code; a file that is the same is left alone. */
async function writeApi() {
  const { consoleApi } = await tsImport('../http/console-api.ts', import.meta.url);
  for (const [name, text] of Object.entries(await consoleApi())) {
    const file = path.join(source, 'api', name);
    if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) continue;
    fs.writeFileSync(file, text);
  }
}

const shell = path.join(source, 'shell.tsx');
const pages = path.join(source, 'pages') + path.sep;

/** The server replaces it with the relative path up to the console's root. */
const BASE = '<base href="./" />';

/**
 * Pages are loaded by the shell, so all that the shell has is there before them. esbuild does not know that, and would cut the
 * shell into a chunk for each set of pages that share a part of it: twice as many requests, and a tenth more bytes. Hence each
 * page is made to import the shell, which then is one chunk.
 */
const shellInOnePiece = {
  name: 'shell in one piece',
  setup(build) {
    // A part of a page that is loaded later counts as one, however its path is written.
    build.onResolve({ filter: /^\./ }, ({ kind, path: name, resolveDir }) => {
      const file = path.resolve(resolveDir, name).replace(/\.js$/, '.tsx');
      const isPage = kind === 'dynamic-import' && file.startsWith(pages) && fs.existsSync(file);
      return isPage ? { path: file, pluginData: 'page' } : undefined;
    });
    build.onLoad({ filter: /\.tsx$/ }, ({ path: file, pluginData }) =>
      pluginData === 'page'
        ? {
            contents: `${fs.readFileSync(file, 'utf8')}\nimport ${JSON.stringify(shell)};\n`,
            loader: 'tsx',
          }
        : undefined,
    );
  },
};

const settings = {
  entryPoints: [path.join(source, 'main.tsx'), path.join(source, 'pages.css')],
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
  plugins: [shellInOnePiece],
};

/** The chunks that must be there before the entry runs: the page names them, so that they come together with it. */
function chunksOf(outputs, entry) {
  const found = new Set();
  const visit = (name) => {
    for (const { path: chunk, kind } of outputs[name].imports) {
      if (kind !== 'import-statement' || found.has(chunk)) continue;
      found.add(chunk);
      visit(chunk);
    }
  };
  visit(entry);
  return [...found].map((chunk) => path.basename(chunk));
}

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
  const ofPages = Object.keys(metafile.outputs).find((name) => /\/pages-\w+\.css$/.test(name));
  const script = path.basename(entry[0]);
  const style = path.basename(entry[1].cssBundle);
  const page = fs
    .readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('{{script}}', `assets/${script}`)
    .replace('{{style}}', `assets/${style}`)
    .replace('{{pages}}', `assets/${path.basename(ofPages)}`)
    .replace(
      '{{chunks}}',
      chunksOf(metafile.outputs, entry[0])
        .map((chunk) => `<link rel="modulepreload" href="assets/${chunk}" />`)
        .join('\n    '),
    )
    .replace('{{build}}', hash.digest('hex').slice(0, 16));
  if (!page.includes(BASE)) throw new Error('src/console/index.html has lost its base element');
  fs.writeFileSync(path.join(target, 'index.html'), page);
}

await writeApi();
if (process.argv.includes('--watch')) {
  const rewrite = {
    name: 'rewrite',
    setup(build) {
      build.onEnd((result) => {
        if (result.errors.length === 0) write(result);
      });
    },
  };
  const context = await esbuild.context({
    ...settings,
    minify: false,
    plugins: [shellInOnePiece, rewrite],
  });
  await context.watch();
} else if (!process.argv.includes('--types')) {
  try {
    write(await esbuild.build(settings));
  } catch (error) {
    // esbuild has already printed what is wrong, and where.
    if (!Array.isArray(error.errors)) throw error;
    process.exit(1);
  }
}
