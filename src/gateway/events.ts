import type { LimitName } from '../core/channel-members.js';
import type { ChannelStatus } from '../core/channel.js';
import type { ErrorCode } from '../core/errors.js';
import type { OutageReason } from '../core/outage.js';
import type { FaultKind } from '../core/retry.js';
import type { UsageMembers } from '../core/usage-members.js';
import type { AttemptSpan, TraceContext } from './trace-context.js';

/** One call to a channel, ended. */
export interface AttemptEvent {
  readonly kind: 'attempt';
  readonly requestId: string;
  readonly channelId: number;
  /** The model that it was to rank by: the routed one, or one of its fallbacks. */
  readonly model: string;
  readonly provider: string;
  readonly tag: string | undefined;
  /** `ok`, what went wrong, or `cancelled` if the caller left or the channel was switched off before anything was sent. */
  readonly outcome: 'ok' | FaultKind | 'cancelled';
  /** The upstream's status; `undefined` if none came. */
  readonly status: number | undefined;
  /** The upstream's words or the transport's, without addresses; empty if all went well. */
  readonly message: string;
  /** When it began. */
  readonly atMs: number;
  readonly durationMs: number;
  readonly span: AttemptSpan | undefined;
}

/** Each member is absent until its step has run; an admitted request has all of them. */
type LateMember = 'userId' | 'tokenId' | 'tokenName' | 'model';

/** One rerank request, answered: everything that logs, metrics and the usage log say about it. */
export interface RequestEvent extends Omit<UsageMembers, LateMember | 'outcome'> {
  readonly kind: 'request';
  readonly atMs: number;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  /** `ok`, or the code that the caller got. */
  readonly outcome: 'ok' | ErrorCode;
  readonly userId: number | undefined;
  readonly tokenId: number | undefined;
  readonly tokenName: string | undefined;
  /** The model that was routed; a name that no channel knows is not a label. */
  readonly model: string | undefined;
  readonly knownModel: boolean;
  readonly admitted: boolean;
  /** What its calls cost the operator, in units and fractions of one, as far as their channels declare it. */
  readonly cost: number;
  /** Whether a last resort answered. */
  readonly degraded: boolean;
  /** Time spent waiting for upstreams, all attempts together. */
  readonly upstreamMs: number;
  readonly trace: TraceContext | undefined;
  /** The error that the caller received; absent if all went well. */
  readonly message?: string;
  /** Where a request that was not admitted came from. */
  readonly address?: string;
  /** Absent for a caller of the API. */
  readonly source?: 'console';
}

/** The store was told what a request of a recorded trace costs. */
export interface SettledEvent {
  readonly kind: 'settled';
  readonly trace: TraceContext;
  readonly atMs: number;
  readonly durationMs: number;
  /** What was charged; `undefined` if that cannot be known. */
  readonly charged: number | undefined;
}

/** Any other request, answered. */
export interface AccessEvent {
  readonly kind: 'access';
  readonly requestId: string;
  readonly method: string;
  /** The pattern that matched: what callers write into paths stays out of logs. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
}

/** Something went wrong that no request can report: a settlement given up, a table that cannot be refreshed. */
export interface FaultEvent {
  readonly kind: 'fault';
  readonly what: string;
  readonly error: unknown;
  readonly requestId?: string;
  /** Units of a settlement that was given up, or whose reservation was gone. */
  readonly unsettled?: number;
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
    /** Its own, whatever its tag's switch says. */
    readonly status: ChannelStatus;
  }[];
  /** Channels that cannot be used, and why. */
  readonly unusable: readonly {
    readonly name: string;
    readonly provider: string;
    readonly tag: string | undefined;
    readonly why: string;
  }[];
}

/** The circuit of a channel opened, or closed again, on this node. */
export interface BreakerEvent {
  readonly kind: 'breaker';
  readonly channelId: number;
  readonly channel: string;
  readonly state: 'open' | 'half_open' | 'closed';
  /** The kind of failure that opened it; empty once it is closed. */
  readonly reason: string;
  /** Since when it has not been closed; 0 once it is. */
  readonly sinceMs: number;
  /** How long nothing is sent; 0 unless it is open. */
  readonly forMs: number;
}

/** One of a channel's keys was refused: it is paused, and the others are used. */
export interface KeyRefusedEvent {
  readonly kind: 'key_refused';
  readonly channelId: number;
  readonly channel: string;
  /** How people recognise the key. */
  readonly key: string;
}

/** A limit of a channel that is kept for all nodes together is used up: this node passes it over for a while. */
export interface LimitedEvent {
  readonly kind: 'limited';
  readonly channelId: number;
  readonly channel: string;
  readonly limit: LimitName;
  readonly forMs: number;
}

/** The gateway itself disabled a channel for all nodes, or enabled it again; reported by the node that found out. */
export interface OutageEvent {
  readonly kind: 'outage';
  readonly channelId: number;
  readonly channel: string;
  readonly state: 'disabled' | 'returned';
  /** The certain fault, past or present. */
  readonly reason: OutageReason;
  /** The upstream's words; may be empty. */
  readonly message: string;
  /** Since when it has been, or was, disabled. */
  readonly sinceMs: number;
}

/** What happens in the gateway: logs, metrics and traces are made from these events and nothing else. */
export type GatewayEvent =
  | AttemptEvent
  | RequestEvent
  | SettledEvent
  | AccessEvent
  | FaultEvent
  | ChannelsEvent
  | BreakerEvent
  | OutageEvent
  | KeyRefusedEvent
  | LimitedEvent;

export type Observe = (event: GatewayEvent) => void;

/** Reads events in the order in which they happened. */
export type ReadEvents = (events: readonly GatewayEvent[]) => void;
