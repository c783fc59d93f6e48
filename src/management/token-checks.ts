import { GatewayError } from '../core/errors.js';
import type { Aliases } from '../core/model-names.js';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import { isExpired, NEVER_EXPIRES, type TokenPolicy } from '../core/token.js';
import { isAddressOrRange } from './addresses.js';
import { ADMIN_ROLE, type Actor } from './audit.js';
import { checkMembers, checkName, checkNames, invalid } from './fields.js';

const MAX_LIST = 1_000;

/** Each may cost its deadline; a model's rule has the same maximum. */
const MAX_FALLBACKS = 16;

/** The last second that a date can express. */
const MAX_TIME = 8_640_000_000_000;

/** The year 33658 in seconds, 2001 in milliseconds. */
const LEAST_MILLISECONDS = 1_000_000_000_000;

export function refusePast(expiredTime: number, nowMs: number): void {
  if (!isExpired(expiredTime, nowMs)) return;
  const [given, now] = [expiredTime * 1000, nowMs].map((ms) => new Date(ms).toISOString());
  throw invalid(
    'expired_time',
    `expired_time is in the past: ${given ?? ''}, and it is ${now ?? ''}. To stop a key at once, disable it.`,
  );
}

export function checkExpiry(expiredTime: number): void {
  if (expiredTime === NEVER_EXPIRES) return;
  if (expiredTime >= LEAST_MILLISECONDS && Number.isInteger(expiredTime)) {
    throw invalid(
      'expired_time',
      `expired_time looks like milliseconds: give unix seconds, such as ${Math.floor(expiredTime / 1000)}, or -1 for never.`,
    );
  }
  if (!Number.isInteger(expiredTime) || expiredTime < 1 || expiredTime > MAX_TIME) {
    throw invalid('expired_time', 'expired_time must be in unix seconds, or -1 for never.');
  }
}

export function checkPolicy(policy: Partial<TokenPolicy>): Partial<TokenPolicy> {
  checkMembers(TOKEN_MEMBERS, policy);
  const { models, allowIps, tags, defaultModel, aliases, fallbacks } = policy;
  checkLength(models, 'model_limits');
  checkLength(allowIps, 'allow_ips');
  checkLength(tags, 'tags');
  checkLength(fallbacks, 'fallbacks', MAX_FALLBACKS);
  if (models?.length === 0) {
    throw invalid('model_limits', 'model_limits must name a model, or be removed altogether.');
  }
  const addresses = allowIps?.map((entry) => entry.trim());
  const wrong = addresses?.find((entry) => !isAddressOrRange(entry));
  if (wrong !== undefined) {
    throw invalid(
      'allow_ips',
      `allow_ips must hold addresses and ranges such as 192.0.2.7 or 10.0.0.0/8; "${wrong}" is neither.`,
    );
  }
  return {
    ...policy,
    ...(models === undefined ? {} : { models: checkNames(models, 'model_limits') }),
    ...(addresses === undefined ? {} : { allowIps: [...new Set(addresses)] }),
    ...(tags === undefined ? {} : { tags: checkNames(tags, 'tags') }),
    ...(defaultModel === undefined
      ? {}
      : { defaultModel: checkName(defaultModel, 'default_model') }),
    ...(aliases === undefined ? {} : { aliases: checkAliases(aliases) }),
    ...(fallbacks === undefined ? {} : { fallbacks: checkNames(fallbacks, 'fallbacks') }),
  };
}

function checkAliases(aliases: Aliases): Aliases {
  const pairs = Object.entries(aliases);
  checkLength(
    pairs.map(([alias]) => alias),
    'aliases',
  );
  const checked = pairs.map((pair) => pair.map((name) => checkName(name, 'aliases')));
  return Object.fromEntries(checked) as Aliases;
}

function checkLength(list: readonly string[] | undefined, param: string, most = MAX_LIST): void {
  if (list !== undefined && list.length > most) {
    throw invalid(param, `${param} may have at most ${most} entries.`);
  }
}

export function checkDefaultModel({ models, defaultModel }: TokenPolicy): void {
  if (defaultModel === undefined || models === undefined || models.includes(defaultModel)) return;
  throw invalid(
    'default_model',
    `default_model must be one of the models that the key is limited to: ${models.join(', ')}.`,
  );
}

/** Explanations reveal channels, which only admins may show. */
export function checkMayExplain(
  { mayExplain }: Pick<Partial<TokenPolicy>, 'mayExplain'>,
  before: TokenPolicy,
  actor: Actor,
): void {
  if (mayExplain !== true || before.mayExplain || actor.role >= ADMIN_ROLE) return;
  throw new GatewayError('permission_denied', 'Only an admin may let a key ask for explanations.', {
    param: 'may_explain',
  });
}
