import type { Request, Response } from 'express';
import { GatewayError } from '../core/errors.js';
import { judgeAddress, unknownKey } from '../gateway/key-refusals.js';
import { ADMIN_ROLE, AUDITOR_ROLE, ROOT_ROLE, type Actor } from '../management/audit.js';
import type { Login } from '../management/sessions.js';
import { actorOf } from '../management/users.js';
import type { Access, OperationCall, OperationDeps } from '../operations/operation.js';
import { AddressList } from './client-address.js';
import type { FindLogin } from './login.js';
import { ProxyHeaderError } from './proxy-login.js';
import type { Authenticate } from './authentication.js';

/** What finds out who calls. */
export interface WhoDeps {
  readonly authenticate: Authenticate;
  readonly management: OperationDeps;
}

const LEAST_ROLE: Readonly<Record<'login' | 'auditor' | 'admin' | 'root', number>> = {
  login: 1,
  auditor: AUDITOR_ROLE,
  admin: ADMIN_ROLE,
  root: ROOT_ROLE,
};

export async function whoCalls(
  deps: WhoDeps,
  findLogin: FindLogin,
  access: Access,
  address: string,
  req: Request,
  res: Response,
): Promise<
  | Pick<Extract<OperationCall, { identity: unknown }>, 'identity'>
  | { actor: Actor; login?: Login }
  | Visitor
> {
  if (access === 'public') {
    return { actor: { id: undefined, name: 'anonymous', role: 0, address } };
  }
  if (access === 'visitor') return loginIfAny(findLogin, req, res);
  if (access === 'key') {
    // Memory is good enough to admit a rerank request, which the store judges again; here nothing comes after.
    const { keyHash } = await deps.authenticate(req);
    const credential = await deps.management.gateway.credentials.findFresh(keyHash);
    if (credential === undefined) throw unknownKey();
    if (!credential.userEnabled) throw userDisabled();
    judgeAddress({
      credential,
      addressAllowed: (allowIps) => new AddressList(allowIps).includes(address),
    });
    return { identity: { keyHash, credential } };
  }
  const login = await findLogin(req, res);
  if (login === undefined) {
    throw new GatewayError('unauthorized', 'Log in first, or send an access token.');
  }
  const { user } = login;
  const named = req.headers['new-api-user'];
  if (named !== undefined && named !== String(user.id)) {
    throw new GatewayError('unauthorized', 'The header New-Api-User names another user.');
  }
  if (!user.enabled) throw userDisabled();
  if (user.role < LEAST_ROLE[access]) {
    throw new GatewayError(
      'permission_denied',
      `Your account may not do this: it takes the role ${access === 'login' ? 'user' : access}.`,
    );
  }
  return { login, actor: actorOf(user, address) };
}

type Visitor = Pick<
  Extract<OperationCall, { login: Login | undefined; refusal: unknown }>,
  'login' | 'refusal'
>;

/** A login that has ended counts as none: the caller wants to know just that, and why nobody may log in who was vouched for. */
async function loginIfAny(findLogin: FindLogin, req: Request, res: Response): Promise<Visitor> {
  try {
    const login = await findLogin(req, res);
    return { login: login?.user.enabled === true ? login : undefined, refusal: undefined };
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status >= 500) throw error;
    const isOver = error.code === 'unauthorized' && !(error instanceof ProxyHeaderError);
    return { login: undefined, refusal: isOver ? undefined : error.message };
  }
}

function userDisabled(): GatewayError {
  return new GatewayError('user_disabled', 'The account is disabled.');
}
