/**
 * Bundles the programs into `dist`: a start reads a few files instead of hundreds, which saves a quarter of its processor time.
 * What is imported on demand is in files of its own. Called by `src/setup.mjs`.
 */
import fs from 'node:fs';
import path from 'node:path';
import * as esbuild from 'esbuild';

const root = path.dirname(import.meta.dirname);
const source = path.join(root, 'src');
const target = path.join(root, 'dist');

/** What modules read at `import.meta.url`: all of them are beside each other once they are bundled. */
const BESIDE = ['store/redis/lua', 'client/routes.json'];

const { outputFiles } = await esbuild.build({
  absWorkingDir: root,
  entryPoints: ['src/main.ts', 'src/cli.ts'],
  outdir: target,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  sourcemap: true,
  write: false,
  logLevel: 'warning',
});

// Whoever starts meanwhile finds what its program needs at the start: that is there before the program is replaced.
fs.mkdirSync(target, { recursive: true });
for (const name of BESIDE) {
  fs.cpSync(path.join(source, name), path.join(target, path.basename(name)), { recursive: true });
}
const isProgram = ({ path: file }) => !/-[A-Z0-9]{8}\.js/.test(file);
for (const { path: file, contents } of outputFiles.sort((a, b) => isProgram(a) - isProgram(b))) {
  fs.writeFileSync(`${file}.new`, contents, { mode: isProgram({ path: file }) ? 0o755 : 0o644 });
  fs.renameSync(`${file}.new`, file);
}
const kept = [...outputFiles.map(({ path: file }) => file), ...BESIDE, 'console'].map((file) =>
  path.basename(file),
);
for (const name of fs.readdirSync(target)) {
  if (!kept.includes(name)) fs.rmSync(path.join(target, name), { recursive: true });
}
