import type { IncomingMessage, ServerResponse } from 'node:http';
import { asGatewayError, GatewayError } from '../core/errors.js';
import { JsonFragment } from '../bytes/index.js';
import type { RerankRequest } from '../core/rerank.js';
import { judgeFresh, type Caller, type Identity } from '../gateway/admission.js';
import { newId } from '../gateway/request-id.js';
import type { RequestEvent } from '../gateway/events.js';
import { requestEvent } from '../gateway/request-event.js';
import { DefaultModelChanged, rerank, type RerankReply } from '../gateway/rerank.js';
import { beforeEnd, createScope, type OwnedScope } from '../gateway/scope.js';
import { Trace } from '../gateway/trace.js';
import type { IngressDialect, ParsedRerank } from '../ingress/dialect.js';
import { dialectByHeaders, type IngressRoute } from '../ingress/index.js';
import type { ExplainedWire } from '../shapes/explained.js';
import { callerOf } from './authentication.js';
import { tooLate, withJsonBody } from './body.js';
import { endWithCaller } from './connections.js';
import { addressBlock, clientAddress } from './client-address.js';
import { checkRoom, explainFor, explainingOf, type Explaining } from './explained.js';
import type { Place } from './load.js';
import { patienceOf, type Patience } from './patience.js';
import { requestIdOf, traceparentOf } from './request-id.js';
import { Asked, tagOf } from './rerank-asked.js';
import { readRerank } from './rerank-reading.js';
import {
  clockAt,
  NO_CLOCK,
  rankingBody,
  rankingHeaders,
  sendRanking,
  sendRefusal,
} from './rerank-reply.js';
import type { RerankRouteDeps } from './rerank-deps.js';

/**
 * A rerank request in any dialect between its socket and the last byte of its reply, with what has become known of it. Every
 * failure is answered, and everything is observed once.
 */
export class RerankExchange {
  readonly #deps: RerankRouteDeps;
  readonly #req: IncomingMessage;
  readonly #res: ServerResponse;
  readonly #route: IngressRoute;
  readonly #startedMs: number;
  readonly #id = newId();
  readonly #requestId: string;
  readonly #trace: Trace;
  readonly #patience: Patience;
  /** Read at once: a stream of HTTP/2 no longer knows it when it is closed. */
  readonly #address: string;
  readonly #scope: OwnedScope;
  readonly #stopListening: () => void;
  /** The dialect in which the caller is answered: what the headers suggest, until the body says more. */
  #dialect: IngressDialect;
  #place: Place | undefined;
  #identity: Identity | undefined;
  #request: RerankRequest | undefined;
  #explanation: ExplainedWire | undefined;
  #failure: GatewayError | undefined;
  #status = 200;

  constructor(
    deps: RerankRouteDeps,
    req: IncomingMessage,
    res: ServerResponse,
    route: IngressRoute,
  ) {
    this.#deps = deps;
    this.#req = req;
    this.#res = res;
    this.#route = route;
    this.#startedMs = deps.gateway.now();
    this.#requestId = requestIdOf(req) ?? this.#id;
    this.#trace = new Trace(deps.startTrace(traceparentOf(req)));
    this.#patience = patienceOf(req.headers);
    this.#address = clientAddress(req, deps.trustedProxies);
    const { timeoutMs = Infinity } = this.#patience;
    this.#scope = createScope(this.#startedMs, Math.min(deps.deadlineMs, timeoutMs));
    this.#stopListening = endWithCaller(this.#scope, req, res);
    this.#dialect = dialectByHeaders(route, req.headers);
  }

  /** Receives, reads, and answers with a ranking, an explanation or a refusal. */
  async serve(): Promise<void> {
    try {
      const { mistake } = this.#patience;
      if (mistake !== undefined) throw new GatewayError('invalid_request', mistake);
      const explaining = explainingOf(this.#req);
      await this.#receive(explaining);
    } catch (error) {
      this.#refuse(error);
    } finally {
      this.#scope.release();
      this.#stopListening();
      if (this.#place !== undefined) this.#deps.load.leave(this.#place);
      this.#tell();
      this.#request = undefined;
    }
  }

  /** What happens once the body is there. */
  async #answer(caller: Caller, body: Buffer, explaining: Explaining | undefined): Promise<void> {
    // Nearly always read at once; a needless await would cost each request a turn of the event loop.
    const reading = this.#read(caller, body);
    const parsed = 'then' in reading ? await reading : reading;
    const asked = new Asked(caller, parsed, this.#deps.defaultModel);
    // The key may have been given a default since it was read.
    if (asked.model === undefined) await this.#judgeFresh(caller);
    if (explaining !== undefined) await this.#explain(explaining, asked);
    if (explaining === 'only') this.#send(new JsonFragment(JSON.stringify(this.#explanation)));
    else await this.#rank(asked);
  }

  /** Reports the outcome to its observers. The reply is already on its way; nobody but they wait. */
  #tell(): void {
    const { observe } = this.#deps.gateway;
    const event = this.#event();
    if ('then' in event) void event.then(observe);
    else observe(event);
  }

  #event(): RequestEvent | Promise<RequestEvent> {
    const token = this.#identity?.credential.token;
    return requestEvent(this.#trace, {
      requestId: this.#requestId,
      startedMs: this.#startedMs,
      durationMs: Math.max(0, this.#deps.gateway.now() - this.#startedMs),
      route: this.#dialect.paths[0] ?? '/v1/rerank',
      status: this.#status,
      failure: this.#failure,
      userId: token?.userId,
      token,
      model: this.#request?.model,
      documents: this.#request?.documents.count ?? 0,
      address: () => this.#address,
    });
  }

