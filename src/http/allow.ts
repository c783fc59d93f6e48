import type { Request } from 'express';
import { GatewayError } from '../core/errors.js';

/** Answers every other method of a path that exists. */
export function allow(methods: string): (req: Request) => never {
  return (req) => {
    throw new GatewayError(
      'method_not_allowed',
      `${req.method} is not allowed on this path; use ${methods}.`,
      { headers: { Allow: methods } },
    );
  };
}
