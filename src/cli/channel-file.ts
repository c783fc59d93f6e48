import { stringify } from 'yaml';
import { CHANNEL_MEMBERS } from '../core/channel-members.js';
import { CHANNEL_DISABLED } from '../core/channel.js';
import { snakeCase } from '../core/records.js';
import type { ReplyOf } from '../client/client.js';
import type { ChannelWire } from '../shapes/channel.js';
import type { PriceWire } from '../shapes/price.js';

interface Exported {
  readonly channels: readonly ChannelWire[];
  readonly tags: readonly {
    readonly tag: string;
    readonly disabled: boolean;
    readonly reason: string | null;
  }[];
  readonly prices: ReplyOf<'listPrices'>;
}

const HEAD = `# Written by "rerank-gateway channels export". Credentials are not in it: set the variables that it names.
# A channel of the store takes precedence over one of the same name here: delete it there once this file is in use.
`;

/** Channels, switches and prices as a configuration file; members that have their default are left out. */
export function channelFile({ channels, tags, prices }: Exported): string {
  const off = tags.filter(({ disabled }) => disabled);
  const file = {
    prices: {
      default: filePrice(prices.default),
      models: Object.fromEntries(
        Object.entries(prices.models).map(([model, price]) => [model, filePrice(price)]),
      ),
    },
    ...(off.length > 0 && {
      tags: off.map(({ tag, reason }) => ({ tag, disabled: true, ...(reason && { reason }) })),
    }),
    channels: channels.map(fileChannel),
  };
  return HEAD + stringify(file, { lineWidth: 0 });
}

function filePrice({ per, units }: PriceWire): Record<string, number> {
  return { [`per_${per}`]: units };
}

function fileChannel(channel: ChannelWire): Record<string, unknown> {
  const { name, provider, base_url: baseUrl, models, tag, status, settings } = channel;
  const isPlain = Object.entries(models).every(([theirs, ours]) => theirs === ours);
  return {
    ...{ name, provider },
    ...(baseUrl !== null && { base_url: baseUrl }),
    ...credentialMembers(channel),
    models: isPlain ? Object.keys(models) : models,
    ...(tag !== null && { tag }),
    ...(status === CHANNEL_DISABLED && { enabled: false }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...otherMembers(channel),
  };
}

/** Variables in the place of credentials: `<CHANNEL>_<CREDENTIAL>`, numbered where there are several keys. */
function credentialMembers({
  name,
  credential_names: names,
  key_count: keys,
}: ChannelWire): object {
  const variable = (credential: string): string =>
    `${name}_${credential}`
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^(?=\d)/, '_');
  const place = (credential: string): string => `\${${variable(credential)}}`;
  const others = names.filter((credential) => credential !== 'api_key');
  const count = names.includes('api_key') ? Math.max(1, keys ?? 1) : 0;
  const numbered = Array.from({ length: count }, (_, index) => place(`api_key_${index + 1}`));
  return {
    ...(count === 1 && { api_key: place('api_key') }),
    ...(count > 1 && { api_keys: numbered }),
    ...(others.length > 0 && {
      credentials: Object.fromEntries(others.map((credential) => [credential, place(credential)])),
    }),
  };
}

function otherMembers(channel: ChannelWire): Record<string, unknown> {
  const wire: Readonly<Record<string, unknown>> = { ...channel };
  const members = Object.entries(CHANNEL_MEMBERS).map(
    ([name, spec]) => [snakeCase(name), wire[snakeCase(name)], spec.default ?? null] as const,
  );
  return Object.fromEntries(
    members.filter(([, value, usual]) => value !== usual).map(([name, value]) => [name, value]),
  );
}
