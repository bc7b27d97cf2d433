// Reads the logo that a catalog names, from the folder of the catalog. Checks size and kind by the
// content, because browsers trust neither and customers see the result.

import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Logo, LogoType } from '../core/service.ts';
import { CatalogError } from './source.ts';

/** A larger logo delays the first page of every visitor. */
const LOGO_BYTES_MAX = 262_144;

const EXTENSIONS: Readonly<Record<LogoType, string>> = {
  'image/svg+xml': 'svg',
  'image/png': 'png',
  'image/webp': 'webp',
};

/** Throws `CatalogError` for a file that is missing, too large, or not what its name says. */
export function readLogo(catalogPath: string, file: string): Logo {
  const path = join(dirname(catalogPath), file);
  const refused = (text: string) =>
    new CatalogError([`${basename(catalogPath)}: service.logo: ${text}`]);
  const bytes = read(path, refused);
  const type = typeOf(bytes);
  if (type === undefined || !path.endsWith(`.${EXTENSIONS[type]}`)) {
    throw refused('must be an SVG, PNG or WebP image with the extension of its kind');
  }
  return { path, name: `logo-${Bun.hash(bytes).toString(36)}.${EXTENSIONS[type]}`, type, bytes };
}

function read(path: string, refused: (text: string) => CatalogError): Uint8Array<ArrayBuffer> {
  try {
    const { size } = statSync(path);
    if (size <= LOGO_BYTES_MAX) return new Uint8Array(readFileSync(path));
  } catch {
    throw refused('names a file that cannot be read; put it beside the catalog');
  }
  throw refused(`must be a file of at most ${LOGO_BYTES_MAX.toLocaleString('en-US')} bytes`);
}

function typeOf(bytes: Uint8Array): LogoType | undefined {
  const start = Buffer.from(bytes.subarray(0, 1_024)).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (start.startsWith('RIFF') && start.startsWith('WEBP', 8)) return 'image/webp';
  return /^(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(start)
    ? 'image/svg+xml'
    : undefined;
}
