import type { ComposedProvider, HttpProvider } from '../../src/providers/provider.js';
import { readFixture } from './provider-fixtures.js';

type RemoteProvider = HttpProvider | ComposedProvider;

/** How replies are read: the code of `decode`, or for rankings by several calls their code and the reply's members. */
export function readingOf(provider: RemoteProvider): string {
  if (provider.rounds === undefined) return String(provider.decode);
  const first = readFixture(provider.id).cases.flatMap(({ calls = [] }) => calls)[0];
  return `${String(provider.rounds)} ${membersOf(first?.reply?.json)}`;
}

/** How requests are written. */
export function writingOf(provider: RemoteProvider): string {
  return provider.rounds === undefined ? String(provider.body) : readingOf(provider);
}

/** Ids of the first provider of each shape. */
export function firstOfEach(
  providers: readonly RemoteProvider[],
  shapeOf: (provider: RemoteProvider) => string,
): ReadonlySet<string> {
  const first = new Map<string, string>();
  for (const provider of providers) {
    const shape = shapeOf(provider);
    if (!first.has(shape)) first.set(shape, provider.id);
  }
  return new Set(first.values());
}

/** The names of all members, in order, as deep as they go. */
function membersOf(value: unknown): string {
  if (Array.isArray(value)) return `[${membersOf(value[0])}]`;
  if (typeof value !== 'object' || value === null) return '';
  const members = Object.entries(value).map(([name, member]) => `${name} ${membersOf(member)}`);
  return `{${members.sort().join()}}`;
}
