// Generates ids and API keys from random bytes passed in by the caller.

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

const KEY_PREFIX = 'sk-';
const KEY_LENGTH = 48;

export type RandomBytes = (length: number) => Uint8Array;

type IdPrefix =
  | 'req_'
  | 'acct_'
  | 'key_'
  | 'tok_'
  | 'blk_'
  | 'op_'
  | 'cred_'
  | 'user_'
  | 'sess_'
  | 'inv_'
  | 'alrt_'
  | 'appr_'
  | 'node_'
  | 'boot_';

/** `length` letters of an alphabet, each equally likely. */
export function randomText(
  length: number,
  randomBytes: RandomBytes,
  alphabet: string = ALPHABET,
): string {
  // Bytes from here on would favour the first letters, so they are skipped.
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

/** Replaces the key id of playground requests, which have a session and no key. */
export const PLAYGROUND_KEY_ID = 'playground';

/** A prefix and 24 random letters and digits. */
export function createId(prefix: IdPrefix, randomBytes: RandomBytes): string {
  return prefix + randomText(24, randomBytes);
}

const REQUEST_PREFIX = 'req_';

const REQUEST_ID = /^req_(?!00)[0-9a-f]{32}$/;

const TIME_DIGITS = 12;

/** A first byte that no request id has had since 2004, given its leading timestamp. */
const OTHER_FORM = 0;

/**
 * A request id: `req_` and sixteen bytes in hex, six of Unix milliseconds and ten random ones. The
 * ledger's primary key is the request id, and storing requests in time order doubles its speed.
 */
export function createRequestId(nowMs: number, randomBytes: RandomBytes): string {
  const time = nowMs.toString(16).padStart(TIME_DIGITS, '0');
  return `${REQUEST_PREFIX}${time}${randomBytes(10).toHex()}`;
}

/** The sixteen bytes of a request id. An id of another form is its text after a zero byte. */
export function requestIdBytes(id: string): Uint8Array {
  if (REQUEST_ID.test(id)) return Uint8Array.fromHex(id.slice(REQUEST_PREFIX.length));
  return Buffer.concat([Buffer.of(OTHER_FORM), Buffer.from(id)]);
}

const REQUEST_ID_LENGTH = 36;

const REQUEST_ID_BEGINNING = /^req_(?!00)[0-9a-f]{2,32}$/;

/** The range of all request ids with this prefix: first and last bytes, both inclusive. */
export function requestIdRange(beginning: string): readonly [first: Uint8Array, last: Uint8Array] {
  if (REQUEST_ID_BEGINNING.test(beginning)) {
    const filled = (digit: string) => requestIdBytes(beginning.padEnd(REQUEST_ID_LENGTH, digit));
    return [filled('0'), filled('f')];
  }
  const text = requestIdBytes(beginning);
  // UTF-8 text never contains this byte.
  return [text, Buffer.concat([text, Buffer.of(0xff)])];
}

export function requestIdOf(bytes: Uint8Array): string {
  if (bytes[0] === OTHER_FORM) return Buffer.from(bytes.subarray(1)).toString();
  return `${REQUEST_PREFIX}${bytes.toHex()}`;
}

/** A new API key: `sk-` and 48 random letters and digits. */
export function createKey(randomBytes: RandomBytes): string {
  return KEY_PREFIX + randomText(KEY_LENGTH, randomBytes);
}

const KEY_SHAPE = new RegExp(`^${KEY_PREFIX}[A-Za-z0-9]{${KEY_LENGTH}}$`);

export function isWellFormedKey(key: string): boolean {
  return key.length === KEY_PREFIX.length + KEY_LENGTH && KEY_SHAPE.test(key);
}

/** The masked form of a key: its first and last four characters. */
export function maskKey(key: string): string {
  return `${key.slice(0, KEY_PREFIX.length + 4)}…${key.slice(-4)}`;
}
