import { randomBytes } from 'node:crypto';

/** The distributed trace that a request belongs to, by W3C Trace Context, and when its steps began. */
export interface TraceContext {
  readonly traceId: string;
  /** The caller's span; absent if the trace begins here. */
  readonly parentId: string | undefined;
  /** The span of the whole request. */
  readonly spanId: string;
  readonly isSampled: boolean;
  /** Whether this gateway reports spans of it. */
  readonly isRecorded: boolean;
  /** When the request had been read and was handed to admission. */
  readMs: number | undefined;
  admittedMs: number | undefined;
  /** When the first attempt began. */
  chosenMs: number | undefined;
}

/** One attempt as a span of its request's trace. */
export interface AttemptSpan {
  readonly trace: TraceContext;
  readonly id: string;
  /** When the upstream's latest reply was there. */
  repliedMs: number | undefined;
}

/** The trace of a request with this `traceparent`; `undefined` if it belongs to none. */
export type StartTrace = (traceparent: string | undefined) => TraceContext | undefined;

/** Version, trace, parent, flags; a later version may append more. */
const HEADER =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/;
const SAMPLED = 1;

/**
 * Follows the caller's traces; with a `ratio`, also begins one for that part of the requests that belong to none, and
 * records those that are sampled.
 */
export function startTraces(ratio: number | undefined, random: () => number): StartTrace {
  return (traceparent) => {
    const isRecording = ratio !== undefined;
    const parent = traceparent === undefined ? undefined : parse(traceparent);
    if (parent !== undefined) {
      const { traceId, parentId, isSampled } = parent;
      return contextOf(traceId, parentId, isSampled, isRecording && isSampled);
    }
    if (!isRecording || random() >= ratio) return undefined;
    return contextOf(randomBytes(16).toString('hex'), undefined, true, true);
  };
}

/** A new span of an attempt. */
export function attemptSpan(trace: TraceContext): AttemptSpan {
  return { trace, id: newSpanId(), repliedMs: undefined };
}

/** The header that an upstream gets. */
export function traceparentOf({ trace, id }: AttemptSpan): string {
  return `00-${trace.traceId}-${id}-0${trace.isSampled ? SAMPLED : 0}`;
}

function contextOf(
  traceId: string,
  parentId: string | undefined,
  isSampled: boolean,
  isRecorded: boolean,
): TraceContext {
  return {
    ...{ traceId, parentId, spanId: newSpanId(), isSampled, isRecorded },
    ...{ readMs: undefined, admittedMs: undefined, chosenMs: undefined },
  };
}

function newSpanId(): string {
  return randomBytes(8).toString('hex');
}

function parse(
  traceparent: string,
): { traceId: string; parentId: string; isSampled: boolean } | undefined {
  const [whole, version, traceId, parentId, flags] = HEADER.exec(traceparent) ?? [];
  if (whole === undefined || traceId === undefined || parentId === undefined) return undefined;
  if (version === '00' && whole !== traceparent) return undefined;
  return { traceId, parentId, isSampled: (parseInt(flags ?? '', 16) & SAMPLED) !== 0 };
}
