/** The name of the cookie that holds the secret of a login. */
export const SESSION_COOKIE = 'rerank_session';

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
