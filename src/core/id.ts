// Identifiers and API keys, made from random bytes that the caller hands in.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const KEY_PREFIX = 'sk-';
const KEY_LENGTH = 48;

export type RandomBytes = (length: number) => Uint8Array;

type IdPrefix =
  | 'req_'
  | 'acct_'
  | 'key_'
  | 'blk_'
  | 'op_'
  | 'cred_'
  | 'user_'
  | 'sess_'
  | 'inv_'
  | 'node_'
  | 'boot_';

/** `length` letters of an alphabet, each equally likely. */
export function randomText(
  length: number,
  randomBytes: RandomBytes,
  alphabet: string = ALPHABET,
): string {
  // Bytes at or above this would favour the first letters, so they are skipped.
  const unbiased = 256 - (256 % alphabet.length);
  const codes = Buffer.allocUnsafe(length);
  let made = 0;
  while (made < length) {
    const drawn = randomBytes(length - made + 8);
    for (let index = 0; index < drawn.length && made < length; index += 1) {
      const byte = drawn[index] ?? unbiased;
      if (byte >= unbiased) continue;
      codes[made] = alphabet.charCodeAt(byte % alphabet.length);
      made += 1;
    }
  }
  return codes.toString('latin1');
}

/** In place of a key's id wherever a request of the playground is told of: it had a session, no key. */
export const PLAYGROUND_KEY_ID = 'playground';

/** An identifier of 24 random letters and digits behind its prefix. */
export function createId(prefix: IdPrefix, randomBytes: RandomBytes): string {
  return prefix + randomText(24, randomBytes);
}

/** In the order of their character codes, so that text made of them sorts like the number. */
const SORTED = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const TIME_LENGTH = 8;

/**
 * A request id: `req_`, eight characters that rise with time, sixteen random ones. The books are
 * kept by request id, and neighbours in time that are neighbours on disk double their speed.
 */
export function createRequestId(nowMs: number, randomBytes: RandomBytes): string {
  let time = '';
  for (let left = nowMs; time.length < TIME_LENGTH; left = Math.floor(left / SORTED.length)) {
    time = `${SORTED[left % SORTED.length]}${time}`;
  }
  return `req_${time}${randomText(24 - TIME_LENGTH, randomBytes)}`;
}

/** A new API key: `sk-` and 48 random letters and digits. */
export function createKey(randomBytes: RandomBytes): string {
  return KEY_PREFIX + randomText(KEY_LENGTH, randomBytes);
}

const KEY_SHAPE = new RegExp(`^${KEY_PREFIX}[A-Za-z0-9]{${KEY_LENGTH}}$`);

export function isWellFormedKey(key: string): boolean {
  return key.length === KEY_PREFIX.length + KEY_LENGTH && KEY_SHAPE.test(key);
}

/** How a key is shown after its creation: its first and last four characters. */
export function maskKey(key: string): string {
  return `${key.slice(0, KEY_PREFIX.length + 4)}…${key.slice(-4)}`;
}
