// Signs a Mach-O executable ad hoc, as a linker does. The bundler of Bun 1.4.5 leaves Bun's own
// signature in executables for macOS on x64: it is of other bytes and asks for the hardened runtime,
// with which macOS would end the program. Written after Apple's mach-o/loader.h and kern/cs_blobs.h.

import { createHash } from 'node:crypto';

const LC_SEGMENT_64 = 0x19;
const LC_CODE_SIGNATURE = 0x1d;
const PAGE = 4_096;
const DIGEST_BYTES = 32;
const SUPER_BLOB_BYTES = 20;
const DIRECTORY_BYTES = 88;
const ADHOC_LINKER_SIGNED = 0x20002;
const MAIN_BINARY = 1n;

/** The same program with a signature in the place of the one at its end. */
export function signMachO(file: Uint8Array, identifier: string): Uint8Array {
  const { signature, text, linkEdit } = commandsOf(file);
  const limit = readAt(file).getUint32(signature + 8, true);
  const name = new TextEncoder().encode(`${identifier}\0`);
  const pages = Math.ceil(limit / PAGE);
  const digestsAt = DIRECTORY_BYTES + name.length;
  const directoryBytes = digestsAt + pages * DIGEST_BYTES;
  const size = Math.ceil((SUPER_BLOB_BYTES + directoryBytes) / 16) * 16;

  const signed = new Uint8Array(limit + size);
  signed.set(file.subarray(0, limit));
  const view = readAt(signed);
  view.setUint32(signature + 12, size, true);
  const linkEditBytes = BigInt(signed.length) - view.getBigUint64(linkEdit + 40, true);
  view.setBigUint64(linkEdit + 48, linkEditBytes, true);
  view.setBigUint64(linkEdit + 32, (linkEditBytes + 0x3fffn) & ~0x3fffn, true);

  // From here on, numbers are big-endian.
  const superBlob = [0xfade0cc0, SUPER_BLOB_BYTES + directoryBytes, 1, 0, SUPER_BLOB_BYTES];
  const directory = [
    ...[0xfade0c02, directoryBytes, 0x20400, ADHOC_LINKER_SIGNED, digestsAt, DIRECTORY_BYTES],
    // No special slots; SHA-256, in pages of 2 to the power of 12 bytes.
    ...[0, pages, limit, 0x20_02_00_0c, 0, 0, 0, 0],
  ];
  [...superBlob, ...directory].forEach((value, index) => {
    view.setUint32(limit + 4 * index, value);
  });
  const at = limit + SUPER_BLOB_BYTES;
  // After the 64-bit limit, which is 0: the executable segment.
  view.setBigUint64(at + 64, view.getBigUint64(text + 40, true));
  view.setBigUint64(at + 72, view.getBigUint64(text + 48, true));
  view.setBigUint64(at + 80, MAIN_BINARY);
  signed.set(name, at + DIRECTORY_BYTES);
  for (let page = 0; page < pages; page += 1) {
    const bytes = signed.subarray(page * PAGE, Math.min((page + 1) * PAGE, limit));
    signed.set(createHash('sha256').update(bytes).digest(), at + digestsAt + page * DIGEST_BYTES);
  }
  return signed;
}

/** Where the commands are that a signature changes. */
function commandsOf(file: Uint8Array) {
  const view = readAt(file);
  const count = view.getUint32(16, true);
  const found = new Map<string, number>();
  let at = 32;
  for (let index = 0; index < count; index += 1) {
    const command = view.getUint32(at, true);
    if (command === LC_CODE_SIGNATURE) found.set('signature', at);
    if (command === LC_SEGMENT_64) {
      const name = new TextDecoder().decode(file.subarray(at + 8, at + 24));
      found.set(name.replaceAll('\0', ''), at);
    }
    at += view.getUint32(at + 4, true);
  }
  const [signature, text, linkEdit] = ['signature', '__TEXT', '__LINKEDIT'].map((name) =>
    found.get(name),
  );
  if (signature === undefined || text === undefined || linkEdit === undefined) {
    throw new Error('This is no Mach-O executable with a signature.');
  }
  return { signature, text, linkEdit };
}

function readAt(file: Uint8Array): DataView {
  return new DataView(file.buffer, file.byteOffset, file.byteLength);
}
