import { existsSync } from 'node:fs';
import Joi from 'joi';
import { GatewayError } from '../core/errors.js';
import {
  AMBIGUOUS_RANGE,
  isAddressOrRange,
  isAmbiguousRange,
  urlMistake,
} from '../management/addresses.js';
import { checkPassword } from '../management/password-rules.js';
import { parseRedisUrl, RedisUrlError } from '../store/redis/url.js';

/** The longest that a timer can be set for. */
export const MAX_TIMER_MS = 2_147_483_647;

export const text = (): Joi.StringSchema => Joi.string().trim().min(1).max(1_000);

export function checkWebhookUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  const isWeb = URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
  return isWeb ? value : helpers.message({ custom: 'must be a URL with http:// or https://' });
}

export function checkBaseUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  const mistake = urlMistake(value);
  return mistake === undefined ? value.replace(/\/+$/, '') : helpers.message({ custom: mistake });
}

export function checkKeys(value: string, helpers: Joi.CustomHelpers): unknown {
  const entries = value.split(',').map((entry) => /^\s*([\w-]{1,32}):\S{8,}\s*$/.exec(entry)?.[1]);
  return entries.includes(undefined) || new Set(entries).size < entries.length
    ? helpers.message({
        custom:
          'must be keys with ids, separated by commas, such as 2026b:<key>,2026a:<key>, each at least 8 characters without spaces, and no id twice',
      })
    : value;
}

/** Checked like any password, so that the first start never fails because of it. */
export function checkRootPassword(value: string, helpers: Joi.CustomHelpers): unknown {
  try {
    const { username } = (helpers.state.ancestors as [{ readonly username?: unknown }])[0];
    checkPassword(value, ['root', typeof username === 'string' ? username : undefined], 'it');
    return value;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return helpers.message({ custom: error.message.replace(/^it /, '').replace(/\.$/, '') });
  }
}

export function checkRange(value: string, helpers: Joi.CustomHelpers): unknown {
  if (isAddressOrRange(value)) return value;
  return helpers.message({
    custom: isAmbiguousRange(value)
      ? AMBIGUOUS_RANGE
      : 'must be an address or a range such as 10.0.0.0/8',
  });
}

export function checkRedisUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  try {
    parseRedisUrl(value);
    return value;
  } catch (error) {
    if (!(error instanceof RedisUrlError)) throw error;
    return helpers.message({ custom: error.mistake });
  }
}

export function checkFolder(value: string, helpers: Joi.CustomHelpers): unknown {
  return existsSync(value) ? value : helpers.message({ custom: 'must be a folder that exists' });
}

export function checkSmtpUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  return /^smtps?:\/\/[^\s/]/.test(value) && URL.canParse(value)
    ? value
    : helpers.message({ custom: 'must begin with smtp:// or smtps:// and name a server' });
}
