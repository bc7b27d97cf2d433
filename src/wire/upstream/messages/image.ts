// Converts images for a Messages upstream: a URL, or base64 with its type. Images are never fetched
// here.

import { sniffImageType } from '../../image-type.ts';

/** The types that servers of this format accept, by the names that clients use. */
const MEDIA_TYPES: ReadonlyMap<string, string> = new Map([
  ['image/png', 'image/png'],
  ['image/jpeg', 'image/jpeg'],
  ['image/jpg', 'image/jpeg'],
  ['image/gif', 'image/gif'],
  ['image/webp', 'image/webp'],
]);

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

type ImageSource =
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'base64'; readonly media_type: string; readonly data: string };

/**
 * The source of an http(s) or data URL; undefined for data that is not an accepted image type. The
 * first bytes override the declared type: servers refuse an image that does not match its type, and
 * clients often declare everything as PNG.
 */
export function imageSource(url: string): ImageSource | undefined {
  if (!/^data:/i.test(url)) return { type: 'url', url };
  const comma = url.indexOf(',');
  const [declared = '', ...parameters] = url
    .slice('data:'.length, Math.max(comma, 0))
    .split(';')
    .map((part) => part.trim().toLowerCase());
  const content = url.slice(comma + 1);
  const data = parameters.includes('base64') ? toBase64(content) : encode(content);
  if (data === undefined) return undefined;
  const type = sniffImageType(data) ?? MEDIA_TYPES.get(declared);
  return type === undefined ? undefined : { type: 'base64', media_type: type, data };
}

/**
 * Servers accept only the standard alphabet; URLs may use the other one, escapes and line breaks.
 */
function toBase64(content: string): string | undefined {
  if (BASE64.test(content)) return content;
  const plain = percentDecoded(content)
    .replaceAll('-', '+')
    .replaceAll('_', '/')
    .replace(/\s+/g, '');
  return BASE64.test(plain) ? plain : undefined;
}

/** Data of a URL without base64 is percent-encoded bytes. */
function encode(content: string): string | undefined {
  const bytes = Buffer.from(percentDecoded(content), 'latin1');
  return bytes.length === 0 ? undefined : bytes.toString('base64');
}

/** Each character of the result is a byte. Invalid escapes are unchanged. */
function percentDecoded(text: string): string {
  return text.replace(/%([\da-f]{2})/gi, (_escape, hex: string) => {
    return String.fromCharCode(Number.parseInt(hex, 16));
  });
}
