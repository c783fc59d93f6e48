import type Joi from 'joi';
import type { ErrorCode } from '../core/errors.js';
import { GatewayError } from '../core/errors.js';
import type { Probe } from '../core/probe.js';
import type { GatewayDeps } from '../gateway/rerank.js';
import type { AccountSettings } from '../management/accounts.js';
import type { Actor } from '../management/audit.js';
import type { ChannelDeps } from '../management/channels.js';
import type { SendMail } from '../management/mail.js';
import type { Login, SessionDeps } from '../management/sessions.js';
import type { Identity } from './authentication.js';

/**
 * The management API is a table of operations, one file per area in `operations/`. To add one, write an entry and put it in
 * its file's list (a new file's list goes into `operations/index.ts`):
 *
 * ```ts
 * interface RenameBody {
 *   id: number;
 *   name: string;
 * }
 *
 * const renameThing = defineOperation({
 *   id: 'renameThing', // unique; the name in the OpenAPI document
 *   method: 'PUT',
 *   path: '/api/thing/:id', // fixed paths win over parameters; a trailing slash makes no difference
 *   area: 'things',
 *   summary: 'Give a thing another name',
 *   access: 'login', // public, key (an API key), login, admin or root
 *   params: ID_PARAMS,
 *   body: Joi.object<RenameBody, true>({ id: Joi.number().integer().min(1).required(), name: Joi.string().required() }),
 *   reply: THING, // the schema of `data`; a handler that returns something else does not compile
 *   errors: ['not_found', 'conflict'], // beyond those that follow from access, body and limits
 *   handler: async ({ deps, params, body, actor }) => thingView(await renameThing(deps, params.id, body.name, actor)),
 * });
 * ```
 *
 * Authentication, CSRF, access, limits, validation, idempotency, the envelope, the OpenAPI entry and the tests of who may
 * call it follow from the entry. Rules belong into `management/`; a handler translates between wire and domain. Unknown
 * members of a body are dropped. Values are converted in paths and queries alone: in a body, joi's `trim()` refuses instead of
 * trimming, so leave that to `management/`.
 */
export function defineOperation<
  const A extends Access,
  P = unknown,
  Q = unknown,
  B = unknown,
  R = null,
>(definition: OperationDefinition<A, P, Q, B, R>): Operation {
  const { handler, ...described } = definition;
  return {
    ...described,
    prepare({ params, query, body, ...rest }) {
      // `Who<A>` is what the routes found out about a caller of access `A`.
      const context = {
        ...rest,
        params: check(definition.params, params, true),
        query: check(definition.query, query, true),
        body: check(definition.body, body, false),
      } as unknown as OperationContext<A, P, Q, B>;
      return {
        account: definition.limit?.account?.(context),
        async run() {
          const result = await handler(context);
          return result instanceof Reply || result instanceof FileReply
            ? result
            : new Reply(result);
        },
      };
    },
  };
}

/** Who may call: anybody; an API key; somebody logged in; of them, admins; of them, root. */
export type Access = 'public' | 'key' | 'login' | 'admin' | 'root';
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What operations work with. */
export interface OperationDeps extends ChannelDeps, SessionDeps {
  readonly accounts: AccountSettings;
  readonly sendMail: SendMail;
  /** Runs something after the reply; a failure is observed, and shutdown waits for it. */
  readonly later: (what: string, work: () => Promise<void>) => void;
  readonly gateway: GatewayDeps;
  readonly probe: Probe;
  /** How long a gateway may act on channels as they were; `awaitInForce` waits no longer. */
  readonly stalenessMs: number;
}

/** What is known of who calls, by access. */
type Who<A extends Access> = A extends 'public'
  ? { readonly actor: Actor }
  : A extends 'key'
    ? { readonly identity: Identity }
    : { readonly actor: Actor & { readonly id: number }; readonly login: Login };

interface Surroundings {
  readonly deps: OperationDeps;
  readonly address: string;
  /** Whether the caller came by https, through a trusted proxy perhaps. */
  readonly secure: boolean;
}

export type OperationContext<A extends Access, P, Q, B> = Surroundings & {
  readonly params: P;
  readonly query: Q;
  readonly body: B;
} & Who<A>;

/** A request on its way to a handler, not yet validated. */
export type OperationCall = Surroundings & {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
} & (Who<'public'> | Who<'key'> | Who<'login'>);

interface Described {
  readonly id: string;
  readonly method: Method;
  /** As Express has it, without a trailing slash: `/api/user/:id`. */
  readonly path: string;
  readonly area: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** What it may fail with beyond what follows from access, body and limits. */
  readonly errors?: readonly ErrorCode[];
  /** Creates or spends: heeds `Idempotency-Key`, so that a repeated request is not done twice. */
  readonly idempotent?: boolean;
  /** A file that it may answer with instead of JSON, by media type. */
  readonly files?: readonly string[];
  /** Has effects although it is a GET, for clients that know it so. */
  readonly unsafe?: boolean;
}

export interface OperationDefinition<A extends Access, P, Q, B, R> extends Described {
  readonly access: A;
  readonly params?: Joi.ObjectSchema<P>;
  readonly query?: Joi.ObjectSchema<Q>;
  /** Without it, no body is read. */
  readonly body?: Joi.ObjectSchema<B>;
  /** Of `data`; without it `data` is null. */
  readonly reply?: Joi.AnySchema<R>;
  /** Attempts are counted under this name, per address, and per account where the request names one. */
  readonly limit?: {
    readonly name: string;
    readonly account?: (context: OperationContext<A, P, Q, B>) => string | undefined;
  };
  readonly handler: (
    context: OperationContext<A, P, Q, B>,
  ) => Answer<NoInfer<R>> | Promise<Answer<NoInfer<R>>>;
}

type Answer<R> = R | Reply<R> | FileReply;

/** An operation of any types, as the routes, the OpenAPI document and the tests see it. */
export interface Operation extends Described {
  readonly params?: Joi.ObjectSchema;
  readonly query?: Joi.ObjectSchema;
  readonly body?: Joi.ObjectSchema;
  readonly reply?: Joi.AnySchema;
  readonly limit?: { readonly name: string };
  /** Validates a request; throws 400 `invalid_request` that names what is wrong. */
  readonly prepare: (call: OperationCall) => PreparedOperation;
}

export interface PreparedOperation {
  /** The account that the attempt is counted on, if any. */
  readonly account: string | undefined;
  readonly run: () => Promise<Reply<unknown> | FileReply>;
}

export interface ReplyExtras {
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A handler's `data` together with a status, a message or headers. */
export class Reply<R> {
  readonly data: R;
  readonly extras: ReplyExtras;

  constructor(data: R, extras: ReplyExtras = {}) {
    this.data = data;
    this.extras = extras;
  }
}

/** Text to be saved under a name, such as an export. */
export class FileReply {
  readonly mediaType: string;
  readonly name: string;
  readonly text: string;

  constructor(mediaType: string, name: string, text: string) {
    this.mediaType = mediaType;
    this.name = name;
    this.text = text;
  }
}

function check(schema: Joi.ObjectSchema | undefined, value: unknown, convert: boolean): unknown {
  if (schema === undefined) return {};
  const result = schema.required().validate(value, {
    convert,
    stripUnknown: true,
    errors: { wrap: { label: false } },
  });
  if (result.error === undefined) return result.value as unknown;
  const [detail] = result.error.details;
  const path = detail?.path.join('.') ?? '';
  const message =
    path === '' ? 'The body must be a JSON object.' : `${detail?.message ?? 'It is not valid'}.`;
  throw new GatewayError('invalid_request', message, path === '' ? {} : { param: path });
}
