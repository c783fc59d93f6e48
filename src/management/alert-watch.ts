import { backupAlarm, endingAlarm, endOf, moneyAlarms, silentAlarm } from '../core/alert-rules.js';
import type { Alarm, Spender } from '../core/alert-rules.js';
import type { OutgoingEvent } from '../core/delivery.js';
import { TOKEN_ENABLED, type Token } from '../core/token.js';
import type { AlertCondition, Store, User } from '../store/store.js';
import { latestChannels } from './latest-channels.js';
import { listNodes, type NodesView } from './nodes.js';
import { allOf } from './pages.js';
import type { StatsDeps } from './stats.js';
import { usageBreakdown } from './usage-breakdown.js';

export interface AlertWatchDeps extends StatsDeps {
  readonly rules: () => {
    readonly endingDays: readonly number[];
    /** 0: never. */
    readonly backupMaxMs: number;
  };
  /** When the last backup was made, as far as this gateway can know. */
  readonly lastBackupMs: () => Promise<number | undefined>;
  readonly deliver: (
    facts: Pick<OutgoingEvent, 'type' | 'summary' | 'data'>,
    condition: AlertCondition,
  ) => void;
}

const HOUR_MS = 3_600_000;
const DAY_S = 86_400;
const DUTY = 'alerts';
const EVERY_MS = 30_000;
/** Codes change seldom, and all of them are read. */
const CODES_EVERY_MS = HOUR_MS;
/** The rules whose conditions are ended here. */
const WATCHED: ReadonlySet<string> = new Set([
  ...['budget', 'quota', 'key', 'code', 'node', 'backup', 'circuit', 'disabled'],
]);
const PAGE = 500;
/** Beyond these, the first to end are named, and the others when they are the first. */
const MOST_ENDING = 500;

/**
 * Looks at what people are to be alerted to besides channels, on behalf of all gateways, if that is due: alerts to what has
 * begun, or become worse, or ended.
 */
export async function watchAlerts(deps: AlertWatchDeps): Promise<void> {
  const { store, now } = deps;
  if (!(await store.takeDuty(DUTY, now(), EVERY_MS)).isMine) return;
  const open = await store.alertConditions();
  const nodes = await listNodes(deps);
  const codes = await codeAlarms(deps, open);
  const [backup] = await Promise.allSettled([deps.lastBackupMs()]);
  const alarms = [
    ...(await spenderAlarms(deps, open)),
    ...(await keyAlarms(deps)),
    ...codes,
    ...nodes.nodes
      .filter(({ standing }) => standing === 'silent')
      .map((one) => silentAlarm(one.name)),
    ...(backup.status === 'fulfilled'
      ? backupAlarm(backup.value, deps.rules().backupMaxMs, now())
      : asBefore(open, 'backup')),
  ];
  for (const { key, value, ...facts } of alarms) {
    if (open.get(key) !== value) deps.deliver(facts, { key, value });
  }
  const held = new Set([...alarms.map(({ key }) => key), ...(await channelsHeld(store, nodes))]);
  for (const key of open.keys()) {
    if (held.has(key) || !WATCHED.has(key.slice(0, key.indexOf(':')))) continue;
    deps.deliver(endOf(key), { key, value: '' });
  }
  // Only now: a folder that cannot be read holds nothing else up.
  if (backup.status === 'rejected') throw backup.reason;
}

/** The alarms of a rule that cannot be looked at, as they were. */
function asBefore(open: ReadonlyMap<string, string>, rule: string): Alarm[] {
  return Array.from(open)
    .filter(([key]) => key.startsWith(`${rule}:`))
    .map(([key, value]) => ({ key, value, ...endOf(key) }));
}

/** Of the conditions of channels, those that hold: a circuit is a node's own, and the node may be gone. */
async function channelsHeld(store: Store, { nodes }: NodesView): Promise<string[]> {
  const paused = nodes
    .filter(({ standing }) => standing !== 'silent')
    .flatMap(({ about }) => about?.channels ?? [])
    .filter(({ state }) => state === 'open' || state === 'half_open');
  const { channels } = await latestChannels(store);
  return [
    ...paused.map(({ id, name }) => `circuit:${id}:${name}`),
    ...channels.flatMap(({ id, name, outage }) =>
      outage === undefined ? [] : [`disabled:${id}:${name}`],
    ),
  ];
}

/** Records how much was left when quota was last added; it is not a condition and sends nothing. */
const PEAK = 'peak:';

