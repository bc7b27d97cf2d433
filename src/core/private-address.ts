// Addresses that are not on the public Internet, by the registries of IANA for special purposes
// (RFC 6890) and multicast. Images must not be fetched from them.

import { canonicalHost, isLinkLocal } from './link-local.ts';

const PRIVATE_V4 =
  /^(?:0|10|127|22[4-9]|2[3-5]\d|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|172\.(?:1[6-9]|2\d|3[01])|192\.168|192\.0\.[02]|198\.1[89]|198\.51\.100|203\.0\.113)\.(?=[\d.]+$)/;

/** All but 2000::/3, and in it documentation and the tunnels 6to4 and Teredo, which contain IPv4. */
const PRIVATE_V6 = /^\[(?:(?![23][\da-f]{3}:)|2002:|2001:(?:0?:|db8:))/;

/** Names that are never public: special-use domains (RFC 6761, 6762, 8375), and those without a dot. */
const PRIVATE_NAME = /^[^.:]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/**
 * Whether an address is private, loopback, link-local or reserved, in any notation that URLs allow:
 * also as a number, and inside IPv6. False for host names.
 */
export function isPrivateAddress(address: string): boolean {
  const host = canonicalHost(address) ?? '';
  return isLinkLocal(host) || PRIVATE_V4.test(host) || PRIVATE_V6.test(host);
}

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
