import type { ErrorCode } from '../core/errors.js';
import type { FaultKind } from '../core/retry.js';

/** One call to a channel, ended. */
export interface AttemptEvent {
  readonly kind: 'attempt';
  readonly requestId: string;
  readonly channelId: number;
  readonly provider: string;
  readonly tag: string | undefined;
  /** `ok`, what went wrong, or `cancelled` when the caller left or the channel was switched off before anything was sent. */
  readonly outcome: 'ok' | FaultKind | 'cancelled';
  /** The upstream's status; `undefined` where none came. */
  readonly status: number | undefined;
  /** The upstream's words or the transport's, without addresses; empty where all went well. */
  readonly message: string;
  readonly durationMs: number;
}

/** One rerank request, answered. Everything that logs, metrics and the usage log say of it. */
export interface RequestEvent {
  readonly kind: 'request';
  readonly requestId: string;
  readonly atMs: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** `ok`, or the code that the caller got. */
  readonly outcome: 'ok' | ErrorCode;
  /** Absent until the step that finds it out. */
  readonly userId: number | undefined;
  readonly tokenId: number | undefined;
  readonly tokenName: string | undefined;
  /** The model that was routed; a name that no channel knows is not a label. */
  readonly model: string | undefined;
  readonly knownModel: boolean;
  readonly channelId: number | undefined;
  readonly provider: string | undefined;
  readonly tag: string | undefined;
  readonly attempts: number;
  readonly documents: number;
  readonly inputTokens: number;
  readonly searchUnits: number;
  /** Quota charged, in units. */
  readonly quota: number;
  readonly admitted: boolean;
  readonly durationMs: number;
  /** Waiting for upstreams, all attempts together. */
  readonly upstreamMs: number;
}

/** Any other request, answered. */
export interface AccessEvent {
  readonly kind: 'access';
  readonly requestId: string;
  readonly method: string;
  /** The pattern that was matched: what callers write into paths stays out of logs. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Something went wrong that no request can be told of: a settlement given up, a table that cannot be refreshed. */
export interface FaultEvent {
  readonly kind: 'fault';
  readonly what: string;
  readonly error: unknown;
  readonly requestId?: string;
}

/** The channels in force have changed. */
export interface ChannelsEvent {
  readonly kind: 'channels';
  readonly version: number;
  readonly channels: readonly {
    readonly id: number;
    readonly name: string;
    readonly provider: string;
    readonly tag: string | undefined;
    readonly live: boolean;
  }[];
  /** Channels that cannot be used, and why. */
  readonly unusable: readonly { readonly name: string; readonly why: string }[];
}

/** What happens in the gateway: logs, metrics and traces are made from this and nothing else. */
export type GatewayEvent = AttemptEvent | RequestEvent | AccessEvent | FaultEvent | ChannelsEvent;

export type Observe = (event: GatewayEvent) => void;

/** Reads events in the order in which they happened. */
export type ReadEvents = (events: readonly GatewayEvent[]) => void;
