// Verifies the signature inside a Mach-O executable, as macOS does before it runs one: an ad-hoc
// signature is a list of digests of the file's pages. Written after Apple's mach-o/loader.h and
// kern/cs_blobs.h.

import { createHash } from 'node:crypto';

const MACH_O_64 = 0xfeedfacf;
const LC_CODE_SIGNATURE = 0x1d;
const CODE_DIRECTORY = 0xfade0c02;
const SUPER_BLOB = 0xfade0cc0;
const SHA_256 = 2;

/** Throws where the file has no signature, or one of other bytes. */
export function verifySignature(file: Uint8Array): void {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (view.getUint32(0, true) !== MACH_O_64) throw new Error('it is no 64-bit Mach-O file');
  const blob = signatureOffset(view);
  // From here on, numbers are big-endian.
  if (view.getUint32(blob) !== SUPER_BLOB) throw new Error('its signature cannot be read');
  const count = view.getUint32(blob + 8);
  for (let index = 0; index < count; index += 1) {
    const at = blob + view.getUint32(blob + 12 + 8 * index + 4);
    if (view.getUint32(at) === CODE_DIRECTORY) {
      verifyPages(file, view, at);
      return;
    }
  }
  throw new Error('its signature has no list of digests');
}

function signatureOffset(view: DataView): number {
  const commands = view.getUint32(16, true);
  let at = 32;
  for (let index = 0; index < commands; index += 1) {
    if (view.getUint32(at, true) === LC_CODE_SIGNATURE) return view.getUint32(at + 8, true);
    at += view.getUint32(at + 4, true);
  }
  throw new Error('it is not signed');
}

function verifyPages(file: Uint8Array, view: DataView, at: number): void {
  const digests = at + view.getUint32(at + 16);
  const pages = view.getUint32(at + 28);
  const limit = view.getUint32(at + 32);
  const digestSize = view.getUint8(at + 36);
  if (view.getUint8(at + 37) !== SHA_256) throw new Error('its digests are not SHA-256');
  const pageSize = 2 ** view.getUint8(at + 39);
  if (pages !== Math.ceil(limit / pageSize)) throw new Error(`it has digests of ${pages} pages`);
  for (let page = 0; page < pages; page += 1) {
    const bytes = file.subarray(page * pageSize, Math.min((page + 1) * pageSize, limit));
    const found = file.subarray(digests + page * digestSize, digests + (page + 1) * digestSize);
    const digest = createHash('sha256').update(bytes).digest().subarray(0, digestSize);
    if (!digest.equals(found)) throw new Error(`the digest of page ${page} is another one`);
  }
}
