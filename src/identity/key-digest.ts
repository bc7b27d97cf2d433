// What the database knows of a key. Called wherever one is presented or made.

/** SHA-256 in lower-case hexadecimal. */
export function digestKey(key: string): string {
  return Bun.CryptoHasher.hash('sha256', key, 'hex');
}
