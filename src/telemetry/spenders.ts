import { Gauge, type Registry } from 'prom-client';
import { standingOf, type BudgetMembers, type BudgetUse } from '../core/budget.js';
import type { RequestEvent } from '../gateway/events.js';
import type { Store } from '../store/store.js';

export interface SpendersDeps {
  readonly store: Pick<Store, 'getToken' | 'getUser'>;
  readonly now: () => number;
  readonly registers: Registry[];
}

type Kind = 'key' | 'account';

/** Keys and accounts that have gauges, of each kind: those that spent the most here. */
const MOST_SHOWN = 50;
/** Those whose spending is counted; those that spend after that are not, until others are forgotten. */
const MOST_COUNTED = 10_000;
/** Balances are read from the store this often at most. */
const FRESH_MS = 30_000;
/** What spending counts for after each reading; less than a unit is forgotten. */
const FADES = 0.9;

/**
 * Balances and budgets of the keys and accounts that spend the most through this process. Accounts have any number of
 * keys, and each series costs memory wherever metrics are kept: the fifty of each kind are enough to be warned by.
 */
export class Spenders {
  readonly #deps: SpendersDeps;
  readonly #balance: Gauge;
  readonly #budget: Gauge;
  readonly #spent: Gauge;
  readonly #spending: Readonly<Record<Kind, Map<number, number>>> = {
    key: new Map(),
    account: new Map(),
  };
  #reading: Promise<void> | undefined;
  #readAtMs = -Infinity;

  constructor(deps: SpendersDeps) {
    this.#deps = deps;
    // All gauges of one answer wait for the reading: they are collected side by side.
    const collect = (): Promise<void> => this.#update();
    const shared = { labelNames: ['kind', 'id', 'name'], registers: deps.registers, collect };
    this.#balance = new Gauge({
      name: 'rerank_quota_remaining_units',
      help: 'What a key or an account may still spend, for the fifty of each that spend the most here; unlimited keys have none',
      aggregator: 'min',
      ...shared,
    });
    this.#budget = new Gauge({
      name: 'rerank_budget_units',
      help: 'The budget of the current period of such a key or account, if it has one',
      aggregator: 'max',
      ...shared,
    });
    this.#spent = new Gauge({
      name: 'rerank_budget_spent_units',
      help: 'Used part of that budget, reservations included',
      aggregator: 'max',
      ...shared,
    });
  }

  read({ tokenId, userId, quota }: RequestEvent): void {
    if (quota === 0 || tokenId === undefined || userId === undefined) return;
    add(this.#spending.key, tokenId, quota);
    add(this.#spending.account, userId, quota);
  }

  /** Resolves once the gauges are current, or the store has failed: then they have no values. */
  #update(): Promise<void> {
    if (Math.abs(this.#deps.now() - this.#readAtMs) < FRESH_MS) return Promise.resolve();
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    const { store, now } = this.#deps;
    const nowMs = now();
    const keys = topOf(this.#spending.key).map((id) => store.getToken(id, nowMs));
    const accounts = topOf(this.#spending.account).map((id) => store.getUser(id, nowMs));
    // One that cannot be read has no value: `rerank_store_up` and the log say why.
    const read = [await Promise.allSettled(keys), await Promise.allSettled(accounts)] as const;
    this.#readAtMs = nowMs;
    for (const gauge of [this.#balance, this.#budget, this.#spent]) gauge.reset();
    for (const token of found(read[0])) {
      const left = token.unlimitedQuota ? undefined : token.remainQuota;
      this.#show('key', token.id, token.name, left, token.policy, token.budgetUse);
    }
    for (const user of found(read[1])) {
      this.#show('account', user.id, user.username, user.quota, user, user.budgetUse);
    }
  }

  #show(
    kind: Kind,
    id: number,
    name: string,
    left: number | undefined,
    budget: BudgetMembers,
    use: BudgetUse,
  ): void {
    const labels = { kind, id: String(id), name };
    if (left !== undefined) this.#balance.set(labels, left);
    const standing = standingOf(budget, use, this.#readAtMs);
    if (standing === undefined) return;
    this.#budget.set(labels, standing.budget);
    this.#spent.set(labels, standing.spent);
  }
}

function add(spending: Map<number, number>, id: number, units: number): void {
  const before = spending.get(id);
  if (before === undefined && spending.size >= MOST_COUNTED) return;
  spending.set(id, (before ?? 0) + units);
}

/** Those that spent the most, more recent spending counting for more. */
function topOf(spending: Map<number, number>): number[] {
  const top = [...spending].sort(([, one], [, other]) => other - one).slice(0, MOST_SHOWN);
  for (const [id, units] of spending) {
    if (units < 1) spending.delete(id);
    else spending.set(id, units * FADES);
  }
  return top.map(([id]) => id);
}

function found<T>(results: readonly PromiseSettledResult<T | undefined>[]): T[] {
  return results.flatMap((result) =>
    result.status === 'fulfilled' && result.value !== undefined ? [result.value] : [],
  );
}
