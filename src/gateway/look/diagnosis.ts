import { own } from '../../core/records.js';
import { systemCode } from '../../core/errors.js';
import type { ProbeProblem } from '../../core/probe.js';
import type { UpstreamFailure } from '../../core/retry.js';
import type { RawReply } from '../../providers/reply.js';
import type { Route } from '../channels/route.js';
import type { TransportError } from '../transport/transport.js';

/** A test takes no longer than this, whatever the channel allows its requests. */
export const MAX_PROBE_MS = 45_000;

/** The wire traffic seen while a channel was probed. */
export interface Sighting {
  readonly askedForToken: boolean;
  readonly url: string | undefined;
  readonly reply: RawReply | undefined;
  readonly error: TransportError | undefined;
}

/** What an operator should look at, judging by what was seen on the wire. */
export function diagnose(
  failure: UpstreamFailure,
  { askedForToken, url, reply, error }: Sighting,
  route: Route,
  model: string,
): ProbeProblem {
  // The token endpoint was asked, the provider was not.
  const forToken = askedForToken && url === undefined;
  const where = forToken ? 'The token endpoint' : 'The server';
  if (error !== undefined) return explainTransport(error, where, route);
  // No page is ever quoted, whoever serves it: a test must not read what only this machine can reach.
  const quotes = reply === undefined || speaksJson(reply);
  const said = failure.message === '' || !quotes ? '' : ` It says: ${failure.message}`;
  if (forToken) {
    if (failure.kind === 'timeout') return silentProblem(where, route);
    return failure.kind === 'misconfigured'
      ? problem('wrong_key', `The credentials were refused: no token was given for them.${said}`)
      : problem('upstream_fault', `The token endpoint failed.${said}`);
  }
  if (reply === undefined) {
    return failure.kind === 'misconfigured'
      ? problem('unusable', `Nothing could be sent with this channel: ${failure.message}.`)
      : problem('upstream_fault', `The ranking failed: ${failure.message}.`);
  }
  return explainReply(failure, reply, said, route, model);
}

function explainReply(
  failure: UpstreamFailure,
  reply: RawReply,
  said: string,
  { channel, endpoint, provider }: Route,
  model: string,
): ProbeProblem {
  const { status } = reply;
  const upstreamModel = own(channel.models, model) ?? model;
  if (status >= 300 && status < 400) {
    return problem(
      'redirected',
      `The server redirects elsewhere (${status}), and the gateway does not follow. Set base_url to where it leads, including https and host.`,
    );
  }
  const page = isPage(reply);
  if (status === 404 || status === 405) {
    if (!page && namesModel(failure.message, upstreamModel)) {
      return unknownModel(upstreamModel, status, said);
    }
    return problem(
      'wrong_path',
      `There is no such path (${status}). Check the path of base_url, that provider "${provider.id}" is what runs there, and that the server was started for reranking.${page ? '' : said}`,
    );
  }
  if (page && [502, 503, 504].includes(status)) return explainProxy(status);
  if (page) {
    return problem(
      'web_page',
      `A web page came back instead of JSON (${status}). base_url leads to a site, a login or a proxy in front of the server, not to its API.`,
    );
  }
  if (isAboutKey(failure, status, upstreamModel)) {
    return problem(
      'wrong_key',
      Object.keys(endpoint.credentials).length === 0
        ? `The server asks for a key and the channel has none (${status}).${said}`
        : `The server refuses the channel's credentials (${status}). Check that the key is whole, not revoked, and made for this address and region.${said}`,
    );
  }
  if (status === 402) {
    return problem('no_credit', `The account of the key has no credit left (402).${said}`);
  }
  if (
    failure.kind === 'misconfigured' ||
    failure.kind === 'caller' ||
    failure.kind === 'rejected'
  ) {
    if (namesModel(failure.message, upstreamModel)) {
      return unknownModel(upstreamModel, status, said);
    }
    return problem('refused', `The server refuses the request (${status}).${said}`);
  }
  switch (failure.kind) {
    case 'busy':
      return problem(
        'busy',
        `The server is overloaded or limits this key (${status}). Try again later; if it persists, check the limits of the account.${said}`,
      );
    case 'invalid':
      return problem(
        'not_a_ranking',
        `The reply (${status}) is not what provider "${provider.id}" sends. Check the provider, and the path of base_url.${said}`,
      );
    case 'timeout':
      return problem('timeout', `The server itself gave up (${status}).${said}`);
    case 'limit':
      return problem(
        'refused',
        `Two short documents are too much for the server (${status}). Check the limits that it was started with.${said}`,
      );
    case 'transient':
      return problem('upstream_fault', `The server failed (${status}). Look at its log.${said}`);
  }
}

