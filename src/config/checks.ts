import { existsSync, statSync } from 'node:fs';
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

/** Signs what a webhook gets. A prefix that other text follows would leave a key that everybody can guess. */
export const webhookSecret = (): Joi.StringSchema =>
  Joi.string()
    .min(8)
    .pattern(/^(?!whsec_)|^whsec_[\w+/-]{8,}={0,2}$/)
    .messages({ 'string.pattern.base': 'must be base64 after whsec_, of at least 8 characters' });

/** A header that a proxy sets; none that has a meaning of its own. */
export const headerName = (): Joi.StringSchema =>
  text()
    .lowercase()
    .pattern(/^[a-z0-9-]{1,64}$/)
    .invalid('authorization', 'cookie', 'host', 'origin')
    .messages({ 'string.pattern.base': 'must be the name of a header, such as Remote-User' });

/** Codes and tokens cross the network: without TLS only to a provider on this machine. */
export function checkIssuer(value: string, helpers: Joi.CustomHelpers): unknown {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'https:') return value;
  if (url?.protocol === 'http:' && LOOPBACK_HOST.test(url.hostname)) return value;
  return helpers.message({ custom: 'must begin with https:// (http:// only for this machine)' });
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export function checkOtlpHeaders(value: string, helpers: Joi.CustomHelpers): unknown {
  const isWhole = value
    .split(',')
    .every((pair) => /^\s*[\w.-]+=(?:[^%\s]|%[0-9a-fA-F]{2})*\s*$/.test(pair));
  return isWhole ? value : helpers.message({ custom: 'must be name=value, separated by commas' });
}

export function checkBaseUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  const mistake = urlMistake(value);
  return mistake === undefined ? value.replace(/\/+$/, '') : helpers.message({ custom: mistake });
}

export function checkKeys(value: string, helpers: Joi.CustomHelpers): unknown {
  const entries = value
    .split(',')
    .map((entry) => /^\s*([\w-]{1,32}):\s*\S.{6,}\S\s*$/.exec(entry)?.[1]);
  return entries.includes(undefined) || new Set(entries).size < entries.length
    ? helpers.message({
        custom:
          'must be keys with ids, separated by commas, such as 2026b:<key>,2026a:<key>, each at least 8 characters without commas, and no id twice',
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
  return existsSync(value) && !isFile(value)
    ? value
    : helpers.message({ custom: 'must be a folder that exists' });
}

/** For folders that the gateway makes if they are missing. */
export function checkNoFile(value: string, helpers: Joi.CustomHelpers): unknown {
  return existsSync(value) && isFile(value)
    ? helpers.message({ custom: 'must be a folder; this is a file' })
    : value;
}

function isFile(path: string): boolean {
  return !statSync(path).isDirectory();
}

export function checkSmtpUrl(value: string, helpers: Joi.CustomHelpers): unknown {
  return /^smtps?:\/\/[^\s/]/.test(value) && URL.canParse(value)
    ? value
    : helpers.message({ custom: 'must begin with smtp:// or smtps:// and name a server' });
}
