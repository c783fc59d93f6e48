/**
 * Compiles `scanner.ts` to WebAssembly and writes it, as text, to the module that the sources import. It does nothing if the
 * module was already made from the same sources. Plain Node: it is a step of the build.
 *
 *   node wasm/build.mjs [--check]    with --check it compiles, writes nothing, and exits with 1 if the module differs
 */
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const target = new URL('src/core/json/scanner-module.ts', root);
const source = 'wasm/scanner.ts';

const OPTIONS = ['--optimizeLevel', '3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];
/** Memory never grows: three pages hold everything that the source lays out. */
const MEMORY = ['--initialMemory', '3', '--maximumMemory', '3'];

const made = fs.existsSync(target) ? fs.readFileSync(target, 'utf8') : '';
if (process.argv.includes('--check')) {
  if (moduleOf(await compile()) !== made) {
    console.error(`${fileURLToPath(target)} is not what ${source} compiles to: npm run build`);
    process.exitCode = 1;
  }
} else if (!made.includes(hashOfSources())) {
  fs.writeFileSync(target, moduleOf(await compile()));
}

/** Hash of the files that the module is made from, whatever their line endings. */
function hashOfSources() {
  const hash = createHash('sha256');
  for (const file of [source, 'wasm/build.mjs']) {
    hash.update(fs.readFileSync(new URL(file, root), 'utf8').replaceAll('\r\n', '\n'));
  }
  return hash.digest('hex');
}

async function compile() {
  const { default: asc } = await import('assemblyscript/asc');
  const files = new Map();
  const { error, stderr } = await asc.main(
    [source, '--outFile', 'scanner.wasm', ...OPTIONS, ...MEMORY],
    {
      readFile: (name) => {
        const file = new URL(name, root);
        return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null;
      },
      writeFile: (name, contents) => void files.set(name, contents),
      listFiles: () => [],
    },
  );
  if (error !== null) throw new Error(`${source} does not compile:\n${stderr.toString()}`);
  return Buffer.from(files.get('scanner.wasm'));
}

function moduleOf(wasm) {
  const lines = wasm.toString('base64').match(/.{1,96}/g);
  const text = lines.map((line) => `  '${line}'`).join(' +\n');
  return (
    `// Written by wasm/build.mjs from ${source}: change that, and run \`npm run build\`.\n` +
    `// Sources: ${hashOfSources()}\n\n` +
    `/** The WebAssembly of ${source}, in base64. */\n` +
    `// prettier-ignore\nexport const SCANNER =\n${text};\n`
  );
}
