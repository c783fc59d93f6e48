import type { GatewayError } from '../core/errors.js';
import type { RequestEvent } from './events.js';
import type { Trace } from './trace.js';

/** What whoever answered a request knows of it, besides its trace. */
export interface Answered {
  readonly requestId: string;
  readonly startedMs: number;
  readonly durationMs: number;
  readonly route: string;
  /** The status of its reply. */
  readonly status: number;
  readonly failure: GatewayError | undefined;
  readonly userId: number | undefined;
  readonly token: { readonly id: number; readonly name: string } | undefined;
  /** The model that it names, for one that was not routed. */
  readonly model: string | undefined;
  readonly documents: number;
  /** Where it came from; asked for one that was refused. */
  readonly address: () => string;
  readonly source?: RequestEvent['source'];
}

/** A request as its observers see it, however it ended; the reply waits for nothing here. */
export function requestEvent(
  trace: Trace,
  answered: Answered,
): RequestEvent | Promise<RequestEvent> {
  const { charged } = trace;
  if (charged === undefined) return eventOf(trace, answered, trace.quota);
  return charged.then((units) => eventOf(trace, answered, units ?? trace.quota));
}

function eventOf(trace: Trace, answered: Answered, quota: number): RequestEvent {
  const { failure, token, source } = answered;
  return {
    kind: 'request',
    requestId: answered.requestId,
    atMs: answered.startedMs,
    method: 'POST',
    route: answered.route,
    status: answered.status,
    outcome: failure?.code ?? 'ok',
    userId: answered.userId,
    tokenId: token?.id,
    tokenName: token?.name,
    model: trace.model ?? answered.model,
    knownModel: trace.model !== undefined,
    channelId: trace.channelId,
    provider: trace.provider,
    tag: trace.tag,
    attempts: trace.attempts,
    documents: answered.documents,
    inputTokens: trace.usage?.inputTokens ?? 0,
    searchUnits: trace.usage?.searchUnits ?? 0,
    quota,
    cost: trace.cost,
    admitted: trace.admitted,
    degraded: trace.degraded,
    durationMs: answered.durationMs,
    upstreamMs: trace.upstreamMs,
    trace: trace.context,
    ...(source === undefined ? undefined : { source }),
    ...(failure === undefined ? undefined : whatFailed(failure, trace, answered)),
  };
}

/** What the log of refused requests adds to what is known about every request. */
function whatFailed(
  { message }: GatewayError,
  { admitted }: Trace,
  { address }: Answered,
): Pick<RequestEvent, 'message' | 'address'> {
  return admitted ? { message } : { message, address: address() };
}
