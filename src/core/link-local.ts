// Addresses that no upstream should have: cloud metadata services, which hand out secrets, and the
// rest of the link-local ranges. The catalog checks configured addresses and the connection client
// checks resolved ones. Loopback and private networks are allowed: self-hosters run models there.

/** Cloud services outside the link-local ranges: metadata, and agents that hand out secrets. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
]);

const LINK_LOCAL_V4 = /^169\.254\.\d+\.\d+$/;
const LINK_LOCAL_V6 = /^\[fe[89ab][0-9a-f]:/;

/** IPv4 inside IPv6 as the URL parser prints it: mapped, or after the well-known NAT64 prefix. */
const EMBEDDED_V4 = /^\[(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * Whether an address is link-local, in any notation: IPv4, also in the forms that resolvers accept
 * (`0xa9fea9fe`), or IPv6 with or without brackets and zone. False for host names.
 */
export function isLinkLocal(address: string): boolean {
  const host = canonicalHost(address);
  return host !== undefined && isForbidden(host);
}

/** As the URL parser prints it, and IPv4 inside IPv6 by itself; undefined for what is no host. */
export function canonicalHost(address: string): string | undefined {
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const host = URL.parse(`http://${bare.includes(':') ? `[${bare}]` : bare}/`)?.hostname;
  const embedded = EMBEDDED_V4.exec(host ?? '');
  return embedded === null ? host : embeddedV4(embedded[1] ?? '', embedded[2] ?? '');
}

function isForbidden(host: string): boolean {
  return LINK_LOCAL_V4.test(host) || LINK_LOCAL_V6.test(host) || CLOUD_SERVICES.has(host);
}

/** Two groups of 16 bits as four decimal numbers. */
function embeddedV4(highHex: string, lowHex: string): string {
  const high = Number.parseInt(highHex, 16);
  const low = Number.parseInt(lowHex, 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
