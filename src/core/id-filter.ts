// A Bloom filter of request ids: two bytes an id, and one stranger in some 2,000 looks like a member.
// It finds the archive of a request without keeping its id.

const BITS_AN_ID = 16;
const PROBES = 11;

export type IdFilter = { readonly bits: Uint8Array; readonly add: (id: Uint8Array) => void };

/** A filter for at most `count` ids. */
export function createIdFilter(count: number): IdFilter {
  const bits = new Uint8Array(Math.max(8, Math.ceil((count * BITS_AN_ID) / 8)));
  return {
    bits,
    add(id) {
      for (const bit of probes(id, bits.length)) {
        const at = bit >>> 3;
        bits[at] = (bits[at] ?? 0) | (1 << (bit & 7));
      }
    },
  };
}

/** Whether an id may have been added; always true for one that was. */
export function mayHaveId(bits: Uint8Array, id: Uint8Array): boolean {
  for (const bit of probes(id, bits.length)) {
    if (((bits[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Both hashes cover all bytes: an id of another form may have no random ones. */
function* probes(id: Uint8Array, length: number): Generator<number> {
  const size = length * 8;
  const first = fnv(id, 0x811c9dc5);
  const second = fnv(id, 0x9e3779b1) | 1;
  for (let probe = 0; probe < PROBES; probe += 1) {
    yield ((first + Math.imul(probe, second)) >>> 0) % size;
  }
}

/** FNV-1a with another beginning, and a final mix, which it lacks. */
function fnv(bytes: Uint8Array, seed: number): number {
  let hash = seed;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
