// Frees the memory of bytes immediately. Otherwise large request bodies would occupy memory until
// the next garbage collection.

/** Smaller buffers may share their memory with others. */
const OWN_BYTES = 16_384;

/** No other view of the bytes may be read afterwards. */
export function discard({ buffer, byteOffset, length }: Uint8Array): void {
  const isOwn = byteOffset === 0 && length >= OWN_BYTES && length === buffer.byteLength;
  if (isOwn && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
