import { systemCode } from '../../core/errors.js';
import { ForbiddenAddressError } from './connector.js';
import { TransportError, type Resend } from './transport.js';

/**
 * An error of the client as what it means for the request. `written`: whether any of that may have left. What may be sent again
 * had a connection.
 */
export function asTransportError(error: Error, written: boolean, resend: Resend): TransportError {
  const code = systemCode(error) ?? '';
  if (error instanceof ForbiddenAddressError) {
    return new TransportError('forbidden', error.message, undefined, error);
  }
  if (!written && resend === undefined) {
    return new TransportError('connect', `no connection (${code || error.name})`, undefined, error);
  }
  // Its parser's errors have no code. A chunked reply that ends too soon is a broken connection.
  const isOfParser = error.name === 'HTTPParserError' && !error.message.includes('EOF');
  if (isOfParser || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    const message = `the reply is not valid HTTP (${code || error.name})`;
    return new TransportError('unreadable', message, undefined, error);
  }
  return new TransportError('reset', `the connection broke (${code || error.name})`, resend, error);
}