  /** Takes a place, finds the key and, if the caller may go on, collects the body and answers. */
  async #receive(explaining: Explaining | undefined): Promise<void> {
    const { load, authenticate, readSigned, bodyLimitBytes, trustedProxies } = this.#deps;
    const req = this.#req;
    const declaredBytes = Number(req.headers['content-length'] ?? 0);
    const place = load.enter(declaredBytes, bodyLimitBytes);
    this.#place = place;
    load.own(place, addressBlock(this.#address), declaredBytes, bodyLimitBytes);
    const signed = readSigned?.(req);
    const found = signed === undefined ? authenticate(req) : signed.identity();
    const identity = 'keyHash' in found ? found : await beforeEnd(this.#scope, found);
    this.#identity = identity;
    const caller = callerOf(req, identity, trustedProxies);
    const judged = signed === undefined ? this.#letIn(place, caller, declaredBytes) : undefined;
    if (judged !== undefined) await beforeEnd(this.#scope, judged);
    // HTTP/1's server looks after the time itself.
    const withinMs = req.httpVersionMajor === 1 ? undefined : this.#deps.bodyTimeoutMs;
    await withJsonBody(req, { limitBytes: bodyLimitBytes, load, place, withinMs }, (body) => {
      // Its caller has used up the time, and no provider.
      if (this.#scope.ended === 'deadline') throw tooLate();
      if (signed === undefined) return this.#answer(caller, body, explaining);
      return this.#proven(signed.prove(body), place, caller).then(() =>
        this.#answer(caller, body, explaining),
      );
    });
  }

  /** Counts a request as its key's once it is proven: whoever names a key without having signed with it must not take its places. */
  async #proven(proof: Promise<void>, place: Place, caller: Caller): Promise<void> {
    await beforeEnd(this.#scope, proof);
    // The bytes have already arrived.
    await beforeEnd(this.#scope, Promise.resolve(this.#letIn(place, caller, 0)));
  }

  /**
   * Counts a request as one of its key, and judges it by what is known about that key. In the usual case there is nothing
   * to wait for.
   */
  #letIn(place: Place, caller: Caller, declaredBytes: number): Promise<void> | undefined {
    const { load, door, bodyLimitBytes } = this.#deps;
    return door.judge(caller, load.own(place, caller.keyHash, declaredBytes, bodyLimitBytes));
  }

  #read(caller: Caller, body: Buffer): ParsedRerank | Promise<ParsedRerank> {
    return readRerank(body, {
      route: this.#route,
      caller,
      dialect: this.#dialect,
      onDialect: (dialect) => {
        this.#dialect = dialect;
      },
      judgeFresh: () => this.#judgeFresh(caller),
      headers: this.#req.headers,
      maxDocuments: this.#deps.maxDocuments,
    });
  }

  async #explain(explaining: Explaining, asked: Asked): Promise<void> {
    const dialect = this.#dialect;
    checkRoom(explaining, dialect);
    // The key may have been allowed to since it was read.
    await this.#judgeFresh(asked.caller);
    const request = this.#requestOf(asked);
    const named = { dialect: dialect.id, request, tag: tagOf(this.#req) };
    this.#explanation = await beforeEnd(this.#scope, explainFor(this.#deps, asked.caller, named));
  }

  /**
   * Ranks, by the default model in force if that changes while the request is being admitted, and sends the ranking in the
   * caller's dialect.
   */
  async #rank(asked: Asked): Promise<void> {
    let request = this.#requestOf(asked);
    let reply: RerankReply | undefined;
    while (reply === undefined) {
      try {
        reply = await this.#ranking(asked, request);
      } catch (error) {
        if (!(error instanceof DefaultModelChanged)) throw error;
        request = this.#requestOf(asked);
      }
    }
    const { gateway } = this.#deps;
    const dialect = this.#dialect;
    const clock = dialect.timed === true ? clockAt(this.#startedMs, gateway.now()) : NO_CLOCK;
    const answered = reply.model === undefined ? request : { ...request, model: reply.model };
    const written = dialect.reply(this.#id, answered, reply, asked.parsed.kept, clock);
    const body = rankingBody(written, this.#explanation);
    const headers = rankingHeaders(dialect, this.#requestId, reply);
    this.#send(body instanceof Promise ? await body : body, headers);
  }

  #ranking(asked: Asked, request: RerankRequest): Promise<RerankReply> {
    return rerank(this.#deps.gateway, {
      id: this.#id,
      requestId: this.#requestId,
      caller: asked.caller,
      request,
      modelBy: (policy) => asked.modelBy(policy),
      tag: tagOf(this.#req),
      mayBeOldMs: this.#patience.mayBeOldMs,
      scope: this.#scope,
      trace: this.#trace,
      onSent: this.#place?.endTurn,
    });
  }

  #requestOf(asked: Asked): RerankRequest {
    return (this.#request = asked.request());
  }

  #send(body: JsonFragment, headers?: Readonly<Record<string, string>>): void {
    sendRanking(this.#deps.replies, this.#res, this.#place, this.#requestId, body, headers);
  }

  #refuse(error: unknown): void {
    const failure = asGatewayError(error);
    this.#failure = failure;
    const { door, gateway } = this.#deps;
    const requestId = this.#requestId;
    if (this.#identity !== undefined) door.remember(this.#identity, failure);
    if (failure.code === 'internal_error') {
      gateway.observe({ kind: 'fault', what: 'request failed', error, requestId });
    }
    this.#status = sendRefusal(
      this.#req,
      this.#res,
      requestId,
      this.#dialect,
      failure,
      this.#explanation,
    );
  }

  /** Judges the key by what the store knows of it now. */
  #judgeFresh(caller: Caller): Promise<void> {
    return beforeEnd(this.#scope, judgeFresh(this.#deps.gateway, caller));
  }
}
