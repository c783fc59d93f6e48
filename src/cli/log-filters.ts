import { InvalidArgumentError, type Command } from 'commander';
import type { Client, InputOf } from '../client/client.js';
import { unknownValue } from '../core/closest.js';
import { ERRORS, GatewayError } from '../core/errors.js';
import { namedUser, seesAll, self } from './accounts.js';
import { idOfChannel, idOfKey } from './named.js';
import type { CliIo } from './session.js';
import { past, wholeNumber } from './values.js';

export interface FilterOptions {
  readonly user?: string;
  readonly key?: string;
  readonly model?: string;
  readonly channel?: string;
  readonly provider?: string;
  readonly tag?: string;
  readonly outcome?: string;
  readonly slower?: number;
  readonly since?: number;
  readonly until?: number;
}

/** The options that choose requests. */
export function withFilters(command: Command, io: CliIo): Command {
  return command
    .option('--user <user>', 'of this account: id, name or address')
    .option('--key <key>', 'with this key: id or name')
    .option('--model <name>', 'for this model')
    .option('--channel <channel>', 'answered by this channel: id or name')
    .option('--provider <provider>', 'answered by a channel of this provider')
    .option('--tag <tag>', 'answered by a channel with this tag')
    .option('--outcome <code>', 'ok, an error code, or failed for all error codes', outcome)
    .option('--slower <ms>', 'that took at least this many milliseconds', wholeNumber)
    .option('--since <when>', 'since when: 30d for the last 30 days, or a date', past(io.now))
    .option('--until <when>', 'until when (default: now)', past(io.now));
}

const OUTCOMES: readonly string[] = ['ok', 'failed', ...Object.keys(ERRORS)];

function outcome(text: string): string {
  if (OUTCOMES.includes(text)) return text;
  throw new InvalidArgumentError(unknownValue(text, OUTCOMES, 'an outcome'));
}

type Filter = NonNullable<InputOf<'sumUsage'>['query']>;
type OwnFilter = NonNullable<InputOf<'sumOwnUsage'>['query']>;

/** The filter of a request log: everybody's for those who see it, one's own for others. */
export type Wanted =
  | { readonly own: false; readonly filter: Filter }
  | { readonly own: true; readonly filter: OwnFilter };

export async function filterOf(client: Client, options: FilterOptions): Promise<Wanted> {
  const { user, key, channel, provider, tag } = options;
  const shared = {
    token_id: key === undefined ? undefined : await idOfKey(client, key),
    model: options.model,
    outcome: options.outcome,
    min_duration_ms: options.slower,
    ...spanOf(options),
  };
  // Those who see only their own can name no other account.
  const userId = user === undefined ? undefined : (await namedUser(client, user)).id;
  if (await seesAll(client)) {
    const filter = {
      ...shared,
      user_id: userId,
      channel_id: channel === undefined ? undefined : await idOfChannel(client, channel),
      provider,
      tag,
    };
    return { own: false, filter };
  }
  if ([channel, provider, tag].some((wanted) => wanted !== undefined)) throw onlyOwn();
  return { own: true, filter: shared };
}

export function onlyOwn(): GatewayError {
  return new GatewayError('permission_denied', 'Your account may only see its own requests.');
}

export function spanOf({ since, until }: { readonly since?: number; readonly until?: number }): {
  readonly start_timestamp: number | undefined;
  readonly end_timestamp: number | undefined;
} {
  return { start_timestamp: since, end_timestamp: until };
}

/** What users do not see of their requests. */
export const UNSEEN_USAGE = { channel_id: null, provider: null, tag: null };
export const UNSEEN_REFUSAL = { address: null, node: '' };

/** One's own entries in the form that operators see, so that scripts read one form. */
export async function withOwner<T extends object, U extends object>(
  client: Client,
  entries: readonly T[],
  unseen: U,
): Promise<readonly (T & U & { readonly user_id: number })[]> {
  const { id } = await self(client);
  return entries.map((entry) => ({ user_id: id, ...unseen, ...entry }));
}
