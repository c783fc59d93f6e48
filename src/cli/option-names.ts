import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import { ACCOUNT_MEMBERS } from '../core/labels.js';
import { own, snakeCase } from '../core/records.js';
import { TOKEN_MEMBERS } from '../core/token-members.js';

/** What sets a member of the API at the command line. */
const OPTIONS: Readonly<Record<string, string>> = {
  add_quota: '--add-quota',
  allow_ips: '--ips',
  api_key: '--api-key',
  base_url: '--base-url',
  batch_id: '--batch',
  channel_id: '--channel',
  default_model: '--default-model',
  display_name: '--display-name',
  document_count: '--documents',
  end_timestamp: '--until',
  expired_time: '--expires',
  expires_before: '--expires-before',
  keep_old_s: '--keep-old',
  min_duration_ms: '--slower',
  model_limits: '--models',
  new_tag: 'the new name',
  page_size: '--limit',
  remain_quota: '--quota',
  start_timestamp: '--since',
  time_zone: '--time-zone',
  token_id: '--key',
  unlimited_quota: '--unlimited',
  unused_since: '--unused-since',
  user_id: '--user',
  ...Object.fromEntries(
    Object.entries({ ...CHANNEL_MEMBERS, ...TOKEN_MEMBERS, ...ACCOUNT_MEMBERS })
      .map(([name, { flag }]) => [snakeCase(name), `--${flag.replace(/ .*/, '')}`] as const)
      // A word that is not a name of the API alone stays.
      .filter(([name]) => name.includes('_')),
  ),
};

/** A message of the API in the words of the command line: options in place of the names of members. */
export function inOptions(message: string): string {
  return message
    .replace(/\bcredentials\.(\w+)/g, (_, name: string) =>
      name === 'api_key' ? '--api-key' : `--credential ${kebab(name)}`,
    )
    .replace(/\bsettings\.(\w+)/g, (_, name: string) => `--setting ${kebab(name)}`)
    .replace(/\bit knows [^;.]+/g, kebab)
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => own(OPTIONS, name) ?? name);
}

function kebab(name: string): string {
  return name.replaceAll('_', '-');
}
