/** What stores, API, CSV and documentation must know about a member of a usage entry. */
interface UsageSpec {
  /** A count is an integer; milliseconds are stored with fractions and shown without. */
  readonly type: 'text' | 'count' | 'milliseconds';
  /** The value in entries that were written before the member existed; `undefined` for one that may be absent. */
  readonly default: string | number | undefined;
  /** Whether whoever made the request sees it: which channel served it is for operators. */
  readonly own: boolean;
  /** Whether it is summed over many requests. */
  readonly summed: boolean;
  readonly help: string;
}

type UsageSpecs = Readonly<Record<string, UsageSpec>>;

/**
 * What the usage log keeps of an admitted request besides its time, one row each. Both stores, the API with its document and
 * its CSV, the command line's `--json` and the table in docs/operations.md are generated from it; `RequestEvent` has each
 * member.
 */
const USAGE_MEMBERS = {
  requestId: {
    type: 'text',
    default: '',
    own: true,
    summed: false,
    help: 'The id in `X-Request-Id`.',
  },
  userId: { type: 'count', default: 0, own: false, summed: false, help: 'The account of the key.' },
  tokenId: { type: 'count', default: 0, own: true, summed: false, help: 'The key.' },
  tokenName: {
    type: 'text',
    default: '',
    own: true,
    summed: false,
    help: 'Its name at that time.',
  },
  model: {
    type: 'text',
    default: '',
    own: true,
    summed: false,
    help: 'The model, under the caller’s name for it.',
  },
  channelId: {
    type: 'count',
    default: undefined,
    own: false,
    summed: false,
    help: 'The channel that answered, or the last one that was asked.',
  },
  provider: {
    type: 'text',
    default: undefined,
    own: false,
    summed: false,
    help: 'The provider of that channel.',
  },
  tag: { type: 'text', default: undefined, own: false, summed: false, help: 'Its tag.' },
  attempts: { type: 'count', default: 0, own: true, summed: false, help: 'Calls to channels.' },
  documents: { type: 'count', default: 0, own: true, summed: true, help: 'Documents to rank.' },
  inputTokens: {
    type: 'count',
    default: 0,
    own: true,
    summed: true,
    help: 'Tokens of text, reported by the upstream or else estimated.',
  },
  searchUnits: {
    type: 'count',
    default: 0,
    own: true,
    summed: false,
    help: 'Queries with up to 100 documents each.',
  },
  quota: { type: 'count', default: 0, own: true, summed: true, help: 'Units charged.' },
  durationMs: {
    type: 'milliseconds',
    default: 0,
    own: true,
    summed: false,
    help: 'Time from the request to its reply.',
  },
  outcome: {
    type: 'text',
    default: '',
    own: true,
    summed: false,
    help: 'ok, or the error code that the caller got.',
  },
} as const satisfies UsageSpecs;

type Value<S extends UsageSpec> =
  | (S['type'] extends 'text' ? string : number)
  | (undefined extends S['default'] ? undefined : never);

type Specs = typeof USAGE_MEMBERS;

export type UsageMembers = { readonly [K in keyof Specs]: Value<Specs[K]> };

/** Members that are summed over many requests. */
export type SummedMember = {
  [K in keyof Specs]: Specs[K]['summed'] extends true ? K : never;
}[keyof Specs];

/** Members that whoever made a request sees. */
export type OwnMember = {
  [K in keyof Specs]: Specs[K]['own'] extends true ? K : never;
}[keyof Specs];

/** The rows in their order, which every reader follows. */
export const USAGE_ROWS = Object.entries<UsageSpec>(USAGE_MEMBERS).map(([name, spec]) => ({
  // The keys of the table are what its type says.
  name: name as keyof UsageMembers,
  ...spec,
}));

/** The members that are added up. */
export const SUMMED_MEMBERS = USAGE_ROWS.filter(({ summed }) => summed).map(
  ({ name }) => name as SummedMember,
);

/** Sums over many requests, each by its `sumOf`. */
export function usageSums(
  sumOf: (name: 'requests' | SummedMember) => number,
): Record<'requests' | SummedMember, number> {
  const sums = SUMMED_MEMBERS.map((name) => [name, sumOf(name)]);
  // One for each name in the type.
  return { requests: sumOf('requests'), ...Object.fromEntries(sums) } as ReturnType<
    typeof usageSums
  >;
}

/** The members of a record that may lack some; those get the value from their row. */
export function usageMembersOf(
  record: Readonly<Partial<Record<keyof UsageMembers, unknown>>>,
): UsageMembers {
  const members: Partial<Record<keyof UsageMembers, unknown>> = {};
  for (const { name, default: absent } of USAGE_ROWS) members[name] = record[name] ?? absent;
  // A record's value has its row's type: the record was made from this table.
  return members as UsageMembers;
}
