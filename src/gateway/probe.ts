import type { Channel } from '../core/channel.js';
import { textDocuments } from '../core/documents.js';
import { systemCode } from '../core/errors.js';
import {
  judgeRanking,
  PROBE_DOCUMENTS,
  PROBE_QUERY,
  type Probe,
  type ProbeProblem,
  type ProbeRanking,
  type ProbeReport,
} from '../core/probe.js';
import type { UpstreamFailure } from '../core/retry.js';
import { forModel, type RankerTools, type TokenRequest } from '../providers/provider.js';
import type { RawReply } from '../providers/reply.js';
import type { NeuralRanker } from '../rankers/ranker.js';
import { offerOf } from './offer.js';
import type { AttemptOutcome } from './rank.js';
import { makeRoute, type DeclaredCredentials, type Route, type RouteKey } from './route.js';
import { createScope, type Scope } from './scope.js';
import { AccessTokens } from './access-tokens.js';
import { createSend } from './send.js';
import { Trace } from './trace.js';
import { TransportError, type UpstreamRequest } from './transport.js';
import type { Upstream } from './upstream.js';

export interface ProbeDeps {
  readonly upstream: Pick<Upstream, 'send' | 'fetchToken'>;
  readonly neural: NeuralRanker;
  readonly tools: RankerTools;
  /** Credentials of the channels that the configuration declares, by channel name. */
  readonly declared: DeclaredCredentials;
  readonly now: () => number;
  readonly attemptTimeoutMs: number;
}

/** Nobody waits longer than this for a test, whatever the channel allows its requests. */
const MAX_PROBE_MS = 45_000;
/** Extra time for fetching a token before the request itself. */
const TOKEN_GRACE_MS = 15_000;

/** A probe sends one request just as traffic would be sent, and watches the wire to tell what went wrong. */
export function createProbe(deps: ProbeDeps): Probe {
  return async (channel, model, turn = 0) => {
    const made = makeRoute(asProbed(channel, deps), new Map(), deps.declared);
    if (made.kind === 'unusable') {
      const problem = { code: 'unusable', message: `The channel cannot be used: ${made.why}.` };
      return report(channel, model, { problem: problem as ProbeProblem });
    }
    const { route } = made;
    if (route.keys === undefined) return probeRoute(deps, channel, route, model);
    return probeKeys(deps, channel, route.keys, model, turn);
  };
}

/** Keys that one probe tries at most, where those before them are refused. */
const KEYS_TRIED = 10;

async function probeKeys(
  deps: ProbeDeps,
  channel: Channel,
  keys: readonly RouteKey[],
  model: string,
  turn: number,
): Promise<ProbeReport> {
  const untilMs = deps.now() + MAX_PROBE_MS;
  const refused: string[] = [];
  for (let tried = 0; ; tried += 1) {
    const key = keys[(turn * KEYS_TRIED + tried) % keys.length];
    if (key === undefined) throw new Error('a channel with keys has none');
    const found = await probeRoute(deps, channel, key.route, model);
    const isRefused = isRefusal(found);
    if (isRefused) refused.push(key.hint);
    const isLast = tried + 1 >= Math.min(KEYS_TRIED, keys.length) || deps.now() >= untilMs;
    if (isRefused && !isLast) continue;
    const warning = `Keys that the server refuses: ${refused.join(', ')}.`;
    return refused.length === 0 ? found : { ...found, warnings: [...found.warnings, warning] };
  }
}

/** Whether the key, or the account behind it, is at fault. */
function isRefusal({ problem }: ProbeReport): boolean {
  return problem?.code === 'wrong_key' || problem?.code === 'no_credit';
}

async function probeRoute(
  deps: ProbeDeps,
  channel: Channel,
  route: Route,
  model: string,
): Promise<ProbeReport> {
  const startedMs = deps.now();
  const witness = new Witness(deps.upstream);
  const attempt = await ask(deps, witness, route, model);
  const seen = {
    url: witness.url,
    status: witness.reply?.status,
    durationMs: deps.now() - startedMs,
  };
  if (attempt.kind === 'ranked') {
    const { rows, usage, warnings } = attempt.ranking;
    const upstreamModel = channel.models[model] ?? model;
    const { scoreScale } = route.provider.profile;
    const ranking = judgeRanking(rows, forModel(scoreScale, upstreamModel));
    return report(channel, model, {
      ...seen,
      ranking,
      usage: usage ?? {},
      problem: orderProblem(ranking),
      warnings: [...warnings, ...scaleWarnings(channel, ranking)],
    });
  }
  const failure = attempt.kind === 'failed' ? attempt.failure : NEVER_SENT;
  return report(channel, model, { ...seen, problem: explain(failure, witness, route, model) });
}

const NEVER_SENT: UpstreamFailure = { kind: 'transient', status: undefined, message: 'not sent' };

/** Scores are wanted as they come, and a test has its own time limit. */
function asProbed(channel: Channel, { attemptTimeoutMs }: ProbeDeps): Channel {
  const timeoutMs = Math.min(channel.timeoutMs ?? attemptTimeoutMs, MAX_PROBE_MS);
  return { ...channel, scores: 'raw', timeoutMs };
}

