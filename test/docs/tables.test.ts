import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { PAGES_WITH_TABLES, renderTables } from '../support/member-docs.js';

describe('the tables of', () => {
  it.each(PAGES_WITH_TABLES.map((page) => [basename(page), page]))(
    '%s are current: `npm run docs:tables` would not change them',
    async (_, page) => {
      expect(readFileSync(page, 'utf8')).toBe(await renderTables(page));
    },
  );
});
