import type { Operation } from '../operation.js';
import { SESSION_OPERATIONS } from './sessions.js';

/** The management API. */
export const OPERATIONS: readonly Operation[] = [...SESSION_OPERATIONS];
