import type { RawReply } from '../../providers/reply.js';

/** A reply whose text is decoded when first asked for. */
export class Reply implements RawReply {
  readonly status: number;
  readonly headers: RawReply['headers'];
  readonly bytes: Buffer;
  #text: string | undefined;

  constructor(status: number, headers: RawReply['headers'], body: Buffer) {
    this.status = status;
    this.headers = headers;
    this.bytes = body;
  }

  get text(): string {
    this.#text ??= this.bytes.toString('utf8');
    return this.#text;
  }
}

/** Headers that have one value each. */
export function flatten(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string | undefined> {
  for (const [name, value] of Object.entries(headers)) {
    if (Array.isArray(value)) headers[name] = value.join(', ');
  }
  return headers as Record<string, string | undefined>;
}
