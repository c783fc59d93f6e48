import { isObject, object, Refusal, valueAt, type Members } from './checks.js';
import { STUB_KEY, type Stub, type StubCall, type StubChannel, type StubReply } from './stub.js';
import { bearerKey, open, type ErrorShape, type ListedError } from './wire.js';

/** A strict server that knows nothing of rankings: one call, one answer. */
export interface CallWire {
  readonly paths: readonly (string | RegExp)[];
  /** Throws a refusal of kind `no-key` or `key`. */
  readonly auth?: (call: StubCall) => void;
  readonly required: Members;
  readonly optional?: Members;
  /** What members cannot tell one by one; throws refusals. */
  readonly also?: (body: unknown, call: StubCall) => void;
  readonly answer: (body: Readonly<Record<string, unknown>>, call: StubCall) => unknown;
  readonly replyHeaders?: Readonly<Record<string, string>>;
  readonly error: ErrorShape;
  readonly errors?: Readonly<Record<string, ListedError>>;
  readonly channel?: StubChannel;
  readonly indexed?: boolean;
  readonly orderOnly?: boolean;
  readonly mends?: boolean;
}

export function callStub(wire: CallWire): Stub {
  const failures = Object.fromEntries(
    Object.entries(wire.errors ?? {}).map(([name, { status, message, code, reply, blames }]) => [
      name,
      {
        reply: reply ?? wire.error({ status, message, code, kind: undefined, at: '' }),
        blames: blames ?? ('channel' as const),
      },
    ]),
  );
  return {
    channel: { credentials: { apiKey: STUB_KEY }, ...wire.channel },
    failures,
    variants: {},
    guarded: wire.auth !== open,
    indexed: wire.indexed ?? false,
    orderOnly: wire.orderOnly ?? false,
    mends: wire.mends ?? false,
    answer: (call) => {
      try {
        return answerOf(wire, call);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { kind, at, message, code } = error;
        return wire.error({ status: STATUSES[kind] ?? 400, message, kind, at, code });
      }
    },
  };
}

const STATUSES: Readonly<Record<string, number>> = {
  method: 405,
  path: 404,
  'no-key': 401,
  key: 401,
  'content-type': 415,
  model: 404,
};

function answerOf(wire: CallWire, call: StubCall): StubReply {
  const isKnown = wire.paths.some((path) =>
    typeof path === 'string' ? path === call.path : path.test(call.path),
  );
  if (!isKnown) throw new Refusal('path', '', 'Not Found');
  if (call.method !== 'POST') throw new Refusal('method', '', 'Method Not Allowed');
  (wire.auth ?? bearerKey())(call);
  if (!/^application\/json\b/i.test(call.headers['content-type'] ?? '')) {
    throw new Refusal('content-type', '', 'Unsupported Media Type');
  }
  const body: unknown = JSON.parse(call.body.toString('utf8'));
  object(wire.required, wire.optional ?? {}, 'refused')(body, '');
  wire.also?.(body, call);
  return {
    status: 200,
    json: wire.answer(isObject(body) ? body : {}, call),
    ...(wire.replyHeaders === undefined ? {} : { headers: wire.replyHeaders }),
  };
}

/** The strings of a member. */
export function stringsAt(body: unknown, path: string): string[] {
  const value = valueAt(body, path);
  return (Array.isArray(value) ? value : [value]).map(String);
}
