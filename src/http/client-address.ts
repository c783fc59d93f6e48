import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = [Address, number];

/** Addresses and CIDR ranges, read once. Invalid entries match nothing. */
export class AddressList {
  readonly #ranges: readonly Range[];

  constructor(entries: readonly string[]) {
    this.#ranges = entries.flatMap((entry) => {
      const range = parseRange(entry);
      return range === undefined ? [] : [range];
    });
  }

  includes(text: string): boolean {
    const address = parseAddress(text);
    if (address === undefined) return false;
    return this.#ranges.some(
      ([base, bits]) => base.kind() === address.kind() && address.match(base, bits),
    );
  }
}

/**
 * Where a request comes from. `X-Forwarded-For` counts only as far as the hops that it names are trusted proxies, read from
 * the nearest one outwards.
 */
export function clientAddress(
  req: Pick<IncomingMessage, 'headers' | 'socket'>,
  trusted: AddressList | undefined,
): string {
  const peer = req.socket.remoteAddress ?? '';
  if (!trusted?.includes(peer)) return plain(peer);
  const header = req.headers['x-forwarded-for'];
  const hops = (Array.isArray(header) ? header.join(',') : (header ?? ''))
    .split(',')
    .map((hop) => withoutPort(hop.trim()))
    .filter((hop) => hop !== '');
  let client = peer;
  for (const hop of hops.reverse()) {
    client = hop;
    if (!trusted.includes(hop)) break;
  }
  return plain(client);
}

/**
 * Whether a proxy on this machine passes a request on without saying from where in a way that counts: no setting names it, or
 * it sends no `X-Forwarded-For`. Then nobody knows where the request comes from.
 */
export function isRelayedHere(
  { headers, socket }: Pick<IncomingMessage, 'headers' | 'socket'>,
  trusted: AddressList | undefined,
): boolean {
  const peer = socket.remoteAddress ?? '';
  const isForwarded = RELAY_HEADERS.some((name) => headers[name] !== undefined);
  const isTold = trusted?.includes(peer) === true && headers['x-forwarded-for'] !== undefined;
  return isForwarded && LOOPBACK.includes(peer) && !isTold;
}

const RELAY_HEADERS = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'];
const LOOPBACK = new AddressList(['127.0.0.0/8', '::1']);

/**
 * Whether a caller on this machine has asked for another host: a page in its browser, whose own name has been bound to this
 * machine ("DNS rebinding"). Nobody can bind an address, `localhost`, or the name under which people reach the gateway.
 */
export function isRebound(
  req: Pick<IncomingMessage, 'headers' | 'socket'>,
  trusted: AddressList | undefined,
  ownHost: string | undefined,
): boolean {
  const { host } = req.headers;
  if (host === undefined || !LOOPBACK.includes(clientAddress(req, trusted))) return false;
  const name = withoutPort(host.toLowerCase().replace(/^([^:]*):\d+$/, '$1'));
  const isOwn = name === 'localhost' || name.endsWith('.localhost') || name === ownHost;
  return !isOwn && !ipaddr.isValid(name);
}

/**
 * What attempts are counted under: an IPv4 address, or the /64 from which a single holder of IPv6 addresses can choose.
 */
export function addressBlock(text: string): string {
  if (!text.includes(':')) return text;
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return text;
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.toNormalizedString()}/64`).toString()}/64`;
}

/** Whether the caller came by https, to this process or to a trusted proxy in front of it. */
export function isSecure(req: IncomingMessage, trusted: AddressList | undefined): boolean {
  if ('encrypted' in req.socket && req.socket.encrypted === true) return true;
  if (trusted?.includes(req.socket.remoteAddress ?? '') !== true) return false;
  const header = req.headers['x-forwarded-proto'];
  const scheme = (Array.isArray(header) ? header[0] : header)?.split(',')[0];
  return scheme?.trim().toLowerCase() === 'https';
}

function parseRange(entry: string): Range | undefined {
  const [text = '', bits] = entry.trim().split('/', 2);
  const address = parseAddress(text);
  if (address === undefined) return undefined;
  const width = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, width];
  // In IPv6 form, the prefix also counts the 96 bits before the address. A prefix no longer than an IPv4 prefix was
  // never meant to cover all of IPv4, which would admit everybody; it counts as its writer meant it.
  const length = isMapped(text, address) && Number(bits) > 32 ? Number(bits) - 96 : Number(bits);
  return Number.isInteger(length) && length >= 0 && length <= width ? [address, length] : undefined;
}

function isMapped(text: string, address: Address): boolean {
  return address.kind() === 'ipv4' && text.includes(':');
}

/** An IPv4 address in IPv6 form becomes plain IPv4; a zone is removed. */
function parseAddress(text: string): Address | undefined {
  const bare = text.replace(/%.*$/, '');
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}

/** Some proxies include the port; a caller on another connection is still the same caller. */
function withoutPort(hop: string): string {
  return hop.replace(/^\[(.*)\](:\d+)?$/, '$1').replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1');
}

function plain(text: string): string {
  return text.startsWith('::ffff:') ? text.slice('::ffff:'.length) : text;
}
