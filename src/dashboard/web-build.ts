// Builds the pages and the catalogues of their texts. Used by scripts/build.ts for the executable,
// and by a server that runs from source on the first visit.

import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { LANGUAGES, type Language } from '../core/service.ts';
import { SERVICE_MARK } from './edge/service-files.ts';
import { withoutScripts } from './public/frame.ts';
import { compileCatalogue } from './texts/compile.ts';
import { extractMessages, SENTENCE_FOLDERS, WRITTEN_FOLDERS } from './texts/extract.ts';
import { type Catalogue, translate } from './texts/translate.ts';

export type WebApp = 'customer' | 'operator';

/** The path prefix of an application on the server. */
export const WEB_PREFIXES: Readonly<Record<WebApp, string>> = {
  customer: '/dashboard',
  operator: '/operator',
};

/** The files of one application. Names are below `assets/` and contain a hash of the content. */
export type BuiltWeb = {
  /** The HTML page of each language, with `SERVICE_MARK` where the operator's service belongs. */
  readonly pages: Readonly<Record<Language, string>>;
  /** The paths of the style sheet and of the built-in icon. */
  readonly style: string;
  readonly icon: string;
  /** Content by file name, compressed with brotli. */
  readonly files: Readonly<Record<string, Uint8Array>>;
  /** The paths of the sources, packages included. */
  readonly inputs: readonly string[];
};

const SOURCES = join(import.meta.dir, '..');

/**
 * One style sheet, one script for the frame, and one per page that is loaded when it is opened.
 * `quality` is the brotli quality: the highest takes most of the build time.
 */
export async function buildWeb(
  app: WebApp,
  quality: number = constants.BROTLI_MAX_QUALITY,
): Promise<BuiltWeb> {
  const folder = join(SOURCES, 'web');
  const base = `${WEB_PREFIXES[app]}/assets/`;
  const result = await Bun.build({
    entrypoints: [join(folder, app, 'main.tsx')],
    target: 'browser',
    format: 'esm',
    minify: true,
    splitting: true,
    metafile: true,
    publicPath: base,
    naming: { entry: '[name]-[hash].[ext]', chunk: '[name]-[hash].[ext]' },
    define: {
      'process.env.NODE_ENV': '"production"',
      APP_PREFIX: JSON.stringify(WEB_PREFIXES[app]),
    },
  });
  const files: Record<string, Uint8Array> = {};
  let script = '';
  let style = '';
  for (const output of result.outputs) {
    const name = output.path.slice(output.path.lastIndexOf('/') + 1);
    files[name] = compress(new Uint8Array(await output.arrayBuffer()), quality);
    if (output.kind === 'entry-point') script = name;
    if (name.endsWith('.css')) style = name;
  }
  const mark = await Bun.file(join(folder, 'ui', 'mark.svg')).bytes();
  const icon = `mark-${Bun.hash(mark).toString(36)}.svg`;
  files[icon] = compress(mark, quality);
  const texts = await textsOf(['web/auth', 'web/shared', 'web/text', 'web/ui', `web/${app}`]);
  const sentences = app === 'operator' ? await textsOf(SENTENCE_FOLDERS) : [];
  const pages = perLanguage((language) => {
    // The server sends them in English.
    const all = language === 'en' ? texts : [...texts, ...sentences];
    const bytes = new TextEncoder().encode(
      `globalThis.TEXTS=${JSON.stringify(compileCatalogue(language, all))}`,
    );
    const name = `texts-${language}-${Bun.hash(bytes).toString(36)}.js`;
    files[name] = compress(bytes, quality);
    const docs = app === 'operator' ? '/operator/docs' : '/docs';
    const say = (message: string) => translate(compileCatalogue(language, [message]), message);
    const noScript = withoutScripts(say, docs);
    return pageOf(app, { language, texts: name, script, style, noScript });
  });
  const inputs = Object.keys(result.metafile?.inputs ?? {});
  return { pages, files, inputs, style: `${base}${style}`, icon: `${base}${icon}` };
}

/** The catalogues of the pages and mails that the server writes itself. */
export async function buildCatalogues(): Promise<Readonly<Record<Language, Catalogue>>> {
  const texts = await textsOf(WRITTEN_FOLDERS);
  return perLanguage((language) => compileCatalogue(language, texts));
}

async function textsOf(folders: readonly string[]): Promise<readonly string[]> {
  return (await extractMessages(SOURCES, folders)).messages.map(({ text }) => text);
}

function perLanguage<Value>(
  make: (language: Language) => Value,
): Readonly<Record<Language, Value>> {
  return Object.fromEntries(LANGUAGES.map((language) => [language, make(language)])) as Record<
    Language,
    Value
  >;
}

type PageParts = {
  readonly language: Language;
  /** Names of files below `assets/`. */
  readonly texts: string;
  readonly script: string;
  readonly style: string;
  readonly noScript: string;
};

/** No inline script or style: the Content-Security-Policy forbids both. */
function pageOf(app: WebApp, { language, texts, script, style, noScript }: PageParts): string {
  const base = `${WEB_PREFIXES[app]}/assets/`;
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="stylesheet" href="${base}${style}">
${SERVICE_MARK}
<script defer src="${base}${texts}"></script>
<script type="module" blocking="render" src="${base}${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>${noScript}</noscript>
</body>
</html>
`;
}

function compress(bytes: Uint8Array, quality: number): Uint8Array {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: quality,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength,
    },
  });
}
