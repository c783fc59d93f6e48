import type { Channel } from '../core/channel.js';
import { Secret } from '../core/secret.js';
import { findProvider } from '../providers/index.js';
import { sealSettings } from '../providers/settings.js';

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
