import Joi from 'joi';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import { tokenStatus, type Token, type TokenPolicy, type TokenStatus } from '../core/token.js';
import { BUDGET_USE_REPLY, budgetUseWire, type BudgetUseWire } from './budget.js';
import type { TokenOrder } from '../store/store.js';
import { tokenRevision } from '../management/revision.js';
import { REQUIRED_COUNT } from './counts.js';
import { ID, mapOf, REVISION } from './lists.js';
import {
  bodyMembers,
  membersWire,
  readMembers,
  replyMembers,
  type MembersWire,
} from './members.js';
import { QUOTA } from './user.js';

/** Names as an array, or separated by commas or line breaks, as other clients send them. */
type Names = readonly string[] | string;

/** What a key may be used for, as a body sets it. */
export interface PolicyBody extends Partial<MembersWire<typeof TOKEN_MEMBERS>> {
  model_limits_enabled?: boolean;
  model_limits?: Names;
  allow_ips?: Names;
  tags?: Names;
  /** Null removes it. */
  default_model?: string | null;
  /** All of them; null removes them. */
  aliases?: Record<string, string> | null;
  /** Empty: those of the model's rule apply. */
  fallbacks?: Names;
}

/** A key on the wire: everything but the key itself. */
export interface TokenWire extends MembersWire<typeof TOKEN_MEMBERS>, BudgetUseWire {
  id: number;
  user_id: number;
  name: string;
  key_hint: string;
  status: TokenStatus;
  created_time: number;
  accessed_time: number;
  expired_time: number;
  remain_quota: number;
  unlimited_quota: boolean;
  used_quota: number;
  old_key_until: number;
  model_limits_enabled: boolean;
  model_limits: string[];
  allow_ips: string[];
  tags: string[];
  default_model: string | null;
  aliases: Record<string, string>;
  fallbacks: string[];
  revision: string;
}

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
export const NAMES = Joi.array().items(Joi.string().allow('').max(1_024)).max(1_000);
const NAMES_IN = Joi.alternatives<Names>().try(
  NAMES,
  Joi.string().allow('').max(MAX_LIST_CHARACTERS),
);

const ALIASES = mapOf<string>(Joi.string().max(1_024)).description(
  'Other names for models, only for its requests: alias to model.',
);

const FALLBACKS_TEXT =
  "Models to try in turn when no channel of the one it names returns a ranking; none: those of the model's rule.";

/** The members of `PolicyBody` for the schema of a body. */
export const POLICY_BODY = {
  model_limits_enabled: Joi.boolean().description('False lifts the limit to certain models.'),
  model_limits: NAMES_IN.empty(null).description('Models; none: all.'),
  allow_ips: NAMES_IN.empty(null).description('Addresses and ranges; none: all.'),
  tags: NAMES_IN.empty(null).description('Tags that the key is bound to; none: all.'),
  default_model: Joi.string().allow(null, '').max(1_024),
  aliases: ALIASES.allow(null),
  fallbacks: NAMES_IN.empty(null).description(FALLBACKS_TEXT),
  ...bodyMembers(TOKEN_MEMBERS),
};

/** The members of `TokenWire` for the schema of a reply. */
export const TOKEN_REPLY = {
  id: ID.required(),
  user_id: ID.required(),
  name: Joi.string().required(),
  key_hint: Joi.string().required(),
  status: TOKEN_STATUS.required(),
  created_time: TIME.required(),
  accessed_time: TIME.required().description('Its last use; 0: none.'),
  expired_time: EXPIRED_TIME.required(),
  remain_quota: QUOTA.required(),
  unlimited_quota: Joi.boolean().required(),
  used_quota: REQUIRED_COUNT,
  old_key_until: TIME.required().description(
    'Unix seconds until which the previous key works; 0: there is none.',
  ),
  model_limits_enabled: Joi.boolean().required(),
  model_limits: NAMES.required(),
  allow_ips: NAMES.required(),
  tags: NAMES.required(),
  default_model: Joi.string().allow(null).required(),
  aliases: ALIASES.required(),
  fallbacks: NAMES.required().description(FALLBACKS_TEXT),
  ...replyMembers(TOKEN_MEMBERS),
  ...BUDGET_USE_REPLY,
  revision: REVISION,
};

export const TOKEN = Joi.object<TokenWire, true>(TOKEN_REPLY);

/** A key as the API returns it, and as the command line prints it with `--json`. */
export function tokenWire(nowMs: number): (token: Token) => TokenWire {
  return (token) => ({
    id: token.id,
    user_id: token.userId,
    name: token.name,
    key_hint: token.keyHint,
    status: tokenStatus(token, nowMs),
    created_time: token.createdTime,
    accessed_time: token.accessedTime,
    expired_time: token.expiredTime,
    remain_quota: token.remainQuota,
    unlimited_quota: token.unlimitedQuota,
    used_quota: token.usedQuota,
    old_key_until: oldKeyUntil(token, nowMs),
    model_limits_enabled: token.policy.models !== undefined,
    model_limits: [...(token.policy.models ?? [])],
    allow_ips: [...token.policy.allowIps],
    tags: [...token.policy.tags],
    default_model: token.policy.defaultModel ?? null,
    aliases: { ...token.policy.aliases },
    fallbacks: [...token.policy.fallbacks],
    ...membersWire(TOKEN_MEMBERS, token.policy),
    ...budgetUseWire(token.policy, token.budgetUse, nowMs),
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
