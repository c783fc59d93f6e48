/** Which keys and accounts will have nothing left soon, at the rate at which they were spending. Pure. */
export interface Spent {
  readonly userId: number | undefined;
  readonly tokenId: number | undefined;
  readonly quota: number;
}

export interface KeyLeft {
  readonly id: number;
  readonly name: string;
  readonly unlimitedQuota: boolean;
  readonly remainQuota: number;
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
  const byKey = sums(spent, ({ tokenId }) => tokenId);
  const byAccount = sums(spent, ({ userId }) => userId);
  const left = [
    ...keys
      .filter(({ unlimitedQuota }) => !unlimitedQuota)
      .map(({ id, name, remainQuota }) => ({
        ...({ of: 'key', id, name } as const),
        hours: hoursOf(remainQuota, byKey.get(id)),
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
  idOf: (row: Spent) => number | undefined,
): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const row of spent) {
    const id = idOf(row);
    if (id !== undefined) found.set(id, (found.get(id) ?? 0) + row.quota);
  }
  return found;
}
