import { GatewayError } from '../core/errors.js';
import type { Secret } from '../core/secret.js';
import type { User } from '../store/store.js';
import { recordAudit, ROOT_ROLE, type Actor, type ManagementDeps } from './audit.js';
import { hashPassword, newPassword } from './passwords.js';

export interface RootAccount {
  readonly username: string;
  /** Without it, a random one is made. */
  readonly password: Secret | undefined;
  readonly quota: number;
}

export type EnsuredRoot =
  /** `password` is there when it was made up here; nobody else will ever learn it. */
  | { readonly kind: 'created'; readonly user: User; readonly password: string | undefined }
  | { readonly kind: 'found'; readonly user: User };

const SYSTEM: Actor = { id: undefined, name: 'first start', role: ROOT_ROLE, address: undefined };

/** The account that owns the installation. Of several processes that start on an empty store, exactly one creates it. */
export async function ensureRoot(deps: ManagementDeps, account: RootAccount): Promise<EnsuredRoot> {
  const { store, now, randomBytes } = deps;
  const root = await findRoot(deps);
  if (root !== undefined) return { kind: 'found', user: root };
  const generated = account.password === undefined ? newPassword(randomBytes) : undefined;
  const created = await store.createUser(
    {
      username: account.username,
      email: undefined,
      displayName: account.username,
      passwordHash: await hashPassword(account.password?.reveal() ?? generated ?? '', randomBytes),
      role: ROOT_ROLE,
      enabled: true,
      quota: account.quota,
    },
    now(),
  );
  if (created.kind === 'updated') {
    const { user } = created;
    await recordAudit(deps, SYSTEM, 'user.create', `user:${user.id}`, {
      username: user.username,
      role: user.role,
      quota: user.quota,
    });
    return { kind: 'created', user, password: generated };
  }
  const other = await findRoot(deps);
  if (other !== undefined) return { kind: 'found', user: other };
  throw new GatewayError(
    'conflict',
    `There is no root account, and the name "${account.username}" belongs to another one; set ROOT_USERNAME.`,
  );
}

/** The root account, under whatever name it goes by now. */
export async function findRoot({ store, now }: ManagementDeps): Promise<User | undefined> {
  const page = await store.listUsers({ role: ROOT_ROLE, offset: 0, limit: 1 }, now());
  return page.items[0];
}

/** A user by id, name or address. */
export async function findUser(
  { store, now }: ManagementDeps,
  login: string,
): Promise<User | undefined> {
  const found = await store.findUser(login, now());
  if (found !== undefined || !/^\d{1,15}$/.test(login)) return found;
  return store.getUser(Number(login), now());
}
