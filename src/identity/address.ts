// Network addresses: one spelling for each, sets of networks, and which address a request came
// from. Used by the blocklist and by the HTTP surface. Never trusts a header that a stranger sent.

import { isIPv4, isIPv6 } from 'node:net';

/** The longest address has 45 characters; the rest is for a zone id and spaces. */
const SPELLING_LENGTH_MAX = 100;

/**
 * The one spelling of an address: IPv6 compressed and in lower case, IPv4-mapped IPv6 as IPv4,
 * brackets and zone ids stripped. `undefined` when the text is not an address.
 */
export function normaliseAddress(text: string): string | undefined {
  if (text.length > SPELLING_LENGTH_MAX) return undefined;
  const written = text.trim().replace(/^\[(.*)\]$/, '$1');
  if (isIPv4(written)) return written;
  const bare = written.replace(/%.*$/, '');
  if (!isIPv6(bare)) return undefined;
  const compressed = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(compressed);
  if (mapped === null) return compressed;
  const high = Number.parseInt(mapped[1] ?? '', 16);
  const low = Number.parseInt(mapped[2] ?? '', 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

/**
 * The one spelling of a network in CIDR notation, host bits cleared: `10.1.2.3/8` is `10.0.0.0/8`,
 * a single address gets its full prefix. `undefined` when the text is not a network.
 */
export function normaliseNetwork(text: string): string | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim());
  const address = match?.[1] === undefined ? undefined : normaliseAddress(match[1]);
  if (address === undefined) return undefined;
  const bits = isIPv4(address) ? 32 : 128;
  const mapped = bits === 32 && text.includes(':');
  const prefix = match?.[2] === undefined ? bits : Number(match[2]) - (mapped ? 96 : 0);
  if (prefix < 0 || prefix > bits) return undefined;
  const groupBits = bits === 32 ? 8 : 16;
  const groups = addressGroups(address).map((group, index) => {
    const kept = Math.min(groupBits, Math.max(0, prefix - index * groupBits));
    return (group >> (groupBits - kept)) << (groupBits - kept);
  });
  const network =
    bits === 32 ? groups.join('.') : groups.map((group) => group.toString(16)).join(':');
  return `${bits === 32 ? network : new URL(`http://[${network}]`).hostname.slice(1, -1)}/${prefix}`;
}

/** The four numbers of an IPv4 address or the eight of an IPv6 one, in its one spelling. */
function addressGroups(address: string): number[] {
  if (isIPv4(address)) return address.split('.').map(Number);
  const [head = '', tail] = address.split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return read(head);
  const left = read(head);
  const right = read(tail);
  return [...left, ...new Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/** A set of networks. `contains` takes an address in any spelling; what is none is in no set. */
export type NetworkSet = { readonly contains: (address: string) => boolean };

/**
 * Builds the set once; entries that are not networks are left out, so check them where they enter.
 * A question costs one look for each prefix length that there is, however many networks there are.
 */
export function createNetworkSet(networks: readonly string[]): NetworkSet {
  const families = { 32: new Map<number, Set<bigint>>(), 128: new Map<number, Set<bigint>>() };
  for (const text of networks) {
    const [address, prefixText] = normaliseNetwork(text)?.split('/') ?? [];
    if (address === undefined) continue;
    const prefix = Number(prefixText);
    const bits = familyBits(address);
    const starts = families[bits].get(prefix) ?? new Set();
    families[bits].set(prefix, starts.add(addressValue(address) >> BigInt(bits - prefix)));
  }
  return {
    contains(text) {
      const address = normaliseAddress(text);
      if (address === undefined) return false;
      const bits = familyBits(address);
      if (families[bits].size === 0) return false;
      const value = addressValue(address);
      for (const [prefix, starts] of families[bits]) {
        if (starts.has(value >> BigInt(bits - prefix))) return true;
      }
      return false;
    },
  };
}

function familyBits(address: string): 32 | 128 {
  return isIPv4(address) ? 32 : 128;
}

/** All bits of an address in its one spelling, as one number. */
function addressValue(address: string): bigint {
  const groupBits = isIPv4(address) ? 8n : 16n;
  return addressGroups(address).reduce((value, group) => (value << groupBits) | BigInt(group), 0n);
}

/** More proxies than stand in a row anywhere; a header may hold thousands of hops. */
const HOPS_MAX = 32;

/**
 * The address that a request came from. `x-forwarded-for` counts only when the peer is a trusted
 * proxy; then it is the right-most hop that is not one. A hop that cannot be read ends the walk:
 * what lies beyond it may be invented. No other header is looked at.
 */
export function clientAddress(
  socketAddress: string,
  xForwardedFor: string | null,
  trusted: NetworkSet,
): string {
  let address = normaliseAddress(socketAddress) ?? socketAddress;
  let end = xForwardedFor?.length ?? -1;
  for (let hops = 0; hops < HOPS_MAX && end >= 0 && trusted.contains(address); hops += 1) {
    const comma = end === 0 ? -1 : (xForwardedFor?.lastIndexOf(',', end - 1) ?? -1);
    const hop = normaliseAddress(withoutPort(xForwardedFor?.slice(comma + 1, end) ?? ''));
    if (hop === undefined) return address;
    address = hop;
    end = comma;
  }
  return address;
}

function withoutPort(hop: string): string {
  return hop.trim().replace(/^(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]):\d{1,5}$/, '$1');
}
