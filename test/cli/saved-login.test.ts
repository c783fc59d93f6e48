import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { forgetLogin, readLogin, saveLogin } from '../../src/cli/saved-login.js';
import { Secret } from '../../src/core/secret.js';

let folder = '';
let file = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'login-'));
  file = join(folder, '.config', 'rerank-gateway', 'login.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const login = { url: 'http://gateway', username: 'ann', accessToken: new Secret('at-secret') };

it('a saved login is for its owner’s eyes, whatever was there before', () => {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, '{}', { mode: 0o644 });

  expect(saveLogin({ HOME: folder }, login)).toBe(file);

  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readLogin({ HOME: folder })?.accessToken.reveal()).toBe('at-secret');
  forgetLogin({ HOME: folder });
  expect(readLogin({ HOME: folder })).toBeUndefined();
});

it('a login that cannot be read is not taken for none', () => {
  mkdirSync(file, { recursive: true });

  expect(() => readLogin({ HOME: folder })).toThrow('EISDIR');
});
