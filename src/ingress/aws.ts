import type { ErrorCode, GatewayError } from '../core/errors.js';
import type { IngressError } from './dialect.js';
import type { RequestHeaders } from './read.js';

/** The exceptions that AWS's clients know, by error code; with a status if AWS uses another. */
const EXCEPTIONS: Readonly<Partial<Record<ErrorCode, readonly [name: string, status?: number]>>> = {
  missing_api_key: ['AccessDeniedException', 403],
  invalid_api_key: ['UnrecognizedClientException', 403],
  invalid_signature: ['InvalidSignatureException'],
  token_expired: ['ExpiredTokenException', 403],
  token_disabled: ['AccessDeniedException', 403],
  unauthorized: ['AccessDeniedException', 403],
  insufficient_user_quota: ['ServiceQuotaExceededException', 400],
  token_quota_exhausted: ['ServiceQuotaExceededException', 400],
  token_budget_exhausted: ['ServiceQuotaExceededException', 400],
  user_budget_exhausted: ['ServiceQuotaExceededException', 400],
  model_not_found: ['ResourceNotFoundException'],
  not_found: ['ResourceNotFoundException'],
  conflict: ['ConflictException'],
  request_timeout: ['ModelTimeoutException'],
  payload_too_large: ['ValidationException', 400],
  too_many_documents: ['ValidationException', 400],
  unsupported_media_type: ['ValidationException', 400],
  rate_limited: ['ThrottlingException'],
  too_many_concurrent_requests: ['ThrottlingException'],
  internal_error: ['InternalServerException'],
  upstream_error: ['BadGatewayException'],
  upstream_invalid_response: ['BadGatewayException'],
  upstream_timeout: ['BadGatewayException', 502],
  no_channel_available: ['ServiceUnavailableException'],
  overloaded: ['ServiceUnavailableException'],
  store_unavailable: ['ServiceUnavailableException'],
};

/** An error as AWS's clients raise it: by the name in a header. */
export function awsError({ code, status, message }: GatewayError): IngressError {
  const [name, own] =
    EXCEPTIONS[code] ?? (status === 403 ? ['AccessDeniedException'] : ['ValidationException', 400]);
  return {
    body: JSON.stringify({ message }),
    status: own ?? status,
    headers: { 'x-amzn-ErrorType': name },
  };
}

export function awsHeaders(requestId: string): Readonly<Record<string, string>> {
  return { 'x-amzn-RequestId': requestId };
}

/** The id of a model that may be given as an ARN. */
export function modelOfArn(name: string): string {
  return name.startsWith('arn:') ? name.slice(name.lastIndexOf('/') + 1) : name;
}

/** Whether a request is signed as AWS's clients sign, or names one of them. */
export function isOfAws({ authorization, 'user-agent': agent }: RequestHeaders): boolean {
  return (
    (typeof authorization === 'string' && authorization.startsWith('AWS4-')) ||
    (typeof agent === 'string' && /aws-sdk|boto3|amazon-bedrock/i.test(agent))
  );
}
