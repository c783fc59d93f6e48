import { TextDecoder } from 'node:util';
import { GatewayError } from '../core/errors.js';

/** A larger body is not decoded, which would hold up everybody else. */
const MOST_BYTES = 4_194_304;

/** A body in another charset as UTF-8. */
export function recoded(body: Buffer, charset: string): Buffer {
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(charset, { fatal: true });
  } catch (error) {
    throw new GatewayError(
      'unsupported_media_type',
      'The charset of the body is not supported: send UTF-8.',
      { cause: error },
    );
  }
  if (body.length > MOST_BYTES) {
    throw new GatewayError(
      'payload_too_large',
      `The body is larger than ${MOST_BYTES} bytes, the limit for one in ${charset}: send UTF-8.`,
    );
  }
  try {
    return Buffer.from(decoder.decode(body));
  } catch (error) {
    throw new GatewayError('invalid_json', 'The body is not valid in its charset.', {
      cause: error,
    });
  }
}
