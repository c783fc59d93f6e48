import type { Operation } from '../operation.js';
import { CHANNEL_OPERATIONS } from './channels.js';
import { LOG_OPERATIONS } from './logs.js';
import { REDEMPTION_OPERATIONS } from './redemption.js';
import { SESSION_OPERATIONS } from './sessions.js';
import { TAG_OPERATIONS } from './tags.js';
import { TOKEN_OPERATIONS } from './tokens.js';
import { USER_OPERATIONS } from './users.js';

/** The management API. */
export const OPERATIONS: readonly Operation[] = [
  ...SESSION_OPERATIONS,
  ...USER_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...REDEMPTION_OPERATIONS,
  ...CHANNEL_OPERATIONS,
  ...TAG_OPERATIONS,
  ...LOG_OPERATIONS,
];
