import Joi from 'joi';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import { tokenStatus, type Token, type TokenPolicy, type TokenStatus } from '../core/token.js';
import { BUDGET_USE, budgetUse } from './budget.js';
import type { TokenOrder } from '../store/store.js';
import { tokenRevision } from '../management/revision.js';
import { COUNT } from './counts.js';
import { ID, REVISION } from './lists.js';
import { bodyMembers, readMembers, replyMembers } from './members.js';
import {
  arrayOf,
  mapOf,
  nullable,
  partial,
  shape,
  wireOf,
  type ObjectOf,
  type Of,
} from './shape.js';
import { QUOTA } from './user.js';

/** Names as an array, or separated by commas or line breaks, as other clients send them. */
type Names = readonly string[] | string;

/** What keys can be ordered by, in wire spelling. */
export const TOKEN_SORTS: Readonly<Record<string, TokenOrder['by']>> = {
  name: 'name',
  remain_quota: 'remainQuota',
  used_quota: 'usedQuota',
  created_time: 'createdTime',
  accessed_time: 'accessedTime',
  expired_time: 'expiredTime',
};

export const TOKEN_STATUS = Joi.number<TokenStatus>()
  .valid(1, 2, 3, 4)
  .description('1 enabled, 2 disabled, 3 expired, 4 exhausted');
const TIME = Joi.number().integer();
export const EXPIRED_TIME = TIME.description('Unix seconds; -1: never.');
const MAX_LIST_CHARACTERS = 200_000;
export const NAMES = arrayOf(Joi.string().allow('').max(1_024)).max(1_000);
const NAMES_IN = Joi.alternatives().try(NAMES, Joi.string().allow('').max(MAX_LIST_CHARACTERS));

const ALIASES = mapOf(Joi.string().max(1_024)).description(
  'Other names for models, only for its requests: alias to model.',
);

const FALLBACKS_TEXT =
  "Models to try in turn when no channel of the one asked for ranks; none: those of the model's rule.";

/** What a key may be used for, as a body sets it. */
export const POLICY_BODY = partial({
  model_limits_enabled: Joi.boolean().description('False lifts the limit to certain models.'),
  model_limits: NAMES_IN.empty(null).description('Models; none: all.'),
  allow_ips: NAMES_IN.empty(null).description('Addresses and ranges; none: all.'),
  tags: NAMES_IN.empty(null).description('Tags that the key is bound to; none: all.'),
  default_model: nullable(Joi.string().allow('').max(1_024)),
  aliases: nullable(ALIASES),
  fallbacks: NAMES_IN.empty(null).description(FALLBACKS_TEXT),
  ...bodyMembers(TOKEN_MEMBERS),
});
export type PolicyBody = ObjectOf<typeof POLICY_BODY>;

/** A key on the wire: everything but the key itself. */
export const TOKEN = shape({
  id: ID,
  user_id: ID,
  name: Joi.string(),
  key_hint: Joi.string(),
  status: TOKEN_STATUS,
  created_time: TIME,
  accessed_time: TIME.description('Its last use; 0: none.'),
  expired_time: EXPIRED_TIME,
  remain_quota: QUOTA,
  unlimited_quota: Joi.boolean(),
  used_quota: COUNT,
  old_key_until: TIME.description(
    'Unix seconds until which the previous key works; 0: there is none.',
  ),
  model_limits_enabled: Joi.boolean(),
  model_limits: NAMES,
  allow_ips: NAMES,
  tags: NAMES,
  default_model: nullable(Joi.string()),
  aliases: ALIASES,
  fallbacks: NAMES.description(FALLBACKS_TEXT),
  ...replyMembers(TOKEN_MEMBERS),
  ...BUDGET_USE,
  revision: REVISION,
});
export type TokenWire = Of<typeof TOKEN>;

/** A key as the API returns it, and as the command line prints it with `--json`. */
export function tokenWire(nowMs: number): (token: Token) => TokenWire {
  return (token) =>
    wireOf(TOKEN, {
      ...token,
      ...token.policy,
      status: tokenStatus(token, nowMs),
      oldKeyUntil: oldKeyUntil(token, nowMs),
      modelLimitsEnabled: token.policy.models !== undefined,
      modelLimits: token.policy.models ?? [],
      ...budgetUse(token.policy, token.budgetUse, nowMs),
      revision: tokenRevision(token),
    });
}

function oldKeyUntil({ oldKeyUntilMs = 0 }: Token, nowMs: number): number {
  return oldKeyUntilMs > nowMs ? Math.ceil(oldKeyUntilMs / 1000) : 0;
}

/** The change of a policy that a body asks for. */
export function readPolicy(body: PolicyBody): Partial<TokenPolicy> {
  const { allow_ips, tags, default_model, aliases, fallbacks } = body;
  return {
    ...modelLimits(body),
    ...(allow_ips === undefined ? {} : { allowIps: namesOf(allow_ips) }),
    ...(tags === undefined ? {} : { tags: namesOf(tags) }),
    ...(default_model === undefined ? {} : { defaultModel: textOf(default_model) }),
    ...(aliases === undefined ? {} : { aliases: aliases ?? {} }),
    ...(fallbacks === undefined ? {} : { fallbacks: namesOf(fallbacks) }),
    ...readMembers(TOKEN_MEMBERS, body),
  };
}

/** The switch decides if it is sent; a list without it sets a limit only if it names a model. */
function modelLimits({
  model_limits_enabled: enabled,
  model_limits: given,
}: PolicyBody): Partial<TokenPolicy> {
  if (enabled === false) return { models: undefined };
  if (given === undefined) return {};
  const models = namesOf(given);
  return { models: enabled === undefined && models.length === 0 ? undefined : models };
}

/** Null and blanks remove what was set. */
function textOf(given: string | null): string | undefined {
  const text = given?.trim() ?? '';
  return text === '' ? undefined : text;
}

function namesOf(given: Names): string[] {
  const names = typeof given === 'string' ? given.split(/[,\n]/) : given;
  return names.map((name) => name.trim()).filter((name) => name !== '');
}
