import Joi from 'joi';
import type { OutgoingEvent } from '../core/delivery.js';
import type { Discover, ListUpstreamModels } from '../core/discovery.js';
import type { ErrorCode } from '../core/errors.js';
import type { Probe } from '../core/probe.js';
import type { PriceList } from '../core/quota.js';
import type { Identity } from '../gateway/admission.js';
import type { Explain } from '../gateway/look/explain.js';
import type { GatewayDeps } from '../gateway/rerank.js';
import type { AccountSettings } from '../management/accounts.js';
import type { Actor } from '../management/audit.js';
import type { MaskedIds } from '../management/masked-ids.js';
import type { ChannelDeps } from '../management/channel-edits.js';
import type { SendMail } from '../management/mail.js';
import type { OpenId } from '../management/open-id.js';
import type { Login, SessionDeps } from '../management/sessions.js';
import type { LoginSettings } from '../management/sign-on.js';
import type { StatsDeps } from '../management/stats.js';
import { check } from './check.js';
import { because } from './reason.js';

/**
 * The management API is a table of operations, one file per area in `operations/`. To add one, write an entry and put it in
 * its file's list, which names their area (a new file's list goes into `operations/index.ts`):
 *
 * ```ts
 * const renameThing = defineOperation({
 *   id: 'renameThing', // unique; the name in the OpenAPI document
 *   method: 'PUT',
 *   path: '/api/thing/:id', // fixed paths win over parameters; a trailing slash makes no difference
 *   summary: 'Give a thing another name',
 *   access: 'login', // public, visitor, key (an API key), login, auditor, admin or root
 *   params: ID_PARAMS,
 *   body: shape({ name: Joi.string().max(1_024), reason: REASON }),
 *   reply: THING, // the shape of `data`; a handler that returns something else does not compile
 *   errors: ['not_found', 'conflict'], // beyond those that follow from access, body and limits
 *   handler: async ({ deps, params, body, actor }) => thingView(await renameThing(deps, params.id, body.name, actor)),
 * });
 * ```
 *
 * Authentication, CSRF, access, limits, validation, idempotency, the envelope, the OpenAPI entry and the tests of who may
 * call it follow from the entry. Rules belong in `management/`; a handler translates between wire and domain. Unknown
 * members are mistakes. Values are converted in paths and queries alone: in a body, joi's `trim()` refuses instead of
 * trimming, so leave that to `management/`.
 */
export function defineOperation<
  const Id extends string,
  const A extends Access,
  P = unknown,
  Q = unknown,
  B = unknown,
  R = null,
