import { isAscii } from 'node:buffer';
import { Json, JsonShapeError } from '../core/json/json.js';
import { parseAroundRows, type RowForm } from '../core/json/rows.js';
import { excessOf } from '../core/json/scan.js';
import type { UpstreamRanking, WrittenRows } from '../core/rerank.js';
import {
  faultOfStatus,
  parseRetryAfter,
  type FaultKind,
  type UpstreamFailure,
} from '../core/retry.js';
import type { HttpProvider, SettingValue, UpstreamCall, UpstreamReply } from './provider.js';

/** What came back, before anybody has looked into it. Header names are in lower case. */
export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body. */
  readonly text: string;
  /** The same as bytes, where it came as such. */
  readonly bytes?: Buffer;
}

/** Rows as the contract writes them. */
const WRITTEN: RowForm = {
  around: ['{"index":', ',"relevance_score":', '}'].map((text) => Buffer.from(text)),
  whole: [true, false],
};

export interface RankingReading {
  readonly kind: 'ranking';
  readonly ranking: UpstreamRanking;
  /** The list as the upstream wrote it, where it writes as we do: a reply that has the same rows need not write them anew. */
  readonly written?: WrittenRows;
  /** Where there are more rows to fetch. */
  readonly nextPage?: string;
}

export type ReplyReading =
  | RankingReading
  | {
      readonly kind: 'failure';
      readonly failure: UpstreamFailure;
      /** Where the same call is worth sending once more: the settings to send it with. */
      readonly otherForm?: Readonly<Record<string, SettingValue>>;
    };

/**
 * Reads a reply in a provider's dialect. A 2xx reply is a success only when it decodes and carries no error inside;
 * everything else is a failure of a known kind, with the upstream's own words shortened and without addresses.
 */
export function readReply(
  provider: HttpProvider,
  call: UpstreamCall,
  raw: RawReply,
  nowMs: number,
): ReplyReading {
  const { count } = call.documents;
  // What has other characters has strings that matter, and is left to the plain parser.
  const plain = raw.bytes !== undefined && isAscii(raw.bytes) ? raw.bytes : undefined;
  const parsed = plain === undefined ? undefined : parseAroundRows(plain, count);
  const json = parsed === undefined ? parse(raw, count) : new Json(parsed.value);
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
    const bytes = parsed?.rows.writtenAs(WRITTEN);
    if (parsed === undefined || bytes === undefined) return { kind: 'ranking', ranking };
    return { kind: 'ranking', ranking, written: { bytes, values: parsed.rows.values } };
  } catch (error) {
    if (!(error instanceof JsonShapeError)) throw error;
    return {
      kind: 'failure',
      failure: { kind: 'invalid', status: raw.status, message: error.message },
    };
  }
}

/** A reply of one of several calls, before anybody has looked for what it is to say. */
export type JudgedReply =
  | { readonly kind: 'reply'; readonly json: Json; readonly reply: UpstreamReply }
  | Extract<ReplyReading, { kind: 'failure' }>;

/** Judges a reply by its status, the provider's own codes, and whether it is JSON at all. */
export function judgeReply(
  provider: Pick<HttpProvider, 'fault'>,
  raw: RawReply,
  mostRows: number,
  nowMs: number,
): JudgedReply {
  const json = parse(raw, mostRows);
  const reply = new ReadReply(raw, json);
  const kind = provider.fault?.(reply) ?? genericFault(reply);
  if (kind !== undefined) return failure(kind, reply, nowMs);
  return json === undefined ? failure('invalid', reply, nowMs) : { kind: 'reply', json, reply };
}

/** A reply with what was parsed of it. */
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

/** Messages of servers that answer an over-long input with any status, 500 included. */
const TOO_LONG =
  /too large to process|exceeds the available context size|maximum context length|must have less than|exceeds maximum allowed token size|maximum (input|sequence) length/i;

function genericFault(reply: UpstreamReply): FaultKind | undefined {
  const { status, json } = reply;
  if (status < 200 || status > 299) {
    const kind = faultOfStatus(status);
    const judgesInput = kind === 'rejected' || kind === 'limit' || kind === 'transient';
    return judgesInput && TOO_LONG.test(readErrorMessage(reply)) ? 'limit' : kind;
  }
  // 202 is a job accepted, 204 is nothing: neither is a ranking.
  if (status !== 200 && status !== 201) return 'invalid';
  if (json === undefined) return undefined;
  const hasError = json.maybe('error').isPresent() || json.maybe('object').value === 'error';
  if (hasError && TOO_LONG.test(readErrorMessage(reply))) return 'limit';
  return hasError || !(json.isObject() || json.isArray()) ? 'invalid' : undefined;
}

/** Replies up to this size are parsed whatever they hold. */
const LIGHT_BYTES = 65_536;
/** Nothing that a ranking needs lies deeper. */
const MAX_DEPTH = 64;
/** Values beside the rows. */
const MAX_VALUES = 20_000;
/** Values of a row: some servers send its document back, which may be an object. */
const MAX_VALUES_PER_ROW = 100;

/** `undefined` for what is no JSON, or so much of it that no ranking of `count` documents can be meant. */
function parse(raw: RawReply, count: number): Json | undefined {
  const { bytes } = raw;
  if (bytes !== undefined && bytes.length > LIGHT_BYTES) {
    const limits = { depth: MAX_DEPTH, values: MAX_VALUES + count * MAX_VALUES_PER_ROW };
    if (excessOf(bytes, limits) !== undefined) return undefined;
  }
  const trimmed = raw.text.trim();
  if (trimmed === '') return undefined;
  try {
    return new Json(JSON.parse(trimmed.startsWith('\uFEFF') ? trimmed.slice(1) : trimmed));
  } catch {
    // HTML, plain text, a body cut off, a bare NaN: no JSON, which the caller of this function judges.
    return undefined;
  }
}

const MAX_MESSAGE_CHARACTERS = 300;
/** More of a page that is no JSON is not searched for its sentence. */
const MAX_PAGE_CHARACTERS = 4_096;
/** Lists inside lists that are looked through for a message. */
const MAX_NESTING = 8;
/** Entries of a list of mistakes that are put into words. */
const MAX_DETAILS = 10;

/**
 * The human sentence of an error reply, wherever the provider puts it; empty where there is none. Validation errors echo
 * whole requests, so the text is shortened, and addresses and what looks like a credential are taken out.
 */
export function readErrorMessage(reply: Pick<UpstreamReply, 'json' | 'text'>): string {
  return cleanMessage(
    reply.json === undefined ? withoutTags(reply.text) : (findMessage(reply.json) ?? ''),
  );
}

function findMessage(json: Json, nesting = 0): string | undefined {
  if (typeof json.value === 'string') return json.value;
  if (json.isArray()) {
    const hasMore = json.array().length > 0 && nesting < MAX_NESTING;
    return hasMore ? findMessage(json.item(0), nesting + 1) : undefined;
  }
  const error = json.maybe('error');
  const response = json.maybe('Response').maybe('Error');
  return (
    error.maybe('message').optionalString() ??
    error.maybe('reason').optionalString() ??
    json.maybe('error_description').optionalString() ??
    // Before an `error` that is a string: beside a sentence it is the mere name of the status.
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

/** Text that may be shown to a caller: one line, no addresses, nothing that looks like a key, at most 300 characters. */
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
