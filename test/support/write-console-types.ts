import { writeFileSync } from 'node:fs';
import { CONSOLE_TYPES_FILE, consoleTypes } from './console-types.js';

writeFileSync(CONSOLE_TYPES_FILE, await consoleTypes());
