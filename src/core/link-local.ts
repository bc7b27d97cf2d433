// Which addresses no upstream should have: those where a cloud keeps the secrets of its machines,
// and the rest of their link. Asked by the catalog for addresses that stand in it, and by the
// connection client for what a name resolves to. Loopback and private networks are none of them:
// self-hosters run models there.

/** Services of clouds outside the link-local ranges: metadata, and agents that hand out secrets. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set([
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
]);

const LINK_LOCAL_V4 = /^169\.254\.\d+\.\d+$/;
const LINK_LOCAL_V6 = /^\[fe[89ab][0-9a-f]:/;

/** IPv4 inside IPv6, as the URL parser writes it: mapped, or behind the well-known NAT64 prefix. */
const EMBEDDED_V4 = /^\[(?:::ffff:|64:ff9b::)([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/;

/**
 * Whether this is such an address, in whatever spelling: IPv4, also in the forms that resolvers take
 * (`0xa9fea9fe`), or IPv6 with or without brackets and zone. A host name is none.
 */
export function isLinkLocal(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, '$1').replace(/%.*$/, '');
  const host = URL.parse(`http://${bare.includes(':') ? `[${bare}]` : bare}/`)?.hostname;
  if (host === undefined) return false;
  const embedded = EMBEDDED_V4.exec(host);
  if (embedded !== null) return isForbidden(embeddedV4(embedded[1] ?? '', embedded[2] ?? ''));
  return isForbidden(host);
}

function isForbidden(host: string): boolean {
  return LINK_LOCAL_V4.test(host) || LINK_LOCAL_V6.test(host) || CLOUD_SERVICES.has(host);
}

/** Two groups of 16 bits as four numbers. */
function embeddedV4(highHex: string, lowHex: string): string {
  const high = Number.parseInt(highHex, 16);
  const low = Number.parseInt(lowHex, 16);
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}
