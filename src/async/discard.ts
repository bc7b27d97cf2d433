// Gives the memory of bytes back at once. A collector that has not run yet would keep them, and large
// bodies of many requests with them.

/** Smaller ones may share their memory with others. */
const OWN_BYTES = 16_384;

/** No other view of the bytes may be read afterwards. */
export function discard({ buffer, byteOffset, length }: Uint8Array): void {
  const isOwn = byteOffset === 0 && length >= OWN_BYTES && length === buffer.byteLength;
  if (isOwn && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
