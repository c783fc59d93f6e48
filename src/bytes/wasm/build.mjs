/**
 * Compiles each source to WebAssembly and writes it, as text, to the module that the sources import. It does nothing if the
 * module was already made from the same sources. Plain Node: it is a step of the build.
 *
 *   node src/bytes/wasm/build.mjs [--check]    with --check it compiles, writes nothing, and exits with 1 if a module differs
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../../..', import.meta.url);

/** Memory never grows: so many pages hold everything that the source lays out. */
const MODULES = [
  { name: 'scanner', pages: 4 },
  { name: 'weaver', pages: 15 },
  { name: 'rows', pages: 7 },
];

const OPTIONS = ['--optimizeLevel', '3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];

for (const module of MODULES) {
  const target = new URL(`src/bytes/${module.name}-module.ts`, root);
  const made = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : '';
  if (process.argv.includes('--check')) {
    if (moduleOf(module, await compile(module)) !== made) {
      console.error(`${fileURLToPath(target)} is not what its source compiles to: npm run build`);
      process.exitCode = 1;
    }
  } else if (!made.includes(hashOfSources(module))) {
    fs.writeFileSync(target, moduleOf(module, await compile(module)));
  }
}

/** Hash of the files that the module is made from, whatever their line endings. */
function hashOfSources({ name }) {
  const hash = createHash('sha256');
  for (const file of [...filesOf(name), 'src/bytes/wasm/build.mjs']) {
    hash.update(fs.readFileSync(new URL(file, root), 'utf8').replaceAll('\r\n', '\n'));
  }
  return hash.digest('hex');
}

/** @param {{ name: string, pages: number }} module */
async function compile({ name, pages }) {
  const { default: asc } = await import('assemblyscript/asc');
  const source = sourceOf(name);
  const memory = ['--initialMemory', `${pages}`, '--maximumMemory', `${pages}`];
  const files = new Map();
  const { error, stderr } = await asc.main(
    [source, '--outFile', 'out.wasm', ...OPTIONS, ...memory],
    {
      readFile: (path) => {
        const file = new URL(path, root);
        return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
      },
      writeFile: (path, contents) => void files.set(path, contents),
      listFiles: () => [],
    },
  );
  if (error !== null) throw new Error(`${source} does not compile:\n${stderr.toString()}`);
  return Buffer.from(files.get('out.wasm'));
}

function moduleOf(module, wasm) {
  const source = sourceOf(module.name);
  const lines = wasm.toString('base64').match(/.{1,96}/g);
  const text = lines.map((line) => `  '${line}'`).join(' +\n');
  return (
    `// Written by src/bytes/wasm/build.mjs from ${source}: change that, and run \`npm run build\`.\n` +
    `// Sources: ${hashOfSources(module)}\n\n` +
    `/** The WebAssembly of ${source}, in base64. */\n` +
    `// prettier-ignore\nexport const ${module.name.toUpperCase()} =\n${text};\n`
  );
}

/** One file, or the folder of that name, which begins with its index. */
function sourceOf(name) {
  const folder = `src/bytes/wasm/${name}/index.ts`;
  return fs.existsSync(new URL(folder, root)) ? folder : `src/bytes/wasm/${name}.ts`;
}

function filesOf(name) {
  const source = sourceOf(name);
  if (!source.endsWith('/index.ts')) return [source];
  const folder = new URL('.', new URL(source, root));
  return fs
    .readdirSync(folder)
    .map((file) => `src/bytes/wasm/${name}/${file}`)
    .sort();
}
