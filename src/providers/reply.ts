import { Json, JsonShapeError } from '../core/json.js';
import { readRows, type NumberRows } from '../bytes/index.js';
import type { UpstreamRanking, WrittenRows } from '../core/rerank.js';
import {
  faultOfStatus,
  parseRetryAfter,
  type FaultKind,
  type UpstreamFailure,
} from '../core/retry.js';
import type { HttpProvider, SettingValue, UpstreamCall, UpstreamReply } from './provider.js';

/** A reply before anything has read it. Header names are in lower case. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body. */
  readonly text: string;
  /** The same as bytes, if it arrived as bytes. */
  readonly bytes?: Buffer;
}

export interface RankingReading {
  readonly kind: 'ranking';
  readonly ranking: UpstreamRanking;
  /** What the upstream wrote as we do: a reply with the same rows or scores can reuse it. */
  readonly written?: WrittenRows;
  /** Set if there are more rows to fetch. */
  readonly nextPage?: string;
}

export type ReplyReading =
  | RankingReading
  | {
      readonly kind: 'failure';
      readonly failure: UpstreamFailure;
      /** If the same call is worth sending again: the settings to send it with. */
      readonly otherForm?: Readonly<Record<string, SettingValue>>;
    };

/**
 * Reads a reply in a provider's dialect. A 2xx reply is a success only if it decodes and carries no error inside; everything
 * else is a failure of a known kind, with the upstream's own message shortened and stripped of addresses.
 */
export function readReply(
  provider: HttpProvider,
  call: UpstreamCall,
  raw: RawReply,
  nowMs: number,
): ReplyReading {
  const { count } = call.documents;
  const { json, rows } = parse(raw, count);
  const reply = new ReadReply(raw, json);
  const kind = provider.fault?.(reply) ?? genericFault(reply);
  if (kind !== undefined) {
    const otherForm = provider.otherForm?.(reply, call);
    const reading = failure(kind, reply, nowMs);
    return otherForm === undefined ? reading : { ...reading, otherForm };
  }
  if (json === undefined) return failure('invalid', reply, nowMs);
  try {
    const ranking = provider.decode(json, call, reply);
    const nextPage = provider.nextPage?.(json);
    if (nextPage !== undefined) return { kind: 'ranking', ranking, nextPage };
    const written = rows && writtenRows(rows, ranking.rows);
    return written === undefined
      ? { kind: 'ranking', ranking }
      : { kind: 'ranking', ranking, written };
  } catch (error) {
    if (!(error instanceof JsonShapeError)) throw error;
    return {
      kind: 'failure',
      failure: { kind: 'invalid', status: raw.status, message: error.message },
    };
  }
}

function writtenRows(list: NumberRows, rows: UpstreamRanking['rows']): WrittenRows | undefined {
  const bytes = isBestFirst(rows) ? list.written(rows) : undefined;
  if (bytes !== undefined) return { kind: 'rows', bytes, rows };
  const texts = list.textsOf(rows);
  return texts && { kind: 'scores', rows, texts };
}

/** Whether they may be passed on as they came. */
function isBestFirst(rows: UpstreamRanking['rows']): boolean {
  let previous = Infinity;
  for (const { score = Infinity } of rows) {
    if (score > previous) return false;
    previous = score;
  }
  return true;
}

/** A reply to one of several calls, judged but not yet decoded. */
export type JudgedReply =
  | { readonly kind: 'reply'; readonly json: Json; readonly reply: UpstreamReply }
  | Extract<ReplyReading, { kind: 'failure' }>;

/** Judges a reply by its status, the provider's own codes, and whether it is JSON at all. */
export function judgeReply(
  provider: Pick<HttpProvider, 'fault'>,
  raw: RawReply,
  nowMs: number,
): JudgedReply {
  const { json } = parse(raw);
  const reply = new ReadReply(raw, json);
  const kind = provider.fault?.(reply) ?? genericFault(reply);
  if (kind !== undefined) return failure(kind, reply, nowMs);
  return json === undefined ? failure('invalid', reply, nowMs) : { kind: 'reply', json, reply };
}

