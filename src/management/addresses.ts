import ipaddr from 'ipaddr.js';
import { snakeCase } from '../core/records.js';
import type { Endpoint, Provider, SettingValue } from '../providers/provider.js';
import { defaultSettings, publicAddress } from '../providers/settings.js';

/** Whether a text is an address or a CIDR range, spelled out in full. */
export function isAddressOrRange(text: string): boolean {
  const address = text.replace(/\/.*/, '');
  // The library also accepts "10.1" and octal numbers; a range that decides about access is the wrong place for that.
  const whole = address.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(address);
  const valid = text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text);
  return whole && valid && !isAmbiguousRange(text);
}

/** Whether a range is IPv4 in IPv6 form but covers more than IPv4: the intended callers are unknown. */
export function isAmbiguousRange(text: string): boolean {
  const [address = '', bits] = text.trim().split('/', 2);
  if (bits === undefined || !address.includes(':') || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).kind() === 'ipv4' && Number(bits) < MAPPED_BITS;
}

/** The bits before an IPv4 address in IPv6 form. */
const MAPPED_BITS = 96;

/** What to say about such a range, as the end of a sentence. */
export const AMBIGUOUS_RANGE =
  'is IPv4 in IPv6 form, where the prefix is 96 to 128; write an IPv4 range such as 10.0.0.0/8';

const CONTROLS = /\p{Cc}/u;

/** The mistake in a base URL as written, as the end of a sentence; `undefined` if there is none. */
export function urlMistake(text: string): string | undefined {
  // They would be left out of the address, and shown with it everywhere.
  if (CONTROLS.test(text)) return 'must be one line without control characters';
  if (!URL.canParse(text)) return 'must be a URL such as https://rerank.example.com';
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'must begin with http:// or https://';
  }
  if (url.username !== '' || url.password !== '') {
    return 'must not carry a user or password; put secrets under credentials';
  }
  if (url.search !== '' || url.hash !== '') return 'must end with the path: no "?" and no "#"';
  return undefined;
}

/** The mistake in the address of a channel's requests, as the end of a sentence; `undefined` if there is none. */
export function addressMistake(
  baseUrl: string | undefined,
  provider: Provider,
  settings: Readonly<Record<string, SettingValue>>,
  rules: AddressRules,
): string | undefined {
  if (provider.transport === 'process') {
    if (baseUrl === undefined) return undefined;
    return `is not used: ${provider.id} ranks inside the gateway; leave it out`;
  }
  const address = baseUrl ?? publicAddress(provider, { ...defaultSettings(provider), ...settings });
  if (address === undefined) {
    return `is missing: ${provider.id} has no public address, so the channel must name its server`;
  }
  return judgeUrl(address, rules);
}

/**
 * The mistakes in a channel's other addresses: where tokens are issued, according to its settings or inside its
 * credentials. A sentence each; empty if all is well.
 */
export function otherAddressMistakes(
  provider: Provider,
  { credentials, settings }: Pick<Endpoint, 'credentials' | 'settings'>,
  rules: AddressRules,
): string[] {
  if (provider.transport === 'process') return [];
  const inSettings = Object.entries(provider.settings ?? {}).flatMap(([name, { address }]) => {
    const value = settings[name];
    return address === true && typeof value === 'string' && value !== ''
      ? [[`settings.${snakeCase(name)}`, value] as const]
      : [];
  });
  const inCredentials = Object.entries(provider.credentialAddresses?.({ credentials }) ?? {}).map(
    ([name, value]) => [`credentials.${snakeCase(name)}`, value] as const,
  );
  return [
    ...inSettings.flatMap(([name, value]) => {
      const wrong = isWebAddress(value)
        ? judgeUrl(value, rules)
        : 'must be a URL such as https://login.example.com/token';
      return wrong === undefined ? [] : [`${name} ${wrong}`];
    }),
    ...inCredentials.flatMap(([name, value]) => {
      const wrong = isWebAddress(value) ? judgeUrl(value, rules) : 'is not a URL';
      return wrong === undefined ? [] : [`${name} names an address that ${wrong}`];
    }),
  ];
}

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** Names of metadata services, which resolve only inside their cloud. */
const METADATA_HOSTS: ReadonlySet<string> = new Set(['metadata', 'metadata.google.internal']);

