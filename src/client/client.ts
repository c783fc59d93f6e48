import type { CarriedCode } from '../management/carried.js';
import type { TokenDraft, TokenSecret } from '../management/tokens.js';
import type { UserDraft } from '../management/users.js';
import type { OPERATIONS } from '../operations/index.js';

type Table = (typeof OPERATIONS)[number];

/** The name of an operation of the management API. */
export type OperationId = Table['id'];

type TypesOf<Id extends OperationId> = NonNullable<Extract<Table, { readonly id: Id }>['types']>;

/** What an operation replies with, as it stands in the OpenAPI document. */
export type ReplyOf<Id extends OperationId> = TypesOf<Id>['reply'];

/** One entry of what a list operation replies with. */
export type ItemOf<Id extends OperationId> =
  ReplyOf<Id> extends { readonly items: readonly (infer T)[] }
    ? T
    : ReplyOf<Id> extends readonly (infer T)[]
      ? T
      : never;

type Loose<T> = T extends object ? { readonly [K in keyof T]?: T[K] | undefined } : undefined;

/** What an operation takes; a member that is undefined is not sent. The operation checks all of it. */
export interface InputOf<Id extends OperationId> {
  readonly params?: TypesOf<Id>['params'];
  readonly query?: Loose<TypesOf<Id>['query']>;
  readonly body?: Loose<TypesOf<Id>['body']>;
}

/** The management API, over HTTP or in this process. Refusals are thrown as `GatewayError`. */
export interface Client {
  /** Where the data is, for people; holds no secrets. */
  readonly place: string;
  /** Whether it works on the store itself, where everything is allowed. */
  readonly isOperator: boolean;
  call<Id extends OperationId>(id: Id, input?: InputOf<Id>): Promise<ReplyOf<Id>>;
  /** Takes over secrets that another gateway gave out. The API cannot: an admin could plant a key that others know. */
  readonly carry?: Carry;
  close(): Promise<void>;
}

/** What the operator of the store may take over from another gateway. */
export interface Carry {
  /** Makes an account without a password; resolves to its id. */
  user(draft: Omit<UserDraft, 'password'>): Promise<number>;
  hasToken(keyHash: string): Promise<boolean>;
  token(draft: TokenDraft, secret: TokenSecret): Promise<void>;
  code(code: CarriedCode, batchId: string): Promise<void>;
}

/** Asked on the store itself, an operation needs what only a running gateway knows. */
export class StoppedGatewayError extends Error {
  override readonly name = 'StoppedGatewayError';

  constructor() {
    super(
      'Only a running gateway knows what is cooling down and what is busy; its store does not: log in, or give --url and --access-token.',
    );
  }
}

/** The most entries that a list operation puts on a page. */
export const PAGE_SIZE = 100;

/** Part of a list, fetched in as many pages as it takes. */
export async function listPart<Id extends OperationId>(
  client: Client,
  id: Id,
  query: InputOf<Id>['query'],
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly items: ItemOf<Id>[]; readonly total: number }> {
  const items: ItemOf<Id>[] = [];
  for (let page = Math.floor(offset / PAGE_SIZE) + 1; ; page += 1) {
    const part = { ...query, p: page, page_size: PAGE_SIZE } as unknown as InputOf<Id>['query'];
    // Only list operations have items, so `ItemOf` admits no others.
    const found = (await client.call(id, { query: part } as InputOf<Id>)) as unknown as {
      readonly items: readonly ItemOf<Id>[];
      readonly total: number;
    };
    items.push(...found.items);
    if (page * PAGE_SIZE < Math.min(offset + limit, found.total)) continue;
    const before = offset % PAGE_SIZE;
    return { items: items.slice(before, before + limit), total: found.total };
  }
}
