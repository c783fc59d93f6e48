import { writeFileSync } from 'node:fs';
import {
  EXAMPLE,
  PAGES_WITH_TABLES,
  renderExample,
  renderTables,
  renderRoutes,
  ROUTES,
} from './member-docs.js';

for (const page of PAGES_WITH_TABLES) writeFileSync(page, await renderTables(page));
writeFileSync(EXAMPLE, await renderExample());
writeFileSync(ROUTES, await renderRoutes());
