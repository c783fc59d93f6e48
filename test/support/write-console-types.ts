import { writeFileSync } from 'node:fs';
import { CONSOLE_MEMBERS_FILE, consoleMembers } from './console-members.js';
import { CONSOLE_TYPES_FILE, consoleTypes } from './console-types.js';

writeFileSync(CONSOLE_TYPES_FILE, await consoleTypes());
writeFileSync(CONSOLE_MEMBERS_FILE, await consoleMembers());