/** A page with such a status is written by a proxy in front of the server. */
function explainProxy(status: number): ProbeProblem {
  return status === 504
    ? problem(
        'timeout',
        'A proxy in front of the server gave up waiting (504). If the server loads the model first, try again; if it is slow, raise the time limit of the proxy.',
      )
    : problem(
        'upstream_fault',
        `A proxy answered in place of the server (${status}), which is down, starting or overloaded. Look at the logs of both.`,
      );
}

function silentProblem(where: string, { channel: { timeoutMs } }: Route): ProbeProblem {
  return problem(
    'timeout',
    `${where} did not answer within ${timeoutMs ?? MAX_PROBE_MS} ms. If it loads the model first, try again; if it is slow, raise timeout_ms; otherwise check the address.`,
  );
}

function explainTransport(error: TransportError, where: string, route: Route): ProbeProblem {
  const code = causeCode(error);
  switch (error.fault) {
    case 'forbidden':
      return problem('unusable', `${where} was not called: ${error.message}.`);
    case 'no_room':
      return problem(
        'upstream_fault',
        'The gateway has no room for more replies right now. Try again.',
      );
    case 'connect':
      if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EAI_NODATA') {
        return problem(
          'unknown_host',
          `${where}'s name does not resolve (${code}). Check the host in base_url, and name resolution on this machine.`,
        );
      }
      if (isTlsCode(code)) return tlsProblem(code, where);
      return problem(
        'unreachable',
        `${where} cannot be reached (${code}). Check host and port of base_url, that it is running and listens beyond its own machine, and firewalls on the way.`,
      );
    case 'timeout':
      return silentProblem(where, route);
    case 'reset':
      if (isTlsCode(code)) return tlsProblem(code, where);
      return problem(
        'connection_broken',
        `${where} closed the connection without an answer (${code}). Check that base_url has the right scheme (http or https) and the right port.`,
      );
    case 'unreadable':
      return problem(
        'not_a_ranking',
        `${where} sent something that cannot be read: ${error.message}. Check that base_url has the right scheme (http or https) and the right port.`,
      );
    case 'withdrawn':
    case 'cancelled':
      return problem('timeout', 'The test took too long and was abandoned.');
  }
}

function tlsProblem(code: string, where: string): ProbeProblem {
  if (/WRONG_VERSION|PACKET_LENGTH|EPROTO|HTTP_REQUEST/.test(code)) {
    return problem(
      'tls',
      `${where} does not speak TLS there (${code}). Use http:// in base_url, or the port of https.`,
    );
  }
  const why =
    code === 'CERT_HAS_EXPIRED'
      ? 'has expired: renew it'
      : code === 'ERR_TLS_CERT_ALTNAME_INVALID'
        ? 'is for another name: use the name it was issued for in base_url'
        : 'is not trusted here: send the whole chain from the server, or name its authority in NODE_EXTRA_CA_CERTS';
  return problem('tls', `${where}'s certificate ${why} (${code}).`);
}

function isTlsCode(code: string): boolean {
  return /CERT|SSL|TLS|EPROTO|UNABLE_TO_/.test(code);
}

/** The name that the system or TLS has for a fault, else its message. */
function causeCode({ cause, message }: TransportError): string {
  return systemCode(cause) ?? (cause instanceof Error ? cause.message : message);
}

/** Whether a reply is a JSON object, as an API's error is; a text, a page or a lone string is not. */
function speaksJson({ text }: RawReply): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

function isPage({ headers, text }: RawReply): boolean {
  return /\bhtml\b/i.test(headers['content-type'] ?? '') || /^\s*<(!doctype|html)\b/i.test(text);
}

/** What servers say of a key that answer with 400; LiteLLM without a database says the first of any key but its main one. */
const KEY_REFUSED =
  /no connected db|api[ _]?key (?:is )?(?:not valid|invalid)|invalid api[ _]?key/i;

function isAboutKey({ message }: UpstreamFailure, status: number, model: string): boolean {
  if (status === 403) return !namesModel(message, model);
  return status === 401 || (status === 400 && KEY_REFUSED.test(message));
}

function namesModel(message: string, model: string): boolean {
  return /\bmodels?\b/i.test(message) || message.includes(model);
}

function unknownModel(model: string, status: number, said: string): ProbeProblem {
  return problem(
    'unknown_model',
    `The server does not serve "${model}" to this key (${status}). Check the upstream's name of the model in models, and which models the key may use.${said}`,
  );
}

function problem(code: ProbeProblem['code'], message: string): ProbeProblem {
  return { code, message };
}
