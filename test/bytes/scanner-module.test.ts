import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';

it('the WebAssembly in the sources is what its own source compiles to', () => {
  const { status, stderr } = spawnSync(process.execPath, ['src/bytes/wasm/build.mjs', '--check'], {
    encoding: 'utf8',
  });

  expect([stderr, status]).toEqual(['', 0]);
});