/** Those that have spent something lately, and those that people were alerted to. */
async function spenderAlarms(
  deps: AlertWatchDeps,
  open: ReadonlyMap<string, string>,
): Promise<Alarm[]> {
  const { store, now } = deps;
  const nowMs = now();
  const { rows } = await usageBreakdown(deps, {
    fromMs: Math.floor(nowMs / HOUR_MS - 1) * HOUR_MS,
    toMs: nowMs + 1,
    ...{ by: ['user', 'token'], named: false },
  });
  const spent = new Map<string, number>();
  for (const {
    of: { user, token },
    sums: { quota },
  } of rows.filter(({ isRest }) => !isRest)) {
    for (const id of [`account-${user}`, `key-${token}`])
      spent.set(id, (spent.get(id) ?? 0) + quota);
  }
  for (const key of open.keys()) {
    const [rule, id = ''] = key.split(':');
    if ((rule === 'budget' || rule === 'quota') && !spent.has(id)) spent.set(id, 0);
  }
  const alarms: Alarm[] = [];
  for (const [name, lately] of spent) {
    const [of, id] = name.split('-');
    const found =
      of === 'key'
        ? keySpender(await store.getToken(Number(id), nowMs))
        : accountSpender(await store.getUser(Number(id), nowMs));
    if (found === undefined) continue;
    const last = open.get(PEAK + name);
    const peak = peakOf(last, found.left ?? 0, lately);
    if (found.left !== undefined && peak.value !== last) {
      await store.addDeliveries([], nowMs, 1, { key: PEAK + name, value: peak.value });
    }
    alarms.push(...moneyAlarms({ ...found, peak: peak.most }, nowMs));
  }
  return alarms;
}

/** Reservations come and go; a rise above this share of the peak means that quota was added. */
const NOTICEABLE = 0.05;

/** The most that was left since quota was last added, and `<most> <least since>` to keep. */
function peakOf(
  last: string | undefined,
  left: number,
  lately: number,
): { readonly most: number; readonly value: string } {
  const [most = left + lately, least = left] = last?.split(' ').map(Number) ?? [];
  if (left > least + NOTICEABLE * most) return { most: left, value: `${left} ${left}` };
  const isLess = left < least - NOTICEABLE * most;
  return { most, value: `${most} ${isLess ? left : least}` };
}

function keySpender(token: Token | undefined): Omit<Spender, 'peak'> | undefined {
  if (token?.enabled !== true) return undefined;
  const { id, name, policy, budgetUse, unlimitedQuota, remainQuota } = token;
  const left = unlimitedQuota ? undefined : remainQuota;
  return { of: 'key', id, name, budget: policy.budget, budgetUse, left };
}

function accountSpender(user: User | undefined): Omit<Spender, 'peak'> | undefined {
  if (user?.enabled !== true) return undefined;
  const { id, username: name, budget, budgetUse, quota: left } = user;
  return { of: 'account', id, name, budget, budgetUse, left };
}

async function keyAlarms({ store, now, rules }: AlertWatchDeps): Promise<Alarm[]> {
  const { endingDays } = rules();
  const nowMs = now();
  const expiresBefore = Math.floor(nowMs / 1_000) + Math.max(0, ...endingDays) * DAY_S;
  const { items } = await store.listTokens(
    {
      ...{ status: TOKEN_ENABLED, expiresBefore, offset: 0, limit: MOST_ENDING },
      order: { by: 'expiredTime', descending: false },
    },
    nowMs,
  );
  return items.flatMap(({ id, name, expiredTime: ends }) =>
    endingAlarm('key', { id, name, ends }, endingDays, nowMs),
  );
}

/** One for each batch; those of the last look in between. */
async function codeAlarms(
  { store, now, rules }: AlertWatchDeps,
  open: ReadonlyMap<string, string>,
): Promise<Alarm[]> {
  const nowMs = now();
  if (!(await store.takeDuty(`${DUTY}:codes`, nowMs, CODES_EVERY_MS)).isMine) {
    return asBefore(open, 'code');
  }
  const alarms = new Map<string, Alarm>();
  const codes = allOf(PAGE, (slice) => store.listCodes({ status: 'enabled', ...slice }));
  for await (const { name, batchId, expiredTime: ends } of codes) {
    const batch = { id: batchId, name, ends };
    for (const alarm of ends === 0 ? [] : endingAlarm('code', batch, rules().endingDays, nowMs)) {
      const known = alarms.get(alarm.key);
      if (known === undefined || Number(alarm.value) < Number(known.value)) {
        alarms.set(alarm.key, alarm);
      }
    }
  }
  return [...alarms.values()];
}
