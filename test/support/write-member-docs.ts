import { writeFileSync } from 'node:fs';
import { PAGES_WITH_TABLES, renderTables } from './member-docs.js';

for (const page of PAGES_WITH_TABLES) writeFileSync(page, await renderTables(page));
