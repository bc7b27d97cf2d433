// Network addresses: normalizes them, builds sets of networks, and finds the address of a client.
// Used by the blocklist and the HTTP surface. Never trusts a header from an untrusted peer.

import { isIPv4 } from 'node:net';

/** The longest address has 45 characters; the rest is for a zone id and spaces. */
const SPELLING_LENGTH_MAX = 100;

/** An address as one number of 32 or 128 bits. */
type Address = { readonly bits: 32 | 128; readonly value: bigint };

/**
 * Normalizes an address: IPv6 compressed and in lower case, IPv4-mapped IPv6 as IPv4, without
 * brackets and zone id. `undefined` when the text is not an address.
 */
export function normaliseAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const address = readAddress(text);
  return address === undefined ? undefined : spell(address);
}

/**
 * Normalizes a network in CIDR notation and clears its host bits: `10.1.2.3/8` becomes
 * `10.0.0.0/8`; a single address gets its full prefix. `undefined` when the text is not a network.
 */
export function normaliseNetwork(text: string): string | undefined {
  const network = readNetwork(text);
  if (network === undefined) return undefined;
  const { bits, prefix, start } = network;
  return `${spell({ bits, value: start << BigInt(bits - prefix) })}/${prefix}`;
}

/** How many addresses a normalized network has. */
export function networkSize(network: string): bigint {
  const { bits, prefix } = readNetwork(network) ?? { bits: 32, prefix: 32 };
  return 1n << BigInt(bits - prefix);
}

/**
 * Whether a normalized network is so wide that blocking it can shut out all customers of a country:
 * more than a /16 of IPv4, or more than what one provider gets of IPv6.
 */
export function isWideNetwork(network: string): boolean {
  return networkSize(network) > 1n << (network.includes(':') ? 96n : 16n);
}

/** `start` are the first `prefix` bits, which all addresses of the network share. */
type Network = {
  readonly bits: Address['bits'];
  readonly prefix: number;
  readonly start: bigint;
};

function readNetwork(text: string): Network | undefined {
  const [, written = '', digits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? [];
  const address = readAddress(written);
  if (address === undefined) return undefined;
  const { bits, value } = address;
  const mapped = bits === 32 && written.includes(':');
  const prefix = digits === undefined ? bits : Number(digits) - (mapped ? 96 : 0);
  if (prefix < 0 || prefix > bits) return undefined;
  return { bits, prefix, start: value >> BigInt(bits - prefix) };
}

function readAddress(text: string): Address | undefined {
  if (text.length > SPELLING_LENGTH_MAX) return undefined;
  // A zone id refers to a link of the sender's machine, and is not part of the address.
  const written = text
    .trim()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/%.*$/s, '');
  if (isIPv4(written)) return { bits: 32, value: joined(written.split('.').map(Number), 8n) };
  const groups = readIpv6(written);
  if (groups === undefined) return undefined;
  const value = joined(groups, 16n);
  if (value >> 32n === 0xffffn) return { bits: 32, value: value & 0xffff_ffffn };
  return { bits: 128, value };
}

function joined(groups: readonly number[], groupBits: bigint): bigint {
  return groups.reduce((value, group) => (value << groupBits) | BigInt(group), 0n);
}

/** The eight numbers of an IPv6 address; the platform's own check takes five times as long. */
function readIpv6(text: string): number[] | undefined {
  const [head = '', tail, ...more] = text.split('::');
  if (more.length > 0) return undefined;
  const left = readGroups(head, tail === undefined);
  const right = readGroups(tail ?? '', true);
  if (left === undefined || right === undefined) return undefined;
  const zeros = 8 - left.length - right.length;
  if (tail === undefined ? zeros !== 0 : zeros < 1) return undefined;
  return [...left, ...new Array<number>(zeros).fill(0), ...right];
}

/** `atEnd`: the last four bytes of an address may be written as IPv4. */
function readGroups(text: string, atEnd: boolean): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const written = text.split(':');
  for (const [at, group] of written.entries()) {
    if (/^[0-9a-f]{1,4}$/i.test(group)) {
      groups.push(Number.parseInt(group, 16));
    } else if (atEnd && at === written.length - 1 && isIPv4(group)) {
      const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
      groups.push(a * 256 + b, c * 256 + d);
    } else {
      return undefined;
    }
  }
  return groups;
}

function spell({ bits, value }: Address): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.');
  const digits = value.toString(16).padStart(32, '0');
  const groups = digits.match(/.{4}/g)?.join(':') ?? '';
  // The platform compresses the zeros.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1);
}

/**
 * A set of networks. `contains` normalizes its argument; text that is not an address is in no set.
 */
export type NetworkSet = { readonly contains: (address: string) => boolean };

/**
 * Builds the set once; leaves out invalid networks, so check them on input. A lookup costs one
 * probe per distinct prefix length, regardless of the number of networks.
 */
export function createNetworkSet(networks: readonly string[]): NetworkSet {
  const families = { 32: new Map<number, Set<bigint>>(), 128: new Map<number, Set<bigint>>() };
  for (const text of networks) {
    const network = readNetwork(text);
    if (network === undefined) continue;
    const { bits, prefix, start } = network;
    const starts = families[bits].get(prefix) ?? new Set();
    families[bits].set(prefix, starts.add(start));
  }
  return {
    contains(text) {
      const address = readAddress(text);
      if (address === undefined) return false;
      const { bits, value } = address;
      for (const [prefix, starts] of families[bits]) {
        if (starts.has(value >> BigInt(bits - prefix))) return true;
      }
      return false;
    },
  };
}

/** More proxies than any real chain has; a header may contain thousands of hops. */
const HOPS_MAX = 32;

/** Where a trusted proxy wrote something other than an address. In no network. */
export const UNKNOWN_ADDRESS = 'unknown';

/**
 * The client's address. `x-forwarded-for` counts only when the peer is a trusted proxy; then it is
 * the right-most hop that is not trusted. An unreadable hop is an unknown client: the proxy is not
 * the client, and hops beyond it may be forged. Empty hops are ignored (RFC 9110, 5.6.1). No other
 * header is read.
 */
export function clientAddress(
  socketAddress: string,
  xForwardedFor: string | null,
  trusted: NetworkSet,
): string {
  let address = normaliseAddress(socketAddress) ?? socketAddress;
  if (xForwardedFor === null) return address;
  let end = xForwardedFor.length;
  for (let hops = 0; hops < HOPS_MAX && end >= 0 && trusted.contains(address); hops += 1) {
    const comma = end === 0 ? -1 : xForwardedFor.lastIndexOf(',', end - 1);
    const hop = xForwardedFor.slice(comma + 1, end).trim();
    end = comma;
    if (hop === '') continue;
    const client = normaliseAddress(withoutPort(hop));
    if (client === undefined) return UNKNOWN_ADDRESS;
    address = client;
  }
  return address;
}

function withoutPort(hop: string): string {
  return hop.replace(/^(\d+\.\d+\.\d+\.\d+|\[[^\]]*\]):\d{1,5}$/, '$1');
}

/** An IPv4 address, or the 64 bits of an IPv6 one that a household has to itself. */
export function networkGroup(address: string): string {
  if (!address.includes(':')) return address;
  return normaliseNetwork(`${address}/64`) ?? address;
}
