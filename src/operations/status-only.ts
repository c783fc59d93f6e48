import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import { optional, shape, type Of } from '../shapes/shape.js';

/** Clients switch things on and off by sending whole objects, and mean only the status. */
export const STATUS_ONLY_QUERY = shape({
  status_only: optional(
    Joi.string()
      .allow('')
      .max(16)
      .description('Any text but "false" and "0": change the status alone.'),
  ),
});

/** Whether a change concerns only the status; refused if it names none. */
export function isStatusOnly(
  { status_only: flag = '' }: Of<typeof STATUS_ONLY_QUERY>,
  { status }: { readonly status?: number },
): boolean {
  if (flag === '' || flag === 'false' || flag === '0') return false;
  if (status !== undefined) return true;
  throw new GatewayError('invalid_request', 'status is required with status_only.', {
    param: 'status',
  });
}
