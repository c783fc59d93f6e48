import { JsonFragment } from '../../bytes/index.js';
import type { Outgoing } from '../../core/explanation.js';
import { mapValues } from '../../core/records.js';
import { Secret } from '../../core/secret.js';
import { CUT_OFF, withStandIn } from '../../core/stand-in.js';
import type { RankerTools } from '../../providers/provider.js';
import { secretTexts } from '../../providers/settings.js';
import type { Job, Layer, Attempt, Offer } from '../rank.js';
import { headerList, type Route } from '../channels/route.js';
import { createScope } from '../scope.js';
import { createSend } from '../send.js';
import { Trace } from '../trace.js';
import { TransportError, type UpstreamRequest } from '../transport/transport.js';

export interface PreviewDeps {
  readonly tools: RankerTools;
  readonly now: () => number;
  readonly attemptTimeoutMs: () => number;
}

/** Builds the request that an offer would get for a job, and sends nothing. */
export type Preview = (
  offer: Offer,
  job: Omit<Job, 'scope' | 'trace'>,
  shaped: Layer<Attempt>,
) => Promise<Outgoing | undefined>;

const HIDDEN = '[hidden]';
const SHOWN_BYTES = 1_024;
const PREVIEW_MS = 5_000;

/** Follows the way of a real request up to its last step, where it is inspected instead of sent. */
export function createPreview({ tools, now, attemptTimeoutMs }: PreviewDeps): Preview {
  return async (offer, job, shaped) => {
    const { route } = offer;
    if (route.provider.transport === 'process') return undefined;
    let first: UpstreamRequest | undefined;
    const send = createSend({
      upstream: {
        send: (request) => {
          first ??= request;
          return Promise.reject(new TransportError('withdrawn', 'nothing is sent'));
        },
      },
      tokens: {
        get: () => Promise.resolve({ kind: 'token', token: HIDDEN }),
        drop: () => undefined,
      },
      neural: { rank: () => Promise.reject(new Error('nothing is ranked here')) },
      // Remembered vectors would leave texts out.
      tools: { ...tools, vectors: undefined },
      now,
      attemptTimeoutMs: attemptTimeoutMs(),
      mayBegin: () => true,
    });
    const scope = createScope(now(), PREVIEW_MS);
    try {
      await shaped(send)(offer, { ...job, scope, trace: new Trace() });
    } finally {
      scope.release();
    }
    return first === undefined ? undefined : outgoingOf(route, first);
  };
}

function outgoingOf(
  route: Route,
  { origin, path, method, headers, body }: UpstreamRequest,
): Outgoing {
  // Not copied: it may be as large as a body is.
  const whole = body instanceof JsonFragment ? body.bytes : body;
  const bytes = Buffer.isBuffer(whole) ? whole : Buffer.from(whole ?? '');
  return {
    url: withoutSecrets(origin + path, route),
    method,
    headers: shownHeaders(route, headers),
    body: beginningOf(bytes, route),
    bodyBytes: bytes.length,
  };
}

/** The first kilobyte, at whose end may be the beginning of a secret. */
function beginningOf(bytes: Buffer, route: Route): string {
  const text = bytes.toString('utf8', 0, SHOWN_BYTES);
  return withoutSecrets(text + CUT_OFF, route).slice(0, -CUT_OFF.length);
}

/** Headers whose values do not depend on the credentials; only the names of the others. */
function shownHeaders(route: Route, headers: readonly string[]): Record<string, string> {
  const harmless = headersWithOtherCredentials(route);
  const shown: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const value = headers[at + 1] ?? '';
    shown[name] = harmless.get(name) === value ? withoutSecrets(value, route) : HIDDEN;
  }
  return shown;
}

function headersWithOtherCredentials({ provider, endpoint }: Route): Map<string, string> {
  if (provider.transport === 'process') return new Map();
  const credentials = mapValues(endpoint.credentials, () => new Secret(HIDDEN));
  let list: readonly string[];
  try {
    list = headerList(provider, { ...endpoint, credentials });
  } catch {
    // Credentials of a different form: nothing is known about what they have in common.
    return new Map();
  }
  return new Map(list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] ?? '']] : [])));
}

function withoutSecrets(text: string, { provider, endpoint }: Route): string {
  return secretTexts(provider, endpoint).reduce(
    (shown, secret) => withStandIn(shown, secret, HIDDEN),
    text,
  );
}
