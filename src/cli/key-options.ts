import { InvalidArgumentError, type Command } from 'commander';
import { AMBIGUOUS_RANGE, isAmbiguousRange } from '../management/addresses.js';
import { TOKEN_MEMBERS } from '../core/token-members.js';
import type { InputOf } from '../client/client.js';
import type { Aliases } from '../core/model-names.js';
import { present } from '../core/records.js';
import { TOKEN_DISABLED, TOKEN_ENABLED } from '../core/token.js';
import { givenMembers, withMembers } from './members.js';
import { aliasesOrNone, listOr, listOrAny, listOrNone } from './values.js';

export interface PolicyOptions {
  readonly models?: readonly string[] | 'all';
  readonly ips?: readonly string[];
  readonly tags?: readonly string[];
  readonly defaultModel?: string;
  readonly aliases?: Aliases;
  readonly fallbacks?: readonly string[];
}

interface UpdateOptions {
  readonly name?: string;
  readonly quota?: number;
  readonly addQuota?: number;
  readonly unlimited?: true;
  readonly expires?: number;
  readonly enable?: true;
  readonly disable?: true;
}

/** The options of what a key may do. */
export function withPolicy(command: Command, creating: boolean): Command {
  const described = command
    .option('--models <names>', 'the models it may use: a,b, or all for no limit', listOr('all'))
    .option('--default-model <name>', 'for requests that name no model; none removes it')
    .option(
      '--aliases <names>',
      'other names of models, for its requests alone: alias=model,alias=model, or none',
      aliasesOrNone,
    )
    .option(
      '--fallbacks <names>',
      "the models to try in turn when no channel of the one it names returns a ranking: a,b, or none for those of the model's rule",
      listOrNone,
    )
    .option(
      '--ips <ranges>',
      'the addresses and CIDR ranges that it may be used from, separated by commas, or any for no limit',
      rangesOrAny,
    )
    .option(
      '--tags <names>',
      'the tags of the channels it may use: a,b, or any for no limit',
      listOrAny,
    );
  return withMembers(described, TOKEN_MEMBERS, creating);
}

type PolicyBody = NonNullable<InputOf<'updateToken'>['body']>;

/** What a key may do, as a body has it. */
export function policyOf(command: Command): Omit<PolicyBody, 'id' | 'status'> {
  const { models, defaultModel, aliases, fallbacks, ips, tags } = command.opts<PolicyOptions>();
  return {
    ...present({ aliases, fallbacks, allow_ips: ips, tags }),
    ...givenMembers(command, TOKEN_MEMBERS),
    ...(models === undefined
      ? {}
      : models === 'all'
        ? { model_limits_enabled: false }
        : { model_limits_enabled: true, model_limits: models }),
    ...(defaultModel === undefined
      ? {}
      : { default_model: defaultModel === 'none' ? null : defaultModel }),
  };
}

/** What an update changes. */
export function changeOf(command: Command): Omit<PolicyBody, 'id'> {
  const options = command.opts<UpdateOptions>();
  const { name, quota, addQuota, unlimited, expires, enable, disable } = options;
  return {
    ...present({ name, expired_time: expires }),
    ...(enable === true ? { status: TOKEN_ENABLED } : {}),
    ...(disable === true ? { status: TOKEN_DISABLED } : {}),
    ...(unlimited === true ? { unlimited_quota: true } : {}),
    // Whoever names an amount means it as a limit.
    ...(quota === undefined ? {} : { remain_quota: quota, unlimited_quota: false }),
    ...present({ add_quota: addQuota }),
    ...policyOf(command),
  };
}

/** Addresses and ranges, given like the names of `listOrAny`; refuses those that not everybody reads alike. */
function rangesOrAny(text: string): string[] {
  const ranges = listOrAny(text);
  const wrong = ranges.find(isAmbiguousRange);
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" ${AMBIGUOUS_RANGE}.`);
  return ranges;
}
