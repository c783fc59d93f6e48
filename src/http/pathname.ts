import type { IncomingMessage } from 'node:http';

/** The path of a request, as received. */
export function pathnameOf(req: IncomingMessage): string {
  const url = req.url ?? '/';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}
