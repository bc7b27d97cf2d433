// Addresses that are not on the public Internet, by the registries of IANA for special purposes
// (RFC 6890) and multicast. Images must not be fetched from them.

import { isLinkLocal } from './link-local.ts';

const V4 = /^(\d+)\.(\d+)\.(\d+)\.(\d+)$/;

/**
 * Whether an address is private, loopback, link-local or reserved, in any notation that URLs allow:
 * also as a number, and inside IPv6. False for host names.
 */
export function isPrivateAddress(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const host = URL.parse(`http://${bare.includes(':') ? `[${bare}]` : bare}/`)?.hostname;
  if (host === undefined) return false;
  if (isLinkLocal(host)) return true;
  const v4 = V4.exec(host);
  if (v4 !== null) return isPrivateV4(Number(v4[1]), Number(v4[2]), Number(v4[3]));
  return host.startsWith('[') && isPrivateV6(groupsOf(host.slice(1, -1)));
}

/** Names that are never public: special-use domains (RFC 6761, 6762, 8375), and those without a dot. */
const PRIVATE_NAME = /^[^.:]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** Whether the host of a URL is private, by its address or its name. */
export function isPrivateHost(hostname: string): boolean {
  const name = withoutRoot(hostname);
  // Names are many and an address takes a URL parser.
  return PRIVATE_NAME.test(name) || (!/\.[a-z]{2,}$/.test(name) && isPrivateAddress(name));
}

/** Without the dot of the root zone, which a hosts file does not have. */
export function withoutRoot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

function isPrivateV4(a: number, b: number, c: number): boolean {
  switch (a) {
    case 100:
      return b >= 64 && b < 128;
    case 169:
      return b === 254;
    case 172:
      return b >= 16 && b < 32;
    case 192:
      return b === 168 || (b === 0 && (c === 0 || c === 2)) || (b === 88 && c === 99);
    case 198:
      return b === 18 || b === 19 || (b === 51 && c === 100);
    case 203:
      return b === 0 && c === 113;
    default:
      return a === 0 || a === 10 || a === 127 || a >= 224;
  }
}

/** Only 2000::/3 is public; IPv4 inside it or before it counts as itself. */
function isPrivateV6([a = 0, b = 0, ...rest]: readonly number[]): boolean {
  const [c = 0, d = 0, e = 0, f = 0, high = 0, low = 0] = rest;
  // 6to4 has the address behind its prefix, Teredo any address at its end.
  if (a === 0x2002) return isPrivateV4(b >> 8, b & 255, c >> 8);
  if (a === 0x2001) return b === 0 || b === 0xdb8;
  if (a >= 0x2000 && a < 0x4000) return false;
  const isNat64 = a === 0x64 && b === 0xff9b && c + d + e + f === 0;
  const isMapped = a + b + c + d === 0 && (e === 0xffff || (e === 0 && (f === 0 || f === 0xffff)));
  return !(isNat64 || isMapped) || isPrivateV4(high >> 8, high & 255, low >> 8);
}

/** The eight groups of an address as the URL parser prints it. */
function groupsOf(text: string): readonly number[] {
  const [head = '', tail] = text.split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const first = read(head);
  const last = read(tail ?? '');
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
}
