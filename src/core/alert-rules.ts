import type { BudgetUse } from './budget.js';
import type { OutgoingEvent } from './delivery.js';
import { dollars } from './quota.js';

/** A condition that people are alerted to while it holds, and the event that says so. */
export interface Alarm extends Pick<OutgoingEvent, 'type' | 'summary' | 'data'> {
  /** `<rule>:<id>:<name>`. */
  readonly key: string;
  /** How severe it is; a change is reported. */
  readonly value: string;
}

/** A key or an account, as far as its money goes. */
export interface Spender {
  readonly of: 'key' | 'account';
  readonly id: number;
  readonly name: string;
  /** Units in each period; 0: no budget. */
  readonly budget: number;
  readonly budgetUse: BudgetUse;
  /** Units left; undefined: unlimited. */
  readonly left: number | undefined;
  /** The most that was left since quota was last added. */
  readonly peak: number;
}

/** The shares of a budget or quota, in percent, at which people are alerted. */
const LEVELS = [100, 80];
const DAY_S = 86_400;

/** Budgets and quotas that are mostly used. */
export function moneyAlarms({ of, id, name, ...money }: Spender, nowMs: number): Alarm[] {
  const { budget, budgetUse, left, peak } = money;
  const spent = budgetUse.untilMs > nowMs ? budgetUse.spent : 0;
  const alarm = (rule: 'budget' | 'quota', used: number, most: number): Alarm[] => {
    const level = LEVELS.find((one) => most > 0 && used * 100 >= one * most);
    if (level === undefined) return [];
    const summary = `The ${of} "${name}" has used ${level} % of its ${rule} of ${dollars(most)}`;
    const data = { of, id, name, percent: level, used, most };
    return [
      {
        key: `${rule}:${of}-${id}:${name}`,
        value: `${level}`,
        type: `${rule}.reached`,
        summary,
        data,
      },
    ];
  };
  return [
    ...alarm('budget', spent, budget),
    ...(left === undefined ? [] : alarm('quota', peak - Math.max(0, left), peak)),
  ];
}

/** A key, or codes of one batch, that end soon: reported at each of these numbers of days. */
export function endingAlarm(
  of: 'key' | 'code',
  {
    id,
    name,
    ends,
  }: { readonly id: number | string; readonly name: string; readonly ends: number },
  days: readonly number[],
  nowMs: number,
): Alarm[] {
  const left = (ends - nowMs / 1_000) / DAY_S;
  const level = [...days].sort((a, b) => a - b).find((one) => left <= one);
  if (level === undefined || left <= 0) return [];
  const what = of === 'key' ? 'The key' : 'Codes of';
  const when = new Date(ends * 1_000).toISOString().slice(0, 16).replace('T', ' ');
  return [
    {
      ...{ key: `${of}:${id}:${name}`, value: `${level}`, type: `${of}.ending` },
      summary: `${what} "${name}" ${of === 'key' ? 'ends' : 'end'} at ${when} UTC`,
      data: { id, name, ends, days: level },
    },
  ];
}

/** A gateway that has stopped reporting without signing off. */
export function silentAlarm(name: string): Alarm {
  const summary = `The gateway ${name} has stopped reporting`;
  return { key: `node::${name}`, value: 'silent', type: 'node.silent', summary, data: { name } };
}

/** The last backup, if it is too old. */
export function backupAlarm(lastMs: number | undefined, maxMs: number, nowMs: number): Alarm[] {
  if (lastMs === undefined || maxMs === 0 || nowMs - lastMs <= maxMs) return [];
  const at = new Date(lastMs).toISOString();
  const summary = `The last backup is of ${at.slice(0, 16).replace('T', ' ')} UTC`;
  return [{ key: 'backup::', value: 'old', type: 'backup.old', summary, data: { last: at } }];
}

/** What is reported when a condition no longer holds. */
export function endOf(key: string): Pick<OutgoingEvent, 'type' | 'summary' | 'data'> {
  const [rule = '', id = '', ...rest] = key.split(':');
  const name = rest.join(':');
  const [of] = id.split('-');
  const summaries: Readonly<Record<string, string>> = {
    budget: `The ${of} "${name}" has budget again`,
    quota: `The ${of} "${name}" has quota again`,
    key: `The key "${name}" has ended, or ends later`,
    code: `Codes of "${name}" have ended, or end later`,
    node: `The gateway ${name} reports again, or is gone for good`,
    backup: 'There is a new backup',
    circuit: `Channel ${name} answers again`,
    disabled: `Channel ${name} is back in service`,
  };
  const type = ENDS[rule] ?? `${rule}.ended`;
  return { type, summary: summaries[rule] ?? key, data: subjectOf(rule, id, name) };
}

/** What a condition was about, in the members of the event that began it. */
function subjectOf(rule: string, id: string, name: string): OutgoingEvent['data'] {
  if (rule in ENDS) {
    const unknown = { reason: null, message: null, since: null, until: null };
    return { channel: { id: Number(id), name }, ...unknown };
  }
  if (rule === 'budget' || rule === 'quota') {
    const [of, number] = id.split('-');
    return { of, id: Number(number), name };
  }
  if (id === '') return name === '' ? {} : { name };
  return { id: rule === 'key' ? Number(id) : id, name };
}

const ENDS: Readonly<Record<string, string>> = {
  circuit: 'channel.circuit_closed',
  disabled: 'channel.returned',
};
