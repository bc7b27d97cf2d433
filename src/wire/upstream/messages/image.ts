// Converts images for a Messages upstream: a URL, or base64 with its type. Images are never fetched
// here.

import { imageTypeOf, isImageAddress, readDataUrl, sniffImageType } from '../../image-type.ts';

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

export type ImageSource =
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string };

/**
 * The source of an http(s) or data URL; undefined for data that is not an accepted image type. The
 * first bytes override the declared type: servers refuse an image that does not match its type, and
 * clients often declare everything as PNG.
 */
export function imageSource(url: string): ImageSource | undefined {
  if (isImageAddress(url)) return { type: 'url', url };
  const read = readDataUrl(url);
  if (read === undefined) return undefined;
  const data = read.isBase64 ? toBase64(read.content) : encode(read.content);
  if (data === undefined) return undefined;
  const type = sniffImageType(data) ?? imageTypeOf(read.declared);
  return type === undefined ? undefined : { type: 'base64', media_type: type, data };
}

/**
 * Servers accept only the standard alphabet; URLs may use the other one, escapes and line breaks.
 */
function toBase64(content: string): string | undefined {
  if (BASE64.test(content)) return content;
  const bytes = percentDecoded(content);
  if (bytes === undefined) return undefined;
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (isBlank(byte)) continue;
    bytes[length] = standardLetter(byte);
    length += 1;
  }
  const plain = bytes.toString('latin1', 0, length);
  return BASE64.test(plain) ? plain : undefined;
}

/** Spaces, tabs, line breaks and page breaks, and the space that does not break. */
function isBlank(byte: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || byte === 0xa0;
}

/** `-` and `_` of the alphabet for URLs are `+` and `/`. */
function standardLetter(byte: number): number {
  if (byte === 0x2d) return 0x2b;
  return byte === 0x5f ? 0x2f : byte;
}

/** Data of a URL without base64 is percent-encoded bytes. */
function encode(content: string): string | undefined {
  const bytes = percentDecoded(content);
  return bytes === undefined || bytes.length === 0 ? undefined : bytes.toString('base64');
}

/**
 * Each character of the text is a byte, or part of an escape for one; undefined if it has others.
 * Invalid escapes are unchanged. Replacing by a pattern would call a function for each escape.
 */
function percentDecoded(text: string): Buffer | undefined {
  const bytes = Buffer.allocUnsafe(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > 0xff) return undefined;
    const escaped = code === 0x25 ? escapedByte(text, at + 1) : -1;
    if (escaped >= 0) at += 2;
    bytes[length] = escaped >= 0 ? escaped : code;
    length += 1;
  }
  return bytes.subarray(0, length);
}

/** The byte of two hexadecimal digits; negative if there are none. */
function escapedByte(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at));
  const low = hexDigit(text.charCodeAt(at + 1));
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/** -1 for anything else, also after the end of the text. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  if (code >= 0x41 && code <= 0x46) return code - 0x37;
  return code >= 0x61 && code <= 0x66 ? code - 0x57 : -1;
}
