// What images clients may send: data of four types, or an address that the model server fetches. No
// image is decoded or fetched here.

import type { Turn } from '../core/generation.ts';
import { isPrivateHost } from '../core/private-address.ts';

/** By their first bytes as base64. */
const SIGNATURES = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

/** The length of a type with its parameters, such as the name of a file. */
const HEADER_LENGTH_MAX = 256;

/** Data whose type says nothing. */
const UNTYPED: readonly string[] = ['', 'application/octet-stream'];

/** A name, by the letters of its last label, that a URL parser would not change. */
const PLAIN_HOST = /^https?:\/\/((?:[a-z\d-]+\.)+[a-z]{2,})(?=[/?#]|$)/i;

/** A name has 253 characters at most. A URL parser takes seconds for one of 100,000 labels. */
const AUTHORITY = /^https?:\/\/([^/?#\s]{1,1024})(?:[/?#]|$)/i;

const NO_URL = 'must be an http, https or data URL';

export const IMAGE_TYPES_RULE = 'must be a PNG, JPEG, GIF or WebP image';

export const PRIVATE_HOST_RULE =
  'must not lead to a private network; use a public address, or send image data';

/** Detects the type of a base64 image by its first bytes, for images without a reliable type. */
export function sniffImageType(base64: string): string | undefined {
  return SIGNATURES.find(([start]) => base64.startsWith(start))?.[1];
}

/** The name that servers use for a declared type; undefined if they accept no such images. */
export function imageTypeOf(declared: string): string | undefined {
  const type = declared.toLowerCase().replace(/^image\/jpg$/, 'image/jpeg');
  return SIGNATURES.some(([, known]) => known === type) ? type : undefined;
}

export type DataUrl = {
  readonly declared: string;
  readonly isBase64: boolean;
  readonly content: string;
};

/** The parts of a data URL; undefined for any other. */
export function readDataUrl(url: string): DataUrl | undefined {
  const comma = url.slice(0, 'data:'.length + HEADER_LENGTH_MAX + 1).indexOf(',');
  if (comma === -1 || !/^data:/i.test(url)) return undefined;
  const header = url.slice('data:'.length, comma);
  const [declared = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  return { declared, isBase64: parameters.includes('base64'), content: url.slice(comma + 1) };
}

export function isImageAddress(url: string): boolean {
  return /^https?:/i.test(url);
}

/** What is wrong with an image's URL, as the end of a sentence about its field. */
export function imageFault(url: string): string | undefined {
  if (isImageAddress(url)) return addressFault(url);
  const data = readDataUrl(url);
  if (data === undefined) return NO_URL;
  const { declared, isBase64, content } = data;
  const isKnown = UNTYPED.includes(declared)
    ? isBase64 && sniffImageType(content) !== undefined
    : imageTypeOf(declared) !== undefined;
  return isKnown ? undefined : IMAGE_TYPES_RULE;
}

/** What stands before the path of a web address; undefined for any other, and for one too long to be read. */
export function authorityOf(url: string): string | undefined {
  return AUTHORITY.exec(url)?.[1];
}

/** Parsers differ over user names and backslashes, so that a server could read another host. */
function addressFault(url: string): string | undefined {
  const authority = authorityOf(url);
  if (authority === undefined) return NO_URL;
  if (/[\\@]/.test(authority)) return 'must be an address without a user name or a backslash';
  const host = hostOf(url);
  if (host === undefined) return NO_URL;
  return isPrivateHost(host) ? PRIVATE_HOST_RULE : undefined;
}

/** The host of an address, as a URL parser writes it. */
export function hostOf(url: string): string | undefined {
  return PLAIN_HOST.exec(url)?.[1]?.toLowerCase() ?? URL.parse(url)?.hostname;
}

/** Whether any image is an address. */
export function hasImageAddress(turns: readonly Turn[]): boolean {
  return turns.some(
    (turn) =>
      turn.role === 'user' &&
      turn.parts.some((part) => part.kind === 'image' && isImageAddress(part.url)),
  );
}