/** A reply and its parsed body. */
class ReadReply implements UpstreamReply {
  readonly status: number;
  readonly headers: UpstreamReply['headers'];
  readonly json: Json | undefined;
  readonly #raw: RawReply;

  constructor(raw: RawReply, json: Json | undefined) {
    this.status = raw.status;
    this.headers = raw.headers;
    this.json = json;
    this.#raw = raw;
  }

  get text(): string {
    return this.#raw.text;
  }
}

function failure(
  kind: FaultKind,
  reply: UpstreamReply,
  nowMs: number,
): Extract<ReplyReading, { kind: 'failure' }> {
  return {
    kind: 'failure',
    failure: {
      kind,
      status: reply.status,
      message: readErrorMessage(reply),
      retryAfterMs: parseRetryAfter(reply.headers, nowMs),
    },
  };
}

/** Messages of servers that refuse overlong input with any status, 500 included. */
const TOO_LONG =
  /too large to process|exceeds the available context size|maximum context length|must have less than|exceeds maximum allowed token size|maximum (input|sequence) length/i;

function genericFault(reply: UpstreamReply): FaultKind | undefined {
  const { status, json } = reply;
  if (status < 200 || status > 299) return refusedFault(reply);
  // 202 means that a job was accepted, 204 that there is no content: neither is a ranking.
  if (status !== 200 && status !== 201) return 'invalid';
  if (json === undefined) return undefined;
  const hasError = json.maybe('error').isPresent() || json.maybe('object').value === 'error';
  if (hasError && TOO_LONG.test(readErrorMessage(reply))) return 'limit';
  return hasError || !(json.isObject() || json.isArray()) ? 'invalid' : undefined;
}

function refusedFault(reply: UpstreamReply): FaultKind | undefined {
  const kind = faultOfStatus(reply.status);
  const judgesInput = kind === 'rejected' || kind === 'limit' || kind === 'transient';
  return judgesInput && TOO_LONG.test(readErrorMessage(reply)) ? 'limit' : kind;
}

/** Nothing that a ranking needs is nested deeper. */
const MAX_DEPTH = 64;
/** Values outside the rows. */
const MAX_VALUES = 20_000;
/** Values of a row: some servers return its document, which may be an object. */
const MAX_VALUES_PER_ROW = 100;

/** How much of a large text in an error is searched: more than a message has. */
export const MESSAGE_BYTES = 8_192;

interface ParsedReply {
  /** `undefined` if the body is not JSON, or is too large for what it should be. */
  readonly json: Json | undefined;
  /** The list of rows in it, if their numbers were read as bytes. */
  readonly rows: NumberRows | undefined;
}

/** @param count how many documents it ranks; absent if it is one of several replies, none with rows. */
function parse(raw: RawReply, count?: number): ParsedReply {
  const values = count === undefined ? Infinity : MAX_VALUES + count * MAX_VALUES_PER_ROW;
  const bytes = raw.bytes ?? Buffer.from(raw.text);
  const read = readRows(bytes, count ?? 0, { depth: MAX_DEPTH, values });
  return { json: read && new Json(read.value), rows: read?.rows };
}

const MAX_MESSAGE_CHARACTERS = 300;
/** The rest of a longer page that is not JSON is not searched for its message. */
const MAX_PAGE_CHARACTERS = 4_096;
/** How deeply nested lists are searched for a message. */
const MAX_NESTING = 8;
/** How many entries of a list of mistakes are put into words. */
const MAX_DETAILS = 10;

/**
 * The human-readable sentence of an error reply, wherever the provider puts it; empty if there is none. Validation errors
 * echo whole requests, so the text is shortened, and addresses and anything that looks like a credential are removed.
 */
export function readErrorMessage({ json, text }: Pick<UpstreamReply, 'json' | 'text'>): string {
  if (json !== undefined) return cleanMessage(findMessage(json) ?? '');
  return BROKEN_JSON.test(text) ? '' : cleanMessage(withoutTags(text));
}

