import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../core/errors.js';
import type { RerankRequest } from '../core/rerank.js';
import type { TokenPolicy } from '../core/token.js';
import type { Caller } from '../gateway/admission.js';
import type { ParsedRerank } from '../ingress/dialect.js';

/** A request with what its model depends on: the key may get another default while it is being admitted. */
export class Asked {
  readonly caller: Caller;
  readonly parsed: ParsedRerank;
  readonly #ofGateway: string | undefined;

  constructor(caller: Caller, parsed: ParsedRerank, ofGateway: string | undefined) {
    this.caller = caller;
    this.parsed = parsed;
    this.#ofGateway = ofGateway;
  }

  /** The model that is named, or the default that the key or the gateway has. */
  modelBy({ defaultModel }: TokenPolicy): string | undefined {
    return this.parsed.model ?? defaultModel ?? this.#ofGateway;
  }

  /** Its model, by the key's policy in force. */
  get model(): string | undefined {
    return this.modelBy(this.caller.credential.token.policy);
  }

  /**
   * The request with its model.
   * @throws GatewayError 400 where there is none.
   */
  request(): RerankRequest {
    const { model } = this;
    if (model === undefined) {
      throw new GatewayError(
        'invalid_request',
        'model is required: neither the key nor the gateway has a default.',
        { param: 'model' },
      );
    }
    const { query, documents, topN, returnDocuments, options } = this.parsed;
    return { model, query, documents, topN, returnDocuments, options };
  }
}

/** The tag that a request asks for. */
export function tagOf({ headers }: IncomingMessage): string | undefined {
  const header = headers['x-rerank-tag'];
  const tag = (Array.isArray(header) ? header[0] : header)?.trim();
  return tag === '' ? undefined : tag;
}
