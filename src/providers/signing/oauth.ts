import type { Json } from '../../core/json.js';
import type { TokenRequest, TokenSource } from '../provider.js';

/** A POST of form fields to a token endpoint. */
export function formRequest(url: string, fields: Readonly<Record<string, string>>): TokenRequest {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(fields).toString(),
  };
}

/** Reads OAuth's own reply: `access_token`, and `expires_in` in seconds. */
export function readAccessToken(reply: Json, nowMs: number): ReturnType<TokenSource['read']> {
  return {
    token: reply.field('access_token').string(),
    expiresAtMs: nowMs + reply.field('expires_in').numeric() * 1000,
  };
}
