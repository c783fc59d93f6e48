import { writeFileSync } from 'node:fs';
import { PROVIDER_PAGE, renderProviders } from './provider-docs.js';

writeFileSync(PROVIDER_PAGE, await renderProviders());