/** JSON that is cut off or malformed is not a sentence, and may hold documents, which must not be logged. */
const BROKEN_JSON = /^\s*[[{]\s*["[{]/;

function findMessage(json: Json, nesting = 0): string | undefined {
  if (typeof json.value === 'string') return json.value;
  if (json.isArray()) {
    const first = json.first();
    const hasMore = first.value !== undefined && nesting < MAX_NESTING;
    return hasMore ? findMessage(first, nesting + 1) : undefined;
  }
  const error = json.maybe('error');
  const response = json.maybe('Response').maybe('Error');
  return (
    error.maybe('message').optionalString() ??
    error.maybe('reason').optionalString() ??
    json.maybe('error_description').optionalString() ??
    // Before an `error` that is a string: next to a sentence it merely names the status.
    json.firstOf('message', 'Message', 'error_msg', 'errorMessage').optionalString() ??
    error.optionalString() ??
    response.maybe('Message').optionalString() ??
    json.maybe('ResponseMetadata').maybe('Error').maybe('Message').optionalString() ??
    detailMessage(json.maybe('detail')) ??
    firstMessage(json.maybe('errors')) ??
    json.firstOf('title', 'reason').optionalString()
  );
}

function detailMessage(detail: Json): string | undefined {
  if (detail.isArray()) {
    const messages = detail
      .array()
      .slice(0, MAX_DETAILS)
      .map((_value, index) => {
        const entry = detail.item(index);
        const place = entry.maybe('loc').isArray() ? entry.maybe('loc').array().join('.') : '';
        const text = entry.maybe('msg').optionalString() ?? '';
        return place === '' ? text : `${place}: ${text}`;
      });
    return messages.filter((text) => text !== '').join('; ') || undefined;
  }
  return detail.optionalString() ?? detail.firstOf('error', 'message').optionalString();
}

function firstMessage(errors: Json): string | undefined {
  if (!errors.isArray() || errors.array().length === 0) return undefined;
  return errors.item(0).firstOf('message', 'msg').optionalString();
}

function withoutTags(text: string): string {
  return text
    .slice(0, MAX_PAGE_CHARACTERS)
    .replace(/<(script|style)\b[\s\S]*?(<\/\1>|$)/gi, ' ')
    .replace(/<[^<>]*>/g, ' ');
}

/** Times of day have colons too. */
function hideIpv6(text: string): string {
  return text.includes('::') || text.split(':').length >= 8 ? '[address]' : text;
}

/** Text fit to be shown to a caller: one line, no addresses, nothing that looks like a key, at most 300 characters. */
export function cleanMessage(text: string): string {
  const line = text
    .slice(0, MAX_MESSAGE_CHARACTERS * 4)
    .replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, '[address]')
    .replace(/\b\d{1,3}(\.\d{1,3}){3}(:\d+)?\b/g, '[address]')
    .replace(/\[?(?<![\w:])(?:[\da-f]{0,4}:){2,7}[\da-f]{0,4}(?!\w)(\](:\d+)?)?/gi, hideIpv6)
    .replace(/\b(?:[a-z\d-]+\.)+[a-z][a-z\d-]*:\d{2,5}\b/gi, '[address]')
    .replace(/\b[a-z][a-z\d-]*\d:\d{4,5}\b/gi, '[address]')
    .replace(/\b(?:[a-z0-9-]+\.)+(?:internal|local|svc|cluster|lan|corp)\b(:\d+)?/gi, '[address]')
    .replace(/\b((?:bearer|basic)\s+)[\w.~+/=-]{6,}/gi, '$1[secret]')
    .replace(/\b((?:password|passwd|secret|token|api[_ -]?key)=)\S+/gi, '$1[secret]')
    .replace(/\b(?:AIza|AKIA|hf_|gsk_|xai-|ghp_)[A-Za-z0-9_-]{6,}/g, '[secret]')
    .replace(/\b(?:sk|pk|pa|al|fw|jina|nvapi|key)[-_][A-Za-z0-9_*.-]{6,}/g, '[secret]')
    .replace(/\b[A-Za-z0-9_-]{32,}\b/g, '[secret]')
    .replace(/\s+/g, ' ')
    .trim();
  return line.length > MAX_MESSAGE_CHARACTERS
    ? `${line.slice(0, MAX_MESSAGE_CHARACTERS - 1).trimEnd()}…`
    : line;
}
