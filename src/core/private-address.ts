// Addresses that are not on the public Internet, by the registries of IANA for special purposes
// (RFC 6890) and multicast, from which images must not be fetched; and among them those that no
// upstream should have: cloud metadata services, which hand out secrets, and the link-local ranges.
// Upstreams may be on loopback and private networks, because self-hosters run models there.

const LINK_LOCAL = /^(?:169\.254\.\d+\.\d+$|\[fe[89ab][\da-f]:)/;

/** Cloud services outside the link-local ranges: metadata, and agents that hand out secrets. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
]);

const PRIVATE_V4 =
  /^(?:0|10|127|22[4-9]|2[3-5]\d|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])|172\.(?:1[6-9]|2\d|3[01])|192\.168|192\.0\.[02]|198\.1[89]|198\.51\.100|203\.0\.113)\.(?=[\d.]+$)/;

/** All but 2000::/3, and in it documentation and the tunnels 6to4 and Teredo, which contain IPv4. */
const PRIVATE_V6 = /^\[(?:(?![23][\da-f]{3}:)|2002:|2001:(?:0?:|db8:))/;

/** Names that are never public: special-use domains (RFC 6761, 6762, 8375), and those without a dot. */
const PRIVATE_NAME = /^[^.:]+$|(?:^|\.)(?:localhost|local|internal|home\.arpa)$/;

/** IPv4 inside IPv6 as the URL parser prints it: mapped, or after the well-known NAT64 prefix. */
const EMBEDDED_V4 = /^\[(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * Whether an address is link-local or a cloud service's, in any notation that URLs allow: also as a
 * number (`0xa9fea9fe`), inside IPv6, and with or without brackets and zone. False for host names.
 */
export function isLinkLocal(address: string): boolean {
  const host = canonicalHost(address);
  return LINK_LOCAL.test(host) || CLOUD_SERVICES.has(host);
}

/** Whether an address is private, loopback, link-local or reserved, as for `isLinkLocal`. */
export function isPrivateAddress(address: string): boolean {
  const host = canonicalHost(address);
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

/** As the URL parser prints it, and IPv4 inside IPv6 by itself; empty for what is no host. */
function canonicalHost(address: string): string {
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const host = parsedHost(bare.includes(':') ? `[${bare}]` : bare);
  const [, high, low = ''] = EMBEDDED_V4.exec(host) ?? [];
  return high === undefined ? host : parsedHost(`0x${high}${low.padStart(4, '0')}`);
}

function parsedHost(host: string): string {
  return URL.parse(`http://${host}/`)?.hostname ?? '';
}
