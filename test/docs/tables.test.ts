import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { SETTINGS } from '../../src/config/settings.js';
import {
  EXAMPLE,
  PAGES_WITH_TABLES,
  renderExample,
  renderRoutes,
  renderTables,
  ROUTES,
} from '../support/member-docs.js';

describe('the tables of', () => {
  it.each(PAGES_WITH_TABLES.map((page) => [basename(page), page]))(
    '%s are current: `npm run docs:tables` would not change them',
    async (_, page) => {
      expect(readFileSync(page, 'utf8')).toBe(await renderTables(page));
    },
  );

  it('the example are current, and it has every setting', async () => {
    const example = readFileSync(EXAMPLE, 'utf8');

    expect(example).toBe(await renderExample());
    for (const group of Object.keys(SETTINGS)) {
      expect(example).toContain(`# settings of ${group}: npm run docs:tables`);
    }
  });

  it('the command line are current: how it asks for each operation', async () => {
    expect(readFileSync(ROUTES, 'utf8')).toBe(await renderRoutes());
  });
});
