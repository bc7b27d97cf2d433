// The built pages inside an executable. Empty here: scripts/build.ts replaces this file, so it must
// contain nothing else.

import type { WebApp } from '../web-build.ts';

type EmbeddedWeb = {
  readonly page: string;
  /** The path inside the executable by file name; content is compressed with brotli. */
  readonly files: Readonly<Record<string, string>>;
};

export const EMBEDDED: Readonly<Record<WebApp, EmbeddedWeb>> | undefined = undefined;
