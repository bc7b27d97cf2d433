// Network addresses: one spelling for each, sets of networks, and which address a request came
// from. Used by the blocklist and by the HTTP surface. Never trusts a header that a stranger sent.

import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * The one spelling of an address: IPv6 compressed and in lower case, IPv4-mapped IPv6 as IPv4,
 * brackets and zone ids stripped. `undefined` when the text is not an address.
 */
export function normaliseAddress(text: string): string | undefined {
  const bare = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/, '');
  if (isIPv4(bare)) return bare;
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

/** Builds the set once; entries that are not networks are left out, so check them where they enter. */
export function createNetworkSet(networks: readonly string[]): NetworkSet {
  const list = new BlockList();
  let empty = true;
  for (const text of networks) {
    const [address, prefix] = normaliseNetwork(text)?.split('/') ?? [];
    if (address === undefined || prefix === undefined) continue;
    list.addSubnet(address, Number(prefix), isIPv4(address) ? 'ipv4' : 'ipv6');
    empty = false;
  }
  return {
    contains(text) {
      if (empty) return false;
      const address = normaliseAddress(text);
      return address !== undefined && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
    },
  };
}

/**
 * The address that a request came from. `x-forwarded-for` counts only when the peer is a trusted
 * proxy; then it is the right-most hop that is not one. A hop that cannot be read ends the walk:
 * what lies beyond it may be invented.
 */
export function clientAddress(
  socketAddress: string,
  xForwardedFor: string | null,
  trusted: NetworkSet,
): string {
  let address = normaliseAddress(socketAddress) ?? socketAddress;
  if (xForwardedFor === null) return address;
  const hops = xForwardedFor.split(',');
  while (hops.length > 0 && trusted.contains(address)) {
    const hop = normaliseAddress(withoutPort(hops.pop() ?? ''));
    if (hop === undefined) return address;
    address = hop;
  }
  return address;
}

function withoutPort(hop: string): string {
  return hop.trim().replace(/^(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]):\d+$/, '$1');
}
