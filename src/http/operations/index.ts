import type { Operation } from '../operation.js';
import { SESSION_OPERATIONS } from './sessions.js';
import { USER_OPERATIONS } from './users.js';

/** The management API. */
export const OPERATIONS: readonly Operation[] = [...SESSION_OPERATIONS, ...USER_OPERATIONS];
