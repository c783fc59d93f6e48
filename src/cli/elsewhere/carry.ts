import { randomBytes } from 'node:crypto';
import { listPart, type Client } from '../../client/client.js';
import { GatewayError } from '../../core/errors.js';
import { present } from '../../core/records.js';
import { newPassword } from '../../management/passwords.js';
import { hintOf } from '../../management/redemption-codes.js';
import { ALL } from '../named.js';
import { counted } from '../text.js';
import type { CarriedUser, Note, Plan } from './plan.js';

const KINDS = ['channels', 'accounts', 'keys', 'codes'] as const;
type Kind = (typeof KINDS)[number];
const NOUNS = { channels: 'channel', accounts: 'account', keys: 'key', codes: 'code' } as const;

/** Names of what was carried over, or would be. */
export interface Report {
  readonly dry_run: boolean;
  readonly carried: Readonly<Record<Kind, string[]>>;
  readonly already_there: Readonly<Record<Kind, string[]>>;
  readonly not_carried: Note[];
  readonly to_do: readonly string[];
}

/** The codes of one gateway can be found, and disabled, together. */
const BATCH = 'new-api';
const ROOT = 100;

/** Writes what is not there yet, one after the other: the next run goes on where one was interrupted. */
export async function carryOver(
  client: Client,
  plan: Plan,
  { dryRun, owner }: { readonly dryRun: boolean; readonly owner: number },
): Promise<Report> {
  const none = (): Record<Kind, string[]> => ({ channels: [], accounts: [], keys: [], codes: [] });
  const report = {
    ...{ dry_run: dryRun, carried: none(), already_there: none() },
    ...{ not_carried: [...plan.notCarried], to_do: plan.toDo },
  };

  async function one(kind: Kind, name: string, isThere: boolean, write: () => Promise<unknown>) {
    if (isThere) return void report.already_there[kind].push(name);
    try {
      if (!dryRun) await write();
      report.carried[kind].push(name);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code === 'store_unavailable') throw error;
      report.not_carried.push({ what: `${NOUNS[kind]} ${name}`, why: error.message });
    }
  }

  const channels = await listPart(client, 'listChannels', {}, ALL);
  const channelNames = new Set(channels.items.map(({ name }) => name));
  for (const body of plan.channels) {
    const write = (): Promise<unknown> => client.call('createChannel', { body });
    await one('channels', body.name, channelNames.has(body.name), write);
  }
  const { carry } = client;
  const owners = await accounts(client);
  for (const user of plan.users) {
    const name = user.username.toLowerCase();
    await one('accounts', user.username, owners.has(name), async () => {
      owners.set(name, await (carry?.user(draftOf(user)) ?? accountOver(client, user)));
    });
    if (dryRun && !owners.has(name)) owners.set(name, 0);
  }
  const secrets = plan.keys.length + plan.codes.length;
  if (carry === undefined && secrets > 0) {
    const what = `${counted(plan.keys.length, 'key')} and ${counted(plan.codes.length, 'code')}`;
    const why =
      'only a command on the store itself can carry secrets over: add --local, where the store is';
    report.not_carried.push({ what, why });
  }
  if (carry === undefined) return report;
  for (const { secret, owner: named, draft } of plan.keys) {
    const userId = named === undefined ? owner : owners.get(named.toLowerCase());
    if (userId === undefined) {
      report.not_carried.push({
        what: `key ${draft.name}`,
        why: `there is no account ${named ?? ''}`,
      });
      continue;
    }
    const isThere = await carry.hasToken(secret.keyHash);
    await one('keys', draft.name, isThere, () => carry.token({ ...draft, userId }, secret));
  }
  const codes = plan.codes.length === 0 ? new Set<string>() : await codesThere(client);
  for (const code of plan.codes) {
    const isThere = codes.has(`${hintOf(code.code)} ${code.name}`);
    await one('codes', code.name, isThere, () => carry.code(code, BATCH));
  }
  return report;
}

function draftOf({ username, email, display_name: displayName, ...user }: CarriedUser) {
  const { role, status, quota } = user;
  return { username, enabled: status === 1, ...present({ email, displayName, role, quota }) };
}

/** The API makes no account without a password, and a gateway takes a quarter of a second to hash one. */
async function accountOver(client: Client, user: CarriedUser): Promise<number> {
  const body = { ...user, password: newPassword(randomBytes) };
  return (await client.call('createUser', { body })).id;
}

async function accounts(client: Client): Promise<Map<string, number>> {
  const { items } = await listPart(client, 'listUsers', {}, ALL);
  // Somebody who was called root elsewhere must not spend what root has here.
  const others = items.filter(({ role }) => role < ROOT);
  return new Map(others.map(({ username, id }) => [username.toLowerCase(), id]));
}

async function codesThere(client: Client): Promise<Set<string>> {
  const { items } = await listPart(client, 'listRedemptionCodes', { batch_id: BATCH }, ALL);
  return new Set(items.map(({ key_hint: hint, name }) => `${hint} ${name}`));
}

/** How many names a line of the report shows. */
const SHOWN = 5;

/** A report for people: counts, then what is missing, by its reason. */
export function reportText(report: Report): string {
  const { dry_run: dryRun, carried, already_there: there } = report;
  const lines = KINDS.filter((kind) => carried[kind].length + there[kind].length > 0).map(
    (kind) => {
      const was = there[kind].length === 0 ? '' : `; already there: ${there[kind].length}`;
      const verb = dryRun ? 'would be carried over' : 'carried over';
      return `${counted(carried[kind].length, NOUNS[kind])} ${verb}${was}${shown(carried[kind])}`;
    },
  );
  if (lines.length === 0) lines.push('There is nothing to carry over.');
  const reasons = new Map<string, string[]>();
  for (const { what, why } of report.not_carried) {
    reasons.set(why, [...(reasons.get(why) ?? []), what]);
  }
  if (reasons.size > 0) lines.push('', 'Not carried over:');
  for (const [why, what] of reasons) lines.push(`- ${listed(what)}: ${why}`);
  if (report.to_do.length > 0) lines.push('', 'Left to do:');
  for (const sentence of report.to_do) lines.push(`- ${sentence}`);
  if (dryRun) lines.push('', 'Nothing was written: this was a dry run.');
  return lines.join('\n');
}

function shown(names: readonly string[]): string {
  return names.length === 0 ? '' : `: ${listed(names)}`;
}

function listed(names: readonly string[]): string {
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : '';
  return `${names.slice(0, SHOWN).join(', ')}${more}`;
}
