// The built pages that an executable carries. Here there are none; scripts/build.ts puts another
// file in the place of this one, so it must hold nothing else.

import type { WebApp } from '../web-build.ts';

type EmbeddedWeb = {
  readonly page: string;
  /** By name: where in the executable it is, compressed with brotli. */
  readonly files: Readonly<Record<string, string>>;
};

export const EMBEDDED: Readonly<Record<WebApp, EmbeddedWeb>> | undefined = undefined;
