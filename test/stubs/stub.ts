import type { IncomingHttpHeaders } from 'node:http';
import type { SettingValue } from '../../src/providers/provider.js';

/** One request to a stub, its prefix and modes taken off the path. */
export interface StubCall {
  readonly method: string;
  /** Path and query as they came, prefix included: what a signature covers. */
  readonly target: string;
  /** Below the stub's prefix, without the query. */
  readonly path: string;
  readonly search: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Address of the stub, without modes and trailing slash. */
  readonly base: string;
  /** Faults and variants in force for this request. */
  readonly modes: ReadonlySet<string>;
  readonly nowMs: number;
}

export interface StubReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON value, or the exact text in `text`; neither is an empty body. */
  readonly json?: unknown;
  readonly text?: string;
}

/**
 * Whose fault an error is, and so what the gateway must make of it: the caller is told, another channel is asked, or,
 * where the request breaks a limit of the provider's own, a channel of another provider.
 */
export type Blame = 'caller' | 'channel' | 'limit';

/** One of the provider's own errors, switched on as `error-<name>`. */
export interface StubFailure {
  readonly reply: StubReply;
  readonly blames: Blame;
}

/** By name; some hold the address of the stub. */
export type Credentials =
  Readonly<Record<string, string>> | ((base: string) => Readonly<Record<string, string>>);

/** What a channel for the stub carries besides its base URL. */
export interface StubChannel {
  readonly model?: string;
  readonly credentials?: Credentials;
  /** Well formed and refused; without it, those of the channel with other endings. */
  readonly wrongCredentials?: Credentials;
  readonly settings?: (base: string) => Readonly<Record<string, SettingValue>>;
}

/** A stand-in for one provider: as strict as the original, with scores that tests can foretell. */
export interface Stub {
  readonly channel: StubChannel;
  readonly failures: Readonly<Record<string, StubFailure>>;
  /** Variants of this provider beside the faults that all have; each with what it does. */
  readonly variants: Readonly<Record<string, string>>;
  /** Whether it asks for credentials at all. */
  readonly guarded: boolean;
  /** Whether rows have an index, so that a bad one can be given. */
  readonly indexed: boolean;
  /** Whether the rows' order is all that it tells. */
  readonly orderOnly: boolean;
  /** Whether a reply that leaves something out, or says it twice, still tells an order. */
  readonly mends?: boolean;
  answer(call: StubCall): StubReply;
}

export function credentialsOf(
  { credentials = {} }: StubChannel,
  base: string,
): Readonly<Record<string, string>> {
  return typeof credentials === 'function' ? credentials(base) : credentials;
}

/** Credentials that a channel may carry and the stub refuses. */
export function wrongCredentialsOf(
  channel: StubChannel,
  base: string,
): Readonly<Record<string, string>> {
  const { wrongCredentials } = channel;
  if (wrongCredentials === undefined) {
    return Object.fromEntries(
      Object.entries(credentialsOf(channel, base)).map(([name, value]) => [name, `${value}-wrong`]),
    );
  }
  return typeof wrongCredentials === 'function' ? wrongCredentials(base) : wrongCredentials;
}

export const STUB_KEY = 'stub-key';