>(
  definition: OperationDefinition<A, P, Q, B, R> & { readonly id: Id },
): TypedOperation<Id, P, Q, B, R> {
  const { handler, ...described } = definition;
  return {
    ...described,
    prepare({ params, query, body, ...rest }) {
      const given = {
        params: check(definition.params, params, true),
        query: check(definition.query, query, true),
        body: check(definition.body, body, false),
      };
      // `Who<A>` is what the routes found out about a caller with access `A`.
      const context = {
        ...{ ...rest, ...given },
        ...('actor' in rest ? { actor: because(rest.actor, given) } : {}),
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

/** The operations of a file, which belong to one area of the API. */
export function inArea<const T extends readonly Unplaced[]>(
  area: string,
  operations: T,
): { readonly [K in keyof T]: T[K] & { readonly area: string } } {
  return operations.map((operation) => ({ ...operation, area })) as never;
}

/** Who may call: anybody; anybody, with their login if they have one; an API key; a logged-in caller; an auditor; an admin; root. */
export type Access = 'public' | 'visitor' | 'key' | 'login' | 'auditor' | 'admin' | 'root';
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What operations work with. */
export interface OperationDeps extends ChannelDeps, SessionDeps, StatsDeps {
  readonly accounts: AccountSettings;
  readonly logins: LoginSettings;
  /** The OpenID provider where people log in, if there is one. */
  readonly openId: OpenId | undefined;
  readonly sendMail: SendMail;
  /** Whether the playground may keep inputs as examples. */
  readonly keepsExamples: boolean;
  /** Where people reach the gateway, for links in mails. */
  readonly publicUrl: string | undefined;
  readonly about: AboutGateway;
  /** Ids of log entries as users see them. */
  readonly logIds: Pick<MaskedIds, 'mask' | 'unmask'>;
  /** How long a ranking may take in total. */
  readonly deadlineMs: number;
  readonly alerting: Alerting;
  /** Runs something after the reply; a failure is observed, and shutdown waits for it. */
  readonly later: (what: string, work: () => Promise<void>) => void;
  readonly gateway: GatewayDeps;
  readonly known: KnownChannels;
  readonly prices: PriceList;
  readonly explain: Explain;
  readonly probe: Probe;
  readonly discover: Discover;
  readonly listUpstreamModels: ListUpstreamModels;
  /** How long a gateway may act on outdated channels; `awaitInForce` waits no longer. */
  readonly stalenessMs: number;
}

/** The targets of alerts. */
export interface Alerting {
  /** The names of the receivers. */
  readonly targets: readonly string[];
  /** Sends each of these a message at once; resolves to why it was not taken, by target, '' if it was. */
  test(targets: readonly string[], by: string): Promise<ReadonlyMap<string, string>>;
  /** Delivers an event to the targets that take its type. */
  deliver(event: OutgoingEvent): void;
  /** Sends what is due now. */
  wake(): void;
}

/** The state of channels and models: a gateway has it in memory, a command reads it from the store. */
export interface KnownChannels {
  /** Brings it up to date. */
  refresh(): Promise<void>;
  /** The names of channels by id. */
  names(): Promise<(id: number) => string | undefined>;
  /** The models that answer in place of one, in their order. */
  readonly fallbacksOf: (model: string) => readonly string[];
}

/** What a page must know about the gateway before anybody logs in. */
export interface AboutGateway {
  readonly release: string;
  /** Whether mail is sent, or waits in a folder for an operator. */
  readonly mail: 'smtp' | 'outbox';
  readonly defaultModel: string | undefined;
  readonly usageEntries: number;
  readonly refusedEntries: number;
  readonly retentionDays: number;
}

/** The caller, by access. */
type Who<A extends Access> = A extends 'public'
  ? { readonly actor: Actor }
  : A extends 'visitor'
    ? { readonly login: Login | undefined; readonly refusal: string | undefined }
    : A extends 'key'
      ? { readonly identity: Identity }
      : { readonly actor: Actor & { readonly id: number }; readonly login: Login };

interface Surroundings {
  readonly deps: OperationDeps;
  readonly address: string;
  /** The id by which the caller finds the request in logs and headers. */
  readonly requestId: string;
  /** What attempts are counted under: the address, or its /64. */
  readonly block: string;
  /** What the caller's client calls itself; '' if it does not say. */
  readonly agent: string;
  /** Whether the caller came by https, possibly through a trusted proxy. */
  readonly secure: boolean;
  /** The header `Cookie`; '' if there is none. */
  readonly cookies: string;
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
} & (Who<'public'> | Who<'visitor'> | Who<'key'> | Who<'login'>);

interface Described {
  readonly id: string;
  readonly method: Method;
  /** As Express writes it, without a trailing slash: `/api/user/:id`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** How it may fail, beyond what follows from access, body and limits. */
  readonly errors?: readonly ErrorCode[];
  /** Members that some of its errors have beside the message, by name. */
  readonly beside?: Readonly<Record<string, Joi.Schema>>;
  /** The largest body that it reads, if different from the others. */
  readonly bodyLimitBytes?: number;
  /** Creates or spends: honours `Idempotency-Key`, so that a repeated request is not done twice. */
  readonly idempotent?: boolean;
  /** A file that it may answer with instead of JSON, by media type. */
  readonly files?: readonly string[];
  /** Answers a browser with the address of another page, and has no `data`. */
  readonly redirects?: boolean;
  /** Its body is a form instead of JSON. */
  readonly form?: boolean;
  /** Has effects although it is a GET, for clients that know it that way. */
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
  /** Attempts are counted under this name, per address, and per account if the request names one. */
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
  readonly area: string;
  readonly params?: Joi.ObjectSchema;
  readonly query?: Joi.ObjectSchema;
  readonly body?: Joi.ObjectSchema;
  readonly reply?: Joi.AnySchema;
  readonly limit?: { readonly name: string };
  /** Validates a request; throws 400 `invalid_request` that names what is wrong. */
  readonly prepare: (call: OperationCall) => PreparedOperation;
}

type Unplaced = Omit<Operation, 'area'>;

/** An operation with the types of what it takes and gives, which `client/` derives its calls from. */
export interface TypedOperation<Id extends string, P, Q, B, R> extends Unplaced {
  readonly id: Id;
  /** For the compiler alone. */
  readonly types?: { readonly params: P; readonly query: Q; readonly body: B; readonly reply: R };
}

export interface PreparedOperation {
  /** The account that the attempt is counted on, if any. */
  readonly account: string | undefined;
  readonly run: () => Promise<Reply<unknown> | FileReply>;
}

export interface ReplyExtras {
  readonly status?: number;
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
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