/** The mistake in the target of a URL, by its host; a public name is resolved only when it is called. */
export function judgeUrl(address: string, rules: AddressRules): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const judge = judgeUpstreamAddress(rules);
  if (host === 'localhost' || host.endsWith('.localhost')) return judge('127.0.0.1');
  return judge(METADATA_HOSTS.has(host) ? '169.254.169.254' : host);
}

/**
 * Whether an IP address belongs to this machine or to a private network; false for anything but an address. One that a
 * translator leads elsewhere counts as what it leads to.
 */
function isPrivateAddress(address: string): boolean {
  return ipaddr.isValid(address) && plainAddress(ipaddr.process(address)).range() !== 'unicast';
}

/** Where cloud machines learn who they are and get credentials, besides the link-local addresses. */
const METADATA_ADDRESSES: ReadonlySet<string> = new Set([
  // Alibaba Cloud, Oracle Cloud, Azure; Amazon and Google over IPv6.
  '100.100.100.200',
  '192.0.0.192',
  '168.63.129.16',
  'fd00:ec2::254',
  'fd20:ce::254',
]);

/** Whether an IP address is link-local or belongs to a cloud's metadata service; false for anything but an address. */
function isMetadataAddress(address: string): boolean {
  const bare = address.replace(/%.*$/, '');
  if (!ipaddr.isValid(bare)) return false;
  const parsed = plainAddress(ipaddr.process(bare));
  return parsed.range() === 'linkLocal' || METADATA_ADDRESSES.has(parsed.toString());
}

/** IPv6 addresses that stand for an IPv4 address, and where in their bytes it is. */
const TRANSLATED: readonly { readonly range: [ipaddr.IPv6, number]; readonly at: number }[] = [
  // NAT64, at its well-known prefix and at the one for networks of one's own; SIIT; written in IPv6, as was once usual; 6to4.
  { range: rangeOf('64:ff9b::/96'), at: 12 },
  { range: rangeOf('64:ff9b:1::/96'), at: 12 },
  { range: rangeOf('::ffff:0:0:0/96'), at: 12 },
  { range: rangeOf('::/96'), at: 12 },
  { range: rangeOf('2002::/16'), at: 2 },
];

function rangeOf(text: string): [ipaddr.IPv6, number] {
  return ipaddr.IPv6.parseCIDR(text);
}

/** The IPv4 address that a translated IPv6 address leads to; any other address unchanged. */
function plainAddress(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  // `::` and `::1` are in the range of those that are written in IPv6, and mean this machine.
  if (address instanceof ipaddr.IPv4 || address.range() === 'loopback') return address;
  const found = TRANSLATED.find(({ range }) => address.match(range));
  if (found === undefined) return address;
  return new ipaddr.IPv4(address.toByteArray().slice(found.at, found.at + 4));
}

/** Where channels may be. */
export interface AddressRules {
  /** Whether on this machine or in a private network. */
  readonly allowPrivateUpstreams: boolean;
  /** Whether at link-local addresses and those of cloud metadata services. */
  readonly allowMetadataUpstreams: boolean;
}

/** Why an address must not be connected to, as the end of a sentence; `undefined` if it may. */
export function judgeUpstreamAddress(rules: AddressRules): (address: string) => string | undefined {
  return (address) => {
    if (isMetadataAddress(address)) {
      return rules.allowMetadataUpstreams
        ? undefined
        : 'is link-local or belongs to a cloud metadata service, which gateway.allow_metadata_upstreams: false forbids';
    }
    return rules.allowPrivateUpstreams || !isPrivateAddress(address)
      ? undefined
      : 'is private, which gateway.allow_private_upstreams: false forbids';
  };
}
