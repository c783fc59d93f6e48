import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import type { Channel } from '../core/channel.js';
import { snakeCase, snakeKeys } from '../core/records.js';
import { Secret } from '../core/secret.js';
import { findProvider } from '../providers/index.js';
import { sealSettings } from '../providers/settings.js';
import { membersShown, type Shown } from './changes.js';

/** A channel whose possible secrets count among its credentials; older releases stored them elsewhere. */
export function kept(channel: Channel): Channel {
  const provider = findProvider(channel.provider);
  const { settings, credentials } = channel;
  return {
    ...channel,
    ...sealSettings(provider, settings, credentials, (text) =>
      text === null ? undefined : new Secret(text),
    ),
  };
}

/** Values of credentials are not part of it, nor of settings that count as such. */
export function channelShown(channel: Channel): Shown {
  const { name, provider, baseUrl, models, tag, status, settings, credentials } = kept(channel);
  return {
    ...{ name, provider, base_url: baseUrl, models, tag, status },
    ...membersShown(Object.keys(CHANNEL_MEMBERS), channel),
    settings: snakeKeys(settings),
    credential_names: Object.keys(credentials).map(snakeCase).sort(),
  };
}
