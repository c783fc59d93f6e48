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
# The store has none of channels that a configuration file declares: take theirs from that file.
# A channel of the store takes precedence over one of the same name here: delete it there once this file is in use.
`;

/** Channels, switches and prices as a configuration file; members that have their default are left out. */
export function channelFile({ channels, tags, prices }: Exported): string {
  const off = tags.filter(({ disabled }) => disabled);
  const taken = new Set<string>();
  const file = {
    prices: {
      default: filePrice(prices.default),
      models: Object.fromEntries(
        Object.entries(prices.models).map(([model, price]) => [model, filePrice(price)]),
      ),
    },
    ...(off.length > 0 && {
      tags: literally(
        off.map(({ tag, reason }) => ({ tag, disabled: true, ...(reason && { reason }) })),
      ),
    }),
    channels: channels.map((channel) => fileChannel(channel, prefixOf(channel, taken))),
  };
  return HEAD + stringify(file, { lineWidth: 0 });
}

function filePrice({ per, units }: PriceWire): Record<string, number> {
  return { [`per_${per}`]: units };
}

function fileChannel(channel: ChannelWire, prefix: string): Record<string, unknown> {
  const { name, provider, base_url: baseUrl, models, tag, status, settings } = channel;
  const isPlain = Object.entries(models).every(([theirs, ours]) => theirs === ours);
  return {
    ...literally({ name, provider, ...(baseUrl !== null && { base_url: baseUrl }) }),
    ...credentialMembers(channel, prefix),
    ...literally({
      models: isPlain ? Object.keys(models) : models,
      ...(tag !== null && { tag }),
      ...(status === CHANNEL_DISABLED && { enabled: false }),
      ...(Object.keys(settings).length > 0 && { settings }),
      ...otherMembers(channel),
    }),
  };
}

/** Values in which a file would read the name of a variable, written so that it does not. */
function literally<T extends object>(values: T): T {
  const written = JSON.stringify(values);
  return JSON.parse(written, (_name, value: unknown) =>
    typeof value === 'string' ? value.split('${').join('$${') : value,
  ) as T;
}

/** How the variables of a channel begin: with its name, or its id where nothing is left of the name or another has it. */
function prefixOf({ id, name }: ChannelWire, taken: Set<string>): string {
  const plain = `${name}_`
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^(?=\d)/, '_');
  const prefix = plain === '_' || taken.has(plain) ? `CHANNEL_${id}_` : plain;
  taken.add(prefix);
  return prefix;
}

/** Variables in the place of credentials, numbered where there are several keys. */
function credentialMembers(
  { credential_names: names, key_count: keys }: ChannelWire,
  prefix: string,
): object {
  const place = (credential: string): string => `\${${prefix}${credential.toUpperCase()}}`;
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
