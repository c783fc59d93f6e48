import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { DIALECTS } from '../../src/ingress/index.js';

it('docs/clients.md names every form that callers may speak', () => {
  const page = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const [, names = ''] = page.split('## Names of the forms');

  expect([...names.matchAll(/`([\w-]+)`/g)].map(([, name]) => name).sort()).toEqual(
    DIALECTS.map(({ id }) => id).sort(),
  );
});
