import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { lead } from '../../src/console/lib/lead.js';

const FILES = ['zh.ts', 'zh-pages.ts'].map((name) => [
  name,
  readFileSync(new URL(`../../src/console/words/${name}`, import.meta.url), 'utf8'),
]);

/** The lines in which a rule is broken. */
function broken(text = '', rule: RegExp): string[] {
  return text.split('\n').filter((line) => rule.test(line));
}

describe('the Chinese words', () => {
  it.each(FILES)('have punctuation of full width beside Chinese: %s', (_, text) => {
    expect(broken(text, /\p{Script=Han}[,.:;!?()]|[,;:!?()]\p{Script=Han}/u)).toEqual([]);
  });

  it.each(FILES)('have a space between Chinese and Latin letters or digits: %s', (_, text) => {
    expect(broken(text, /\p{Script=Han}[A-Za-z0-9]|[A-Za-z0-9]\p{Script=Han}/u)).toEqual([]);
  });

  it.each(FILES)('have the terms of the glossary and no others: %s', (_, text) => {
    expect(broken(text, /提供方|账号|演练场|……|\.\.\./u)).toEqual([]);
  });
});

describe('what introduces a value', () => {
  it('is followed by a space, but not after punctuation of full width', () => {
    expect([lead('Told:'), lead('收到：')]).toEqual(['Told: ', '收到：']);
  });
});
