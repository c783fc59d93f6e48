import type { ErrorShape, Problem } from './wire.js';

/** Error bodies that several providers share, by what they look like. */

/** `{"detail": "…"}` */
export const detailText: ErrorShape = ({ status, message }) => ({
  status,
  json: { detail: message },
});

/** FastAPI's list for 422, which echoes no input here, and a text for all else. */
export const detailList: ErrorShape = (problem) =>
  problem.status === 422
    ? {
        status: 422,
        json: { detail: [{ type: typeOf(problem), loc: loc(problem), msg: problem.message }] },
      }
    : detailText(problem);

function loc({ at }: Problem): (string | number)[] {
  const names = at === '' ? [] : at.split('.');
  return ['body', ...names.map((name) => (/^\d+$/.test(name) ? Number(name) : name))];
}

function typeOf({ kind }: Problem): string {
  if (kind === 'too-many') return 'too_long';
  if (kind === 'too-long') return 'string_too_long';
  return kind ?? 'value_error';
}

/** `{"error": {"message", "type", "param", "code"}}`, the code as the given function has it. */
export function errorObject(
  extra: (problem: Problem) => Readonly<Record<string, unknown>> = ({ status }) => ({
    type: 'invalid_request_error',
    param: null,
    code: status,
  }),
): ErrorShape {
  return (problem) => ({
    status: problem.status,
    json: { error: { message: problem.message, ...extra(problem) } },
  });
}

/** `{"error": "…"}` */
export const errorText: ErrorShape = ({ status, message }) => ({
  status,
  json: { error: message },
});

export const plain: ErrorShape = ({ status, message }) => ({ status, text: message });

/** The usual list of errors of a hosted provider whose error bodies the documents do not tell apart. */
export const USUAL_ERRORS = {
  unauthorized: { status: 401, message: 'invalid api key' },
  'no-balance': { status: 402, message: 'insufficient balance' },
  'unknown-model': { status: 404, message: 'model not found' },
  'rate-limit': { status: 429, message: 'rate limit exceeded' },
  internal: { status: 500, message: 'internal server error' },
  overloaded: { status: 503, message: 'service overloaded' },
} as const;
