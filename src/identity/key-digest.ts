// The digest of a key, which the database stores in its place.

/** SHA-256 in lower-case hexadecimal. */
export function digestKey(key: string): string {
  return Bun.CryptoHasher.hash('sha256', key, 'hex');
}
