import type { ObservedScale, ProbeRanking } from './probe.js';

/** `certain`: it says so itself and ranks so. `likely`: it ranks so, and hardly anything else does. `possible`: one of several. */
export const CERTAINTIES = ['certain', 'likely', 'possible'] as const;
export type Certainty = (typeof CERTAINTIES)[number];

/** A provider whose requests a server answers. */
export interface DiscoveredProvider {
  readonly provider: string;
  readonly certainty: Certainty;
  /** For people; nothing that the server said is quoted. */
  readonly because: string;
}

/** What is known of a server before it is asked. */
export interface UnknownServer {
  readonly baseUrl: string;
  /** Named as those of providers; each provider gets those that it knows. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** A model that it serves, for servers that list none. */
  readonly model: string | undefined;
}

/** What was found out about a server. */
export interface Discovery {
  /** The best first. */
  readonly candidates: readonly DiscoveredProvider[];
  /** That it lists. */
  readonly models: readonly string[];
  /** Documents of one request, where it tells its limit. */
  readonly mostDocuments: number | undefined;
  /** What the first candidate's ranking showed of scores and order. */
  readonly scale: ObservedScale['observed'] | undefined;
  readonly order: ProbeRanking['order'] | undefined;
  /** How many requests it took. */
  readonly requests: number;
  /** Why there is no candidate. */
  readonly problem: { readonly code: string; readonly message: string } | undefined;
}

export type Discover = (server: UnknownServer) => Promise<Discovery>;
