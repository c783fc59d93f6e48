import { labelIn } from '../core/labels.js';
import { newTally } from '../core/tally.js';
import type { Token } from '../core/token.js';
import type { Store, User } from '../store/store.js';
import { allOf } from './pages.js';
import type { StatsDeps } from './stats.js';

/** The most labelled things that are read at once. Redis reads all keys for each part of a list that is filtered. */
const PAGE = 5_000;
const DAY_MS = 86_400_000;
/** Longer than any report reaches. */
const KEPT_MS = 3_660 * DAY_MS;
/** In one bucket: the labels of as many deleted keys and accounts are known. */
const MOST_GONE = 100_000;

type Kind = 'token' | 'user';

/** A key or account about to be deleted. Its spending stays, under the labels that it has now. */
interface Leaving {
  readonly kind: Kind;
  readonly id: number;
  readonly labels: string;
}

/** Keeps the labels of a key that is about to be deleted, for reports. */
export async function keepLabelsOf({ store, now }: Deps, { id, policy }: Token): Promise<void> {
  await keep(store, now(), [{ kind: 'token', id, labels: policy.labels }]);
}

/** Keeps the labels of an account that is about to be deleted, and of its keys. */
export async function keepLabelsOfUser({ store, now }: Deps, user: User): Promise<void> {
  const leaving: Leaving[] = [{ kind: 'user', id: user.id, labels: user.labels }];
  for await (const { id, policy } of allOf(PAGE, (slice) =>
    store.listTokens({ ...slice, userId: user.id }, now()),
  )) {
    leaving.push({ kind: 'token', id, labels: policy.labels });
  }
  await keep(store, now(), leaving);
}

type Deps = Pick<StatsDeps, 'store' | 'now'>;

async function keep(store: Store, nowMs: number, leaving: readonly Leaving[]): Promise<void> {
  const additions = leaving
    .filter(({ labels }) => labels !== '')
    .map(({ kind, id, labels }) => ({
      ...{ rollup: 'labels_gone' as const, atMs: 0, owner: 0, tally: newTally() },
      ...{ key: JSON.stringify([kind, id, labels]), otherKey: JSON.stringify(['others', 0, '']) },
      expiresMs: nowMs + KEPT_MS,
    }));
  const [first] = additions;
  if (first === undefined) return;
  const writer = `labels of ${first.key}`;
  await store.addStats({ writer, serial: 1, nowMs, maxRows: MOST_GONE, additions });
}

/**
 * The values that a label has now, or had when it was deleted with its key or account: of the key, else of its account.
 * `undefined` where neither has it.
 */
export async function labelValues(
  { store, now }: Deps,
  name: string,
  owner: number | undefined,
): Promise<(tokenId: number, userId: number) => string | undefined> {
  const values = { token: new Map<number, string>(), user: new Map<number, string>() };
  const note = (kind: Kind, id: number, labels: string): void => {
    const value = labelIn(labels, name);
    if (value !== undefined) values[kind].set(id, value);
  };
  await store.readStats({ rollup: 'labels_gone', fromMs: 0, toMs: 0 }, ({ key }) => {
    const [kind, id, labels] = JSON.parse(key) as readonly [string, number, string];
    if (kind === 'token' || kind === 'user') note(kind, id, labels);
  });
  const of = owner === undefined ? {} : { userId: owner };
  for await (const { id, policy } of allOf(PAGE, (slice) =>
    store.listTokens({ ...slice, ...of, label: name }, now()),
  )) {
    note('token', id, policy.labels);
  }
  for await (const { id, labels } of allOf(PAGE, (slice) =>
    store.listUsers({ ...slice, label: name }, now()),
  )) {
    note('user', id, labels);
  }
  return (tokenId, userId) => values.token.get(tokenId) ?? values.user.get(userId);
}
