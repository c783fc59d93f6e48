import type { Channel } from './channel.js';
import type { ObservedScale, ProbeRanking } from './probe.js';

/**
 * `certain`: it says so itself and ranks accordingly. `likely`: it ranks that way, and few other providers fit.
 * `possible`: one of several.
 */
export const CERTAINTIES = ['certain', 'likely', 'possible'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** A provider whose requests a server answers. */
export interface DiscoveredProvider {
  readonly provider: string;
  readonly certainty: Certainty;
  /** For people; nothing that the server said is quoted. */
  readonly because: string;
  /** The model that ranked, where no other will do: an embedding or chat model in place of a reranker. */
  readonly model: string | undefined;
}

/** The names of the models that the server of a channel lists; empty where it lists none. */
export type ListUpstreamModels = (channel: Channel) => Promise<readonly string[]>;

/** Facts about a server before anything is sent. */
export interface UnknownServer {
  readonly baseUrl: string;
  /** Named as providers name them; each provider gets those that it knows. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** A model that it serves, needed if the server lists none. */
  readonly model: string | undefined;
}

/** A channel for what was found. */
export interface ProposedChannel {
  readonly provider: string;
  readonly baseUrl: string;
  readonly models: readonly string[];
  /** The names of those that were given and that it needs. */
  readonly credentials: readonly string[];
  readonly settings: Readonly<Record<string, string | number | boolean>>;
}

/** The findings about a server. */
export interface Discovery {
  /** Best first. */
  readonly candidates: readonly DiscoveredProvider[];
  /** For the first candidate. */
  readonly channel: ProposedChannel | undefined;
  /** The models that it lists. */
  readonly models: readonly string[];
  /** The most documents per request, if the server states its limit. */
  readonly mostDocuments: number | undefined;
  /** What the first candidate's ranking showed about scores and order. */
  readonly scale: ObservedScale['observed'] | undefined;
  readonly order: ProbeRanking['order'] | undefined;
  /** How many requests were sent. */
  readonly requests: number;
  /** Why there is no candidate. */
  readonly problem: { readonly code: string; readonly message: string } | undefined;
}

export type Discover = (server: UnknownServer) => Promise<Discovery>;
