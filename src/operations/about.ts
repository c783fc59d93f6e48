import Joi from 'joi';
import { UNITS_PER_DOLLAR } from '../core/figures.js';
import { liveBuilds } from '../management/nodes.js';
import { COUNT } from '../shapes/counts.js';
import { USER, userWire } from '../shapes/user.js';
import { defineOperation, inArea } from './operation.js';
import { arrayOf, choice, nullable, shape } from '../shapes/shape.js';

const about = defineOperation({
  id: 'about',
  method: 'GET',
  path: '/api/about',
  summary: 'What a page needs before anybody logs in, and who is logged in',
  description: 'Without a login, or if it has ended, `self` is null.',
  access: 'visitor',
  reply: shape({
    version: Joi.string().description('The running release.'),
    builds: arrayOf(Joi.string()).description(
      'Of the consoles that the running gateways serve; none while the store cannot tell. A page whose own is not among them is outdated.',
    ),
    self: nullable(USER),
    logins: shape({
      passwords: Joi.boolean().description('Whether passwords are accepted.'),
      open_id: nullable(Joi.string()).description('What the button of the provider says.'),
      refusal: nullable(Joi.string()).description('Why somebody vouched for is not logged in.'),
    }),
    registration: Joi.boolean().description('Whether people may register themselves.'),
    mail: choice('smtp', 'outbox').description('outbox: mails wait in a folder for an operator.'),
    units_per_usd: COUNT.description('Quota units per US dollar.'),
    default_model: nullable(Joi.string()),
    usage_entries: COUNT.description('How many entries the usage log keeps.'),
    refused_entries: COUNT.description('How many refused requests are kept.'),
    retention_days: COUNT,
    playground: shape({ examples: Joi.boolean().description('Whether inputs may be kept.') }),
  }),
  handler: async ({ deps, login, refusal }) => ({
    version: deps.about.release,
    builds: await liveBuilds(deps),
    self: login === undefined ? null : userWire(deps.now())(login.user),
    logins: {
      passwords: deps.logins.passwords,
      open_id: deps.openId?.label ?? null,
      refusal: refusal ?? null,
    },
    registration: deps.accounts.registration && deps.logins.passwords,
    mail: deps.about.mail,
    units_per_usd: UNITS_PER_DOLLAR,
    default_model: deps.about.defaultModel ?? null,
    usage_entries: deps.about.usageEntries,
    refused_entries: deps.about.refusedEntries,
    retention_days: deps.about.retentionDays,
    playground: { examples: deps.keepsExamples },
  }),
});

export const ABOUT_OPERATIONS = inArea('sessions', [about]);
