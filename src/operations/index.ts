import type { Operation } from './operation.js';
import { ABOUT_OPERATIONS } from './about.js';
import { ALERT_OPERATIONS } from './alerts.js';
import { CHANNEL_BATCH_OPERATIONS } from './channel-batches.js';
import { CHANNEL_CHOICE_OPERATIONS } from './channel-choices.js';
import { CHANNEL_TRIAL_OPERATIONS } from './channel-trials.js';
import { CHANNEL_OPERATIONS } from './channels.js';
import { EXAMPLE_OPERATIONS } from './examples.js';
import { LOG_OPERATIONS } from './logs.js';
import { MODEL_OPERATIONS } from './models.js';
import { NODE_OPERATIONS } from './nodes.js';
import { OPEN_ID_OPERATIONS } from './open-id.js';
import { OWN_ACCOUNT_OPERATIONS } from './own-account.js';
import { PASSWORD_RESET_OPERATIONS } from './password-reset.js';
import { PLAYGROUND_OPERATIONS } from './playground.js';
import { REDEMPTION_OPERATIONS } from './redemption.js';
import { REQUEST_OPERATIONS } from './requests.js';
import { ROUTE_OPERATIONS } from './routes.js';
import { SESSION_OPERATIONS } from './sessions.js';
import { STATS_OPERATIONS } from './stats.js';
import { TAG_OPERATIONS } from './tags.js';
import { TOKEN_OPERATIONS } from './tokens.js';
import { USER_ACTION_OPERATIONS } from './user-actions.js';
import { USER_OPERATIONS } from './users.js';

/** The management API. */
export const OPERATIONS = [
  ...ABOUT_OPERATIONS,
  ...SESSION_OPERATIONS,
  ...OPEN_ID_OPERATIONS,
  ...OWN_ACCOUNT_OPERATIONS,
  ...PASSWORD_RESET_OPERATIONS,
  ...USER_OPERATIONS,
  ...USER_ACTION_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...REDEMPTION_OPERATIONS,
  ...CHANNEL_OPERATIONS,
  ...CHANNEL_BATCH_OPERATIONS,
  ...CHANNEL_TRIAL_OPERATIONS,
  ...CHANNEL_CHOICE_OPERATIONS,
  ...TAG_OPERATIONS,
  ...MODEL_OPERATIONS,
  ...NODE_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...ROUTE_OPERATIONS,
  ...LOG_OPERATIONS,
  ...STATS_OPERATIONS,
  ...REQUEST_OPERATIONS,
  ...PLAYGROUND_OPERATIONS,
  ...EXAMPLE_OPERATIONS,
] as const satisfies readonly Operation[];
