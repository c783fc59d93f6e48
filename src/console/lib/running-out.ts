/** Which keys and accounts will have nothing left soon, at the rate at which they were spending. Pure. */
export interface Spent {
  readonly user_id: number | null;
  readonly token_id: number | null;
  readonly quota: number;
}

export interface KeyLeft {
  readonly id: number;
  readonly name: string;
  readonly unlimited_quota: boolean;
  readonly remain_quota: number;
}

export interface AccountLeft {
  readonly id: number;
  readonly username: string;
  readonly quota: number;
}

export interface RunsOut {
  readonly of: 'key' | 'account';
  readonly id: number;
  readonly name: string;
  readonly hours: number;
}

const DAY_H = 24;
const SOON_H = 3 * DAY_H;

/** `spent` is that of one day; the soonest come first. */
export function runningOut(
  spent: readonly Spent[],
  keys: readonly KeyLeft[],
  accounts: readonly AccountLeft[],
): RunsOut[] {
  const byKey = sums(spent, ({ token_id: id }) => id);
  const byAccount = sums(spent, ({ user_id: id }) => id);
  const left = [
    ...keys
      .filter(({ unlimited_quota: unlimited }) => !unlimited)
      .map(({ id, name, remain_quota: quota }) => ({
        ...({ of: 'key', id, name } as const),
        hours: hoursOf(quota, byKey.get(id)),
      })),
    ...accounts.map(({ id, username: name, quota }) => ({
      ...({ of: 'account', id, name } as const),
      hours: hoursOf(quota, byAccount.get(id)),
    })),
  ];
  return left.filter(({ hours }) => hours < SOON_H).sort((a, b) => a.hours - b.hours);
}

function hoursOf(left: number, perDay = 0): number {
  return perDay <= 0 ? Infinity : (Math.max(0, left) / perDay) * DAY_H;
}

function sums(
  spent: readonly Spent[],
  idOf: (row: Spent) => number | null,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const row of spent) {
    const id = idOf(row);
    if (id !== null) found.set(id, (found.get(id) ?? 0) + row.quota);
  }
  return found;
}
