/** The name of the cookie that holds the secret of a login. */
export const SESSION_COOKIE = 'rerank_session';

/** The value of a cookie in the header that a browser sends. */
export function cookieNamed(name: string, header = ''): string | undefined {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=');
    if (at >= 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

/** The cookie of a login. It lasts as long as the browser keeps it, and never longer than the login in the store. */
export function sessionCookieHeader(secret: string, secure: boolean, maxAgeMs: number): string {
  const attributes = [
    `${SESSION_COOKIE}=${secret}`,
    'Path=/',
    `Max-Age=${Math.floor(maxAgeMs / 1000)}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(secure ? ['Secure'] : []),
  ];
  return attributes.join('; ');
}
