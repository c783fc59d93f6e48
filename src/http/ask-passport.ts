import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticator } from 'passport';

/** Asks one of passport's strategies who sent a request: resolves to what it found, `undefined` if it refuses. */
export function askPassport<T>(
  passport: Pick<Authenticator, 'authenticate'>,
  strategy: string,
  req: Pick<IncomingMessage, 'headers'>,
  res?: ServerResponse,
): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null | undefined, found?: T | false | null): void => {
      if (error !== null && error !== undefined) reject(error);
      else resolve(found === false || found === null ? undefined : found);
    };
    const ask = passport.authenticate(strategy, { session: false }, done) as (
      req: Pick<IncomingMessage, 'headers'>,
      res: ServerResponse | undefined,
      next: (error?: Error) => void,
    ) => void;
    ask(req, res, done);
  });
}
