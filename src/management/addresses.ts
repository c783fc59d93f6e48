import ipaddr from 'ipaddr.js';
import type { Provider, SettingValue } from '../providers/provider.js';
import { defaultSettings, publicAddress } from '../providers/settings.js';

/** Whether a text is an address or a CIDR range, spelled out in full. */
export function isAddressOrRange(text: string): boolean {
  const address = text.replace(/\/.*/, '');
  // The library also reads "10.1" and octal numbers as addresses; a range that decides over access is no place for that.
  const whole = address.includes(':') || ipaddr.IPv4.isValidFourPartDecimal(address);
  const valid = text.includes('/') ? ipaddr.isValidCIDR(text) : ipaddr.isValid(text);
  return whole && valid && !isAmbiguousRange(text);
}

/** Whether a range is IPv4 in IPv6 clothes with more than IPv4 in it: nobody can say which callers are meant. */
export function isAmbiguousRange(text: string): boolean {
  const [address = '', bits] = text.trim().split('/', 2);
  if (bits === undefined || !address.includes(':') || !ipaddr.isValid(address)) return false;
  return ipaddr.process(address).kind() === 'ipv4' && Number(bits) < MAPPED_BITS;
}

/** Of an IPv4 address in IPv6 form, those in front of it. */
const MAPPED_BITS = 96;

/** What to say of such a range, as the end of a sentence. */
export const AMBIGUOUS_RANGE =
  'is IPv4 in IPv6 form, where the prefix is 96 to 128; write an IPv4 range such as 10.0.0.0/8';

/** What is wrong with a base URL as it is written, as the end of a sentence; `undefined` when nothing is. */
export function urlMistake(text: string): string | undefined {
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

/** What is wrong with where a channel's requests would go, as the end of a sentence; `undefined` when nothing is. */
export function addressMistake(
  baseUrl: string | undefined,
  provider: Provider,
  settings: Readonly<Record<string, SettingValue>>,
  allowPrivate: boolean,
): string | undefined {
  if (provider.transport === 'process') {
    if (baseUrl === undefined) return undefined;
    return `is not used: ${provider.id} ranks inside the gateway; leave it out`;
  }
  const address = baseUrl ?? publicAddress(provider, { ...defaultSettings(provider), ...settings });
  if (address === undefined) {
    return `is missing: ${provider.id} has no public address, so the channel must name its server`;
  }
  return allowPrivate || !isPrivate(address)
    ? undefined
    : 'is a private address, which gateway.allow_private_upstreams: false forbids';
}

/** Whether a URL names a host inside; what a public name resolves to is seen only when it is called. */
function isPrivate(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const host = new URL(address).hostname.replace(/^\[|\]$/g, '');
  if (host === 'localhost' || host.endsWith('.localhost')) return true;
  return isPrivateAddress(host);
}

/** Whether an IP address is of this machine or of a network of one's own; false for what is no address. */
export function isPrivateAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() !== 'unicast';
}
