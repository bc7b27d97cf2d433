// Reads an image's size from the file header inside a data URL. It decodes only the few bytes that
// hold the size. The input is untrusted: it comes from callers.

import type { ImageSize } from '../core/image-tokens.ts';

/**
 * Segments before the size. Cameras write about a dozen, and the longest profile in a request has
 * about thirty. More would add up: a request may have hundreds of images.
 */
const SEGMENTS_MAX = 64;

/** Blocks before the size. Editors write text as dozens of them; one byte is read of each. */
const BLOCKS_MAX = 256;

const BASE64_URL = /^data:[^,]{0,256};base64,/i;

/** The byte at a position; -1 after the end, and for invalid base64. */
type ByteAt = (position: number) => number;

/**
 * Undefined for http(s) URLs, and for data other than plain base64 of a PNG, JPEG, GIF or WebP with
 * a complete header. If a header has several sizes, returns the largest.
 */
export function imageSize(url: string): ImageSize | undefined {
  const prefix = BASE64_URL.exec(url)?.[0];
  if (prefix === undefined) return undefined;
  const byteAt = base64Reader(url, prefix.length);
  const size = READERS.find(({ starts }) => startsWith(byteAt, starts))?.read(byteAt);
  return size !== undefined && size.width > 0 && size.height > 0 ? size : undefined;
}

const READERS: readonly {
  readonly starts: readonly number[];
  readonly read: (byteAt: ByteAt) => ImageSize | undefined;
}[] = [
  { starts: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], read: pngSize },
  { starts: [0xff, 0xd8], read: jpegSize },
  { starts: [0x47, 0x49, 0x46, 0x38], read: gifSize },
  { starts: [0x52, 0x49, 0x46, 0x46], read: webpSize },
];

/** The first chunk is IHDR: width and height have four bytes each. */
function pngSize(byteAt: ByteAt): ImageSize | undefined {
  if (!startsWith(byteAt, [0x49, 0x48, 0x44, 0x52], 12)) return undefined;
  return { width: bigEndian(byteAt, 16, 4), height: bigEndian(byteAt, 20, 4) };
}

/** Marker segments with lengths, up to the scan. A frame header (SOF) holds the size. */
function jpegSize(byteAt: ByteAt): ImageSize | undefined {
  let size: ImageSize | undefined;
  let at = 2;
  for (let segments = 0; segments < SEGMENTS_MAX; segments += 1) {
    if (byteAt(at) !== 0xff) return undefined;
    const marker = byteAt(at + 1);
    if (isAlone(marker)) {
      // Any number of fill bytes may precede a marker.
      at += marker === 0xff ? 1 : 2;
      continue;
    }
    if (marker === 0xda || marker === 0xd9) return size;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) {
      const height = bigEndian(byteAt, at + 5, 2);
      size = larger(size, { width: bigEndian(byteAt, at + 7, 2), height });
    }
    const length = bigEndian(byteAt, at + 2, 2);
    if (length < 2 || marker === 0) return undefined;
    at += 2 + length;
  }
  return undefined;
}

/** Fill bytes, and markers without a length. */
function isAlone(marker: number): boolean {
  return marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

/** The larger of screen and first frame, because readers enlarge the screen to fit. */
function gifSize(byteAt: ByteAt): ImageSize | undefined {
  const screen = { width: littleEndian(byteAt, 6, 2), height: littleEndian(byteAt, 8, 2) };
  const packed = byteAt(10);
  if (packed < 0) return undefined;
  let at = 13 + ((packed & 0x80) === 0 ? 0 : 3 * 2 ** ((packed & 0x07) + 1));
  for (let blocks = 0; blocks < BLOCKS_MAX; blocks += 1) {
    const kind = byteAt(at);
    if (kind === 0x2c) {
      const left = littleEndian(byteAt, at + 1, 2);
      const top = littleEndian(byteAt, at + 3, 2);
      const width = left + littleEndian(byteAt, at + 5, 2);
      return larger(screen, { width, height: top + littleEndian(byteAt, at + 7, 2) });
    }
    if (kind !== 0x21) return undefined;
    at += 2;
    // The data of an extension is a list of blocks with length prefixes, ended by an empty one.
    for (let length = byteAt(at); length > 0 && blocks < BLOCKS_MAX; length = byteAt(at)) {
      at += 1 + length;
      blocks += 1;
    }
    at += 1;
  }
  return undefined;
}

/** The canvas of the extended format, or the header of the single lossy or lossless image. */
function webpSize(byteAt: ByteAt): ImageSize | undefined {
  if (!startsWith(byteAt, [0x57, 0x45, 0x42, 0x50, 0x56, 0x50, 0x38], 8)) return undefined;
  switch (byteAt(15)) {
    case 0x58:
      return { width: 1 + littleEndian(byteAt, 24, 3), height: 1 + littleEndian(byteAt, 27, 3) };
    case 0x20: {
      if (!startsWith(byteAt, [0x9d, 0x01, 0x2a], 23)) return undefined;
      const width = littleEndian(byteAt, 26, 2) & 0x3fff;
      return { width, height: littleEndian(byteAt, 28, 2) & 0x3fff };
    }
    case 0x4c: {
      const bits = littleEndian(byteAt, 21, 4);
      if (byteAt(20) !== 0x2f || bits < 0) return undefined;
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    default:
      return undefined;
  }
}

function larger(size: ImageSize | undefined, other: ImageSize): ImageSize {
  if (size === undefined) return other;
  return {
    width: Math.max(size.width, other.width),
    height: Math.max(size.height, other.height),
  };
}

/** Negative if one of the bytes is missing. */
function bigEndian(byteAt: ByteAt, position: number, count: number): number {
  let value = 0;
  for (let at = position; at < position + count; at += 1) {
    const byte = byteAt(at);
    if (byte < 0) return -Infinity;
    value = value * 256 + byte;
  }
  return value;
}

function littleEndian(byteAt: ByteAt, position: number, count: number): number {
  return bigEndian((at) => byteAt(2 * position + count - 1 - at), position, count);
}

function startsWith(byteAt: ByteAt, bytes: readonly number[], position = 0): boolean {
  return bytes.every((byte, index) => byteAt(position + index) === byte);
}

/** Decodes single bytes of the base64 at `start`: headers are short, images are not. */
function base64Reader(text: string, start: number): ByteAt {
  return (position) => {
    const at = start + Math.floor(position / 3) * 4;
    const within = position % 3;
    const high = sextet(text.charCodeAt(at + within));
    const low = sextet(text.charCodeAt(at + within + 1));
    if (high < 0 || low < 0) return -1;
    return ((high << (2 + 2 * within)) | (low >> (4 - 2 * within))) & 0xff;
  };
}

/** Standard alphabet; -1 for anything else. */
function sextet(code: number): number {
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  if (code >= 0x61 && code <= 0x7a) return code - 0x47;
  if (code >= 0x30 && code <= 0x39) return code + 4;
  if (code === 0x2b) return 62;
  return code === 0x2f ? 63 : -1;
}
