/**
 * Breaks a promise of the gateway on purpose, for the suite to find: CHAOS_SABOTAGE names which. Loaded with --import; it
 * changes one place of the built program on its way into memory, and nothing on disk.
 */
import { register } from 'node:module';

register('./sabotage-hooks.mjs', import.meta.url, { data: process.env.CHAOS_SABOTAGE ?? '' });
