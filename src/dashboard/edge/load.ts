// Loads the pages and the texts of what the server writes itself. From source they are built here
// and now; scripts/made-files.ts puts another file in the place of this one, which reads what the build
// has made. It must contain nothing else.

import type { Language } from '../../core/service.ts';
import type { Catalogue } from '../texts/translate.ts';
import type { WebApp } from '../web-build.ts';

export type Web = {
  /** With `SERVICE_MARK` where the operator's service belongs. */
  readonly pages: Readonly<Record<Language, string>>;
  /** The paths of the style sheet and of the built-in icon. */
  readonly style: string;
  readonly icon: string;
  /** The content of a file below `assets/`, compressed with brotli. */
  readonly read: (name: string) => Promise<Uint8Array> | undefined;
};

/** Compression quality when running from source: requests wait for it. */
const QUICKLY = 4;

export async function loadWeb(app: WebApp): Promise<Web> {
  const { buildWeb } = await import('../web-build.ts');
  const { files, ...built } = await buildWeb(app, QUICKLY);
  const bytes = new Map(Object.entries(files));
  return {
    ...built,
    read(name) {
      const found = bytes.get(name);
      return found === undefined ? undefined : Promise.resolve(found);
    },
  };
}

/** The texts of the pages and mails that the server writes itself. */
export async function loadCatalogues(): Promise<Readonly<Record<Language, Catalogue>>> {
  const { buildCatalogues } = await import('../web-build.ts');
  return buildCatalogues();
}
