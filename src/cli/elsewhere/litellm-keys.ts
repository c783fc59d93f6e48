import { present } from '../../core/records.js';
import { UNITS_PER_DOLLAR } from '../../core/figures.js';
import { KEY_PREFIX, NEVER_EXPIRES, type TokenPolicy } from '../../core/token.js';
import { fieldsOf, limitIn, listIn, namesIn, numberIn, textIn, type Plan } from './plan.js';

type Fields = ReturnType<typeof fieldsOf>;

const HASH = /^[0-9a-f]{64}$/;
/** Names that LiteLLM gives to sets of models. */
const ALL_MODELS = 'all-proxy-models';
const UNKNOWN_MODELS = ['all-team-models', 'no-default-models'];
const PERIODS = { day: /^(1d|24h)$/, week: /^(7d|1w)$/, month: /^(30d|31d|1mo)$/ } as const;

/** Adds the keys of all pages of `GET /key/list?return_full_object=true`, by their hashes, to a plan. */
export function addLitellmKeys(plan: Plan, replies: readonly unknown[], nowMs: number): void {
  const pages = new Set(replies.map((reply) => numberIn(fieldsOf(reply), 'current_page') ?? 1));
  const total = Math.max(...replies.map((of) => numberIn(fieldsOf(of), 'total_pages') ?? 1));
  if (pages.size < total) {
    plan.toDo.push(
      `These are ${pages.size} of ${total} pages of keys: give --keys the files of all pages.`,
    );
  }
  for (const reply of replies) {
    const keys = Array.isArray(reply) ? (reply as unknown[]) : listIn(fieldsOf(reply), 'keys');
    for (const key of keys) addKey(plan, fieldsOf(key), nowMs);
  }
}

function addKey(plan: Plan, key: Fields, nowMs: number): void {
  const hash = textIn(key, 'token') ?? '';
  const shown = textIn(key, 'key_name') ?? '';
  const name = textIn(key, 'key_alias') ?? (shown === '' ? 'from LiteLLM' : shown);
  const what = `key ${name}`;
  if (!HASH.test(hash)) {
    const why = 'it has no hash: ask for /key/list with return_full_object=true';
    plan.notCarried.push({ what, why });
    return;
  }
  const expiredTime = expiryOf(textIn(key, 'expires'));
  if (Number.isNaN(expiredTime) || (expiredTime !== NEVER_EXPIRES && expiredTime * 1000 <= nowMs)) {
    plan.notCarried.push({ what, why: 'it has expired' });
    return;
  }
  const models = namesIn(key, 'models');
  const unknown = models.find((model) => UNKNOWN_MODELS.includes(model));
  if (unknown !== undefined) {
    plan.toDo.push(`Set the models of key ${name}, and enable it: in LiteLLM it had "${unknown}".`);
  }
  for (const [member, why] of Object.entries(LEFT_OUT)) {
    if (textIn(key, member) !== undefined)
      plan.notCarried.push({ what: `${member} of ${what}`, why });
  }
  const named = models.filter((model) => !UNKNOWN_MODELS.includes(model));
  const { policy, ...money } = moneyOf(plan, what, key);
  const isLimited = named.length > 0 && !named.includes(ALL_MODELS);
  plan.keys.push({
    secret: { keyHash: hash, keyHint: `${KEY_PREFIX}…${shown.slice(-4)}` },
    draft: {
      name,
      enabled: key.blocked !== true && unknown === undefined,
      expiredTime,
      ...money,
      policy: {
        ...policy,
        ...present({
          models: isLimited ? named : undefined,
          rateLimit: limitIn(key, 'rpm_limit'),
          maxConcurrency: limitIn(key, 'max_parallel_requests'),
        }),
      },
    },
  });
}

const LEFT_OUT = {
  tpm_limit: 'keys have no limit of tokens a minute here; channels have',
  team_id:
    'there are no teams here: give the key a label such as team=search, and budgets to accounts',
};

interface Money {
  readonly unlimitedQuota: boolean;
  readonly remainQuota: number;
  readonly policy: Partial<TokenPolicy>;
}

/** The rest of a budget; one that renews becomes a budget here. */
function moneyOf(plan: Plan, what: string, key: Fields): Money {
  const budget = numberIn(key, 'max_budget');
  if (budget === undefined) return { unlimitedQuota: true, remainQuota: 0, policy: {} };
  const left = {
    unlimitedQuota: false,
    remainQuota: unitsOf(budget - (numberIn(key, 'spend') ?? 0)),
  };
  const duration = textIn(key, 'budget_duration');
  if (duration === undefined) return { ...left, policy: {} };
  const period = (['day', 'week', 'month'] as const).find((one) => PERIODS[one].test(duration));
  if (period === undefined) {
    const why =
      'budgets renew each day, week or month here: the key has what was left, which does not renew';
    plan.notCarried.push({ what: `budget_duration ${duration} of ${what}`, why });
    return { ...left, policy: {} };
  }
  // A budget of 0 is none here: what has nothing must not become unlimited.
  if (unitsOf(budget) === 0) return { ...left, policy: {} };
  const policy = { budget: unitsOf(budget), budgetPeriod: period };
  return { unlimitedQuota: true, remainQuota: 0, policy };
}

function unitsOf(dollars: number): number {
  return Math.max(0, Math.floor(dollars * UNITS_PER_DOLLAR));
}

/** Unix seconds; LiteLLM writes UTC, with or without saying so. `NaN` if it is not a time. */
function expiryOf(text: string | undefined): number {
  if (text === undefined) return NEVER_EXPIRES;
  const zoned = /(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`;
  return Math.floor(Date.parse(zoned) / 1000);
}