async function ask(
  { neural, tools, now, attemptTimeoutMs }: ProbeDeps,
  witness: Witness,
  route: Route,
  model: string,
): Promise<AttemptOutcome> {
  const scope = createScope(now(), MAX_PROBE_MS + TOKEN_GRACE_MS);
  try {
    const send = createSend({
      // Even if it is switched off: that is when people want to know.
      mayBegin: () => true,
      upstream: witness,
      // A token that is already at hand says nothing about the credentials that fetch the next one.
      tokens: new AccessTokens({ now, fetchToken: witness.fetchToken }),
      neural,
      tools,
      now,
      attemptTimeoutMs,
    });
    return await send(offerOf(route, model), {
      requestId: 'probe',
      owner: 'probe',
      keyId: 0,
      model,
      query: PROBE_QUERY,
      documents: textDocuments(PROBE_DOCUMENTS),
      topN: PROBE_DOCUMENTS.length,
      options: {},
      admits: () => true,
      mayAnswer: () => false,
      scope,
      trace: new Trace(),
    });
  } finally {
    scope.release();
  }
}

/** Passes requests on and remembers the outcome of the last one. */
class Witness {
  readonly #upstream: ProbeDeps['upstream'];
  askedForToken = false;
  url: string | undefined;
  reply: RawReply | undefined;
  error: TransportError | undefined;

  constructor(upstream: ProbeDeps['upstream']) {
    this.#upstream = upstream;
  }

  send(request: UpstreamRequest, scope?: Scope): Promise<RawReply> {
    this.url = request.origin + request.path;
    return this.#watch(() => this.#upstream.send(request, scope));
  }

  readonly fetchToken = (request: TokenRequest, signal: AbortSignal): Promise<RawReply> => {
    this.askedForToken = true;
    return this.#watch(() => this.#upstream.fetchToken(request, signal));
  };

  async #watch(send: () => Promise<RawReply>): Promise<RawReply> {
    this.reply = undefined;
    this.error = undefined;
    try {
      this.reply = await send();
      return this.reply;
    } catch (error) {
      if (error instanceof TransportError) this.error = error;
      throw error;
    }
  }
}

function report(
  channel: Channel,
  model: string,
  found: Partial<ProbeReport> & Pick<ProbeReport, 'problem'>,
): ProbeReport {
  return {
    model,
    upstreamModel: channel.models[model] ?? model,
    url: undefined,
    status: undefined,
    durationMs: 0,
    ranking: undefined,
    usage: {},
    warnings: [],
    ...found,
  };
}

function orderProblem({ order }: ProbeRanking): ProbeProblem | undefined {
  switch (order) {
    case 'right':
      return undefined;
    case 'undecided':
      return {
        code: 'wrong_order',
        message:
          'Both documents got the same score. Check that the model is a reranker, and that it was loaded with its classification head.',
      };
    case 'wrong':
      return {
        code: 'wrong_order',
        message:
          'The document that answers the query came last. Check that the model is a reranker (an embedding or chat model is not), and that the server gives it its prompt template.',
      };
  }
}

function scaleWarnings({ scores }: Channel, { scale }: ProbeRanking): string[] {
  if (scale.fits) return [];
  if (scale.expected === 'logit') {
    return [
      scores === 'normalized'
        ? 'Scores look like probabilities already, and "normalized" squeezes them once more: set scores to "raw".'
        : 'Scores look like probabilities where logits were expected.',
    ];
  }
  return [
    `Scores are outside the range that is known of this provider (${scale.expected}): thresholds that clients use will not fit.`,
  ];
}

/** What an operator should look at, judging by what was seen on the wire. */
function explain(
  failure: UpstreamFailure,
  { askedForToken, url, reply, error }: Witness,
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
  const upstreamModel = channel.models[model] ?? model;
  if (status >= 300 && status < 400) {
    return problem(
      'redirected',
      `The server redirects elsewhere (${status}), which is not followed. Set base_url to where it leads, https and host included.`,
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
  if (page) {
    return problem(
      'web_page',
      `A web page came back instead of JSON (${status}). base_url leads to a site, a login or a proxy in front of the server, not to its API.`,
    );
  }
  if (status === 401 || (status === 403 && !namesModel(failure.message, upstreamModel))) {
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

function silentProblem(where: string, { channel: { timeoutMs } }: Route): ProbeProblem {
  return problem(
    'timeout',
    `${where} did not answer within ${timeoutMs ?? MAX_PROBE_MS} ms. If it loads the model first, try again; if it is slow, raise timeout_ms; else check the address.`,
  );
}

function explainTransport(error: TransportError, where: string, route: Route): ProbeProblem {
  const code = causeCode(error);
  switch (error.fault) {
    case 'forbidden':
      return problem('unusable', `${where} is not called: ${error.message}.`);
    case 'no_room':
      return problem(
        'upstream_fault',
        'The gateway is reading as many replies as it has room for. Try again.',
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
        `${where} closed the connection without an answer (${code}). Check that base_url has the right one of http and https and the right port.`,
      );
    case 'unreadable':
      return problem(
        'not_a_ranking',
        `${where} sent something that cannot be read: ${error.message}. Check that base_url has the right one of http and https and the right port.`,
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
