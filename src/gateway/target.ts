import { GatewayError } from '../core/errors.js';
import { isBuiltIn, resolveModel, type Aliases } from '../core/model-names.js';
import type { TokenPolicy } from '../core/token.js';
import { judgeModel, judgeTag } from './key-refusals.js';
import type { ChannelTable } from './channels/table.js';
import { noChannelError } from './refusals.js';
import type { Job } from './rank.js';
import type { Route } from './channels/route.js';

/** What decides where a request may go: the channels in force, and other names of models that hold for all keys. */
export interface Routing {
  readonly channels: Pick<ChannelTable, 'current'>;
  readonly aliases: Aliases;
}

/** What a request asks for, as its caller wrote it: a name in its body, which may mean more than a model, and a header. */
export interface Asked {
  readonly model: string;
  readonly tag: string | undefined;
}

/** Where a request may go: the name of a model here, and the tag that its channels must have. */
export interface Target {
  readonly model: string;
  readonly tag: string | undefined;
}

/** The target that a request names itself: `model@tag` names both if no model has that whole name. */
export function targetAsWritten({ channels }: Routing, { model, tag: named }: Asked): Target {
  const at = model.lastIndexOf('@');
  const { plans, unusable } = channels.current;
  if (at <= 0 || at === model.length - 1 || plans.has(model) || unusable.has(model)) {
    return { model, tag: named };
  }
  const tag = model.slice(at + 1);
  if (named !== undefined && named !== tag) {
    throw new GatewayError(
      'invalid_request',
      `The model names tag "${tag}" and the header X-Rerank-Tag names "${named}": name only one.`,
      { param: 'model' },
    );
  }
  return { model: model.slice(0, at), tag };
}

/** The target that it means instead, if what it has written is an alias or has a client's prefix. */
export function targetByAlias(
  routing: Routing,
  asked: Asked,
  written: Target,
  { aliases }: Pick<TokenPolicy, 'aliases'>,
): Target | undefined {
  const { plans } = routing.channels.current;
  const resolve = (name: string): string | undefined =>
    resolveModel(name, (model) => plans.has(model), aliases, routing.aliases);
  // An alias may itself contain an "@".
  const whole = resolve(asked.model);
  const model = whole ?? resolve(written.model);
  if (model === undefined || model === written.model) return undefined;
  return { model, tag: whole === undefined ? written.tag : asked.tag };
}

/** Whether a channel that the key may reach takes traffic for a target. */
export function isLive(routing: Routing, target: Target, policy: TokenPolicy): boolean {
  const { plans } = routing.channels.current;
  return answersOf(routing, target, policy).some((model) =>
    plans
      .get(model)
      ?.offers.some(({ route }) => route.live && bears(route, target.tag, policy.tags)),
  );
}

/** Models that may answer in a target's name, its own first: by the key's chain, else by the model's rule. */
export function answersOf(
  { channels }: Routing,
  { model }: Target,
  { fallbacks }: Pick<TokenPolicy, 'fallbacks'>,
): readonly string[] {
  const plan = channels.current.plans.get(model);
  if (plan === undefined) return [];
  return fallbacks.length === 0 ? plan.answers : [...new Set([model, ...fallbacks])];
}

/** @throws GatewayError 403 if a key's policy excludes the target. */
export function judgeTarget(policy: TokenPolicy, target: Target): void {
  judgeModel(policy, target.model);
  judgeTag(policy, target.tag);
}

/** Why no channel serves a target that is not live. `asked` is the model's name as the caller wrote it. */
export function unservedError({ channels }: Routing, asked: string, target: Target): GatewayError {
  const { plans, unusable } = channels.current;
  const tags = new Set(plans.get(target.model)?.offers.map(({ route }) => route.channel.tag));
  // An unusable channel serves no requests now, but will once it is fixed.
  for (const { channel } of unusable.get(target.model) ?? []) tags.add(channel.tag);
  if (tags.size === 0) {
    const advice = isBuiltIn(asked)
      ? ' If the client has this name built in, make it an alias of a model: callers.aliases for all keys, or aliases of the key.'
      : '';
    return new GatewayError('model_not_found', `Model "${asked}" does not exist here.${advice}`, {
      param: 'model',
    });
  }
  if (target.tag !== undefined && !tags.has(target.tag)) {
    return new GatewayError(
      'model_not_found',
      `Model "${target.model}" is not served under tag "${target.tag}".`,
      { param: 'model' },
    );
  }
  return noChannelError(target.model);
}

/** What the tags and models of request and key allow a job. */
export function boundsOf(
  { tag }: Target,
  { tags, models }: TokenPolicy,
): Pick<Job, 'admits' | 'mayAnswer'> {
  return {
    admits: (route) => bears(route, tag, tags),
    mayAnswer: (model) => models === undefined || models.includes(model),
  };
}

/** Whether a channel has the requested tag and one of those that the key is bound to. */
export function bears(route: Route, tag: string | undefined, keyTags: readonly string[]): boolean {
  const own = route.channel.tag;
  if (tag !== undefined && own !== tag) return false;
  return keyTags.length === 0 || (own !== undefined && keyTags.includes(own));
}
