import Joi from 'joi';
import { UNITS_PER_DOLLAR } from '../core/quota.js';
import { liveBuilds } from '../management/nodes.js';
import { REQUIRED_COUNT } from '../shapes/counts.js';
import { USER, userWire, type UserWire } from '../shapes/user.js';
import { defineOperation } from './operation.js';

interface AboutWire {
  version: string;
  builds: string[];
  self: UserWire | null;
  registration: boolean;
  mail: 'smtp' | 'outbox';
  units_per_usd: number;
  default_model: string | null;
  usage_entries: number;
  refused_entries: number;
  retention_days: number;
  playground: { examples: boolean };
}

const about = defineOperation({
  id: 'about',
  method: 'GET',
  path: '/api/about',
  area: 'sessions',
  summary: 'What a page needs before anybody logs in, and who is logged in',
  description: 'Without a login, or if it has ended, `self` is null.',
  access: 'visitor',
  reply: Joi.object<AboutWire>({
    version: Joi.string().required().description('The running release.'),
    builds: Joi.array()
      .items(Joi.string())
      .required()
      .description(
        'Of the consoles that the running gateways serve; none while the store cannot tell. A page whose own is not among them is outdated.',
      ),
    self: USER.allow(null).required(),
    registration: Joi.boolean().required().description('Whether people may register themselves.'),
    mail: Joi.string<AboutWire['mail']>()
      .valid('smtp', 'outbox')
      .required()
      .description('outbox: mails wait in a folder for an operator.'),
    units_per_usd: REQUIRED_COUNT.description('Quota units per US dollar.'),
    default_model: Joi.string().allow(null).required(),
    usage_entries: REQUIRED_COUNT.description('How many entries the usage log keeps.'),
    refused_entries: REQUIRED_COUNT.description('How many refused requests are kept.'),
    retention_days: REQUIRED_COUNT,
    playground: Joi.object<AboutWire['playground'], true>({
      examples: Joi.boolean().required().description('Whether inputs may be kept.'),
    }).required(),
  }),
  handler: async ({ deps, login }) => ({
    version: deps.about.release,
    builds: await liveBuilds(deps),
    self: login === undefined ? null : userWire(deps.now())(login.user),
    registration: deps.accounts.registration,
    mail: deps.about.mail,
    units_per_usd: UNITS_PER_DOLLAR,
    default_model: deps.about.defaultModel ?? null,
    usage_entries: deps.about.usageEntries,
    refused_entries: deps.about.refusedEntries,
    retention_days: deps.about.retentionDays,
    playground: { examples: deps.keepsExamples },
  }),
});

export const ABOUT_OPERATIONS = [about] as const;
