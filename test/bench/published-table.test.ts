import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { tableOf, type Results } from '../../bench/table.js';

describe('the published figures', () => {
  it('are those that bench/README.md shows', async () => {
    const results = JSON.parse(await readFile('bench/table.json', 'utf8')) as Results;

    const shown = withoutAlignment(await readFile('bench/README.md', 'utf8'));

    expect(shown).toContain(withoutAlignment(tableOf(results)));
  });
});

/** The text as it is before Prettier aligns the columns of its tables. */
function withoutAlignment(text: string): string {
  return text.replaceAll(/ +/g, ' ').replaceAll(/-{2,}/g, '--').replaceAll('*', '_');
}
