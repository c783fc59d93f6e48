import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { ERRORS } from '../../src/core/errors.js';

const page = (name: string): string =>
  readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

it('docs/troubleshooting.md explains every error code once', () => {
  const codes = [...page('docs/troubleshooting.md').matchAll(/^\| `([a-z_]+)` +\|/gm)];

  expect(codes.map(([, code]) => code).sort()).toEqual(Object.keys(ERRORS).sort());
});

it.each(['README.md', 'docs/troubleshooting.md', 'docs/quickstarts.md', 'docs/clients.md'])(
  'the links of %s lead to headings that are there',
  (name) => {
    const base = new URL(`../../${name}`, import.meta.url);
    const links = [...page(name).matchAll(/\]\(([\w./-]*\.md)?#([\w-]+)\)/g)];
    const broken = links.filter(([, file = '', anchor = '']) => {
      const text = readFileSync(file === '' ? base : new URL(file, base), 'utf8');
      return !anchorsOf(text).includes(anchor);
    });

    expect(broken.map(([link]) => link)).toEqual([]);
  },
);

/** As GitHub makes them from headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
