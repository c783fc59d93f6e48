import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import { JsonFragment } from '../bytes/index.js';
import type { RerankRequest } from '../core/rerank.js';
import { NO_FUNDS, storeAnswers, type Caller } from '../gateway/admission.js';
import type { Explain } from '../gateway/look/explain.js';
import type { IngressDialect } from '../ingress/dialect.js';
import { ADMIN_ROLE } from '../management/audit.js';
import type { Store } from '../store/store.js';
import { explainedWire, type ExplainedWire } from '../shapes/explained.js';

/** `only`: instead of a ranking, and nothing is sent. `after`: with the reply to a request that is served. */
export type Explaining = 'only' | 'after' | undefined;

/** Whether a request asks for an explanation, in its query or in a header. */
export function explainingOf({ url = '', headers }: IncomingMessage): Explaining {
  const header = headers['x-rerank-explain'];
  if (header === undefined && !url.includes('?')) return undefined;
  const text = header ?? new URLSearchParams(url.slice(url.indexOf('?'))).get('explain');
  switch (text) {
    case null:
    case '0':
    case 'false':
      return undefined;
    case '':
    case '1':
    case 'true':
      return 'only';
    case 'after':
      return 'after';
    default:
      throw new GatewayError(
        'invalid_request',
        'explain must be 1, for an explanation alone, or after, for one with the reply.',
        { param: 'explain' },
      );
  }
}

export interface ExplainRouteDeps {
  readonly explain: Explain;
  readonly users: Pick<Store, 'getUser'>;
  readonly gateway: { readonly now: () => number };
}

/**
 * What would happen to a request of a key that may ask.
 * @throws GatewayError 403 for every other key.
 */
export async function explainFor(
  { explain, users, gateway }: ExplainRouteDeps,
  { credential }: Caller,
  asked: {
    readonly dialect: string;
    readonly request: RerankRequest;
    readonly tag: string | undefined;
  },
): Promise<ExplainedWire> {
  const { userId, policy } = credential.token;
  const user = await storeAnswers(() => users.getUser(userId, gateway.now()));
  if (!policy.mayExplain && (user === undefined || user.role < ADMIN_ROLE)) {
    throw new GatewayError(
      'permission_denied',
      'This API key may not ask for explanations. An admin may let it: may_explain.',
    );
  }
  const holder = { credential, owner: user ?? NO_FUNDS };
  return explainedWire(await storeAnswers(() => explain({ ...asked, policy, holder })));
}

/** @throws GatewayError 400 if the reply has no place for an explanation. */
export function checkRoom(
  explaining: Explaining,
  { listed }: Pick<IngressDialect, 'listed'>,
): void {
  if (explaining !== 'after' || listed !== true) return;
  throw new GatewayError(
    'invalid_request',
    'A reply in this form is a list, which has no place for an explanation: ask for it separately, with explain=1.',
    { param: 'explain' },
  );
}

/** A reply or an error, an object, with the explanation as one more member. */
export function withExplanation(reply: JsonFragment, explanation: ExplainedWire): JsonFragment {
  const { bytes } = reply;
  if (bytes.at(-1) !== CLOSE_BRACE) return reply;
  const comma = bytes.length === EMPTY_LENGTH ? '' : ',';
  const member = `${comma}"explanation":${JSON.stringify(explanation)}}`;
  return new JsonFragment(JsonFragment.joined([bytes.subarray(0, -1), member]).bytes);
}

const EMPTY_LENGTH = 2;
const CLOSE_BRACE = 0x7d;
