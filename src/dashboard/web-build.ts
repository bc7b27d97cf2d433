// Builds the pages. Used by scripts/build.ts for the executable, and by a server that runs from
// source on the first visit.

import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

export type WebApp = 'customer' | 'operator';

/** The path prefix of an application on the server. */
export const WEB_PREFIXES: Readonly<Record<WebApp, string>> = {
  customer: '/dashboard',
  operator: '/operator',
};

/** The files of one application. Names are below `assets/` and contain a hash of the content. */
export type BuiltWeb = {
  readonly page: string;
  /** Content by file name, compressed with brotli. */
  readonly files: Readonly<Record<string, Uint8Array>>;
};

/**
 * One script and one style sheet: splitting by page needs a tenth more bytes and delays every page.
 * `quality` is the brotli quality: the highest takes most of the build time.
 */
export async function buildWeb(
  app: WebApp,
  quality: number = constants.BROTLI_MAX_QUALITY,
): Promise<BuiltWeb> {
  const folder = join(import.meta.dir, 'web');
  const base = `${WEB_PREFIXES[app]}/assets/`;
  const result = await Bun.build({
    entrypoints: [join(folder, app, 'main.tsx')],
    target: 'browser',
    format: 'esm',
    minify: true,
    publicPath: base,
    naming: { entry: '[name]-[hash].[ext]' },
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
  return { page: pageOf(app, script, style, icon), files };
}

/** No inline script or style: the Content-Security-Policy forbids both. */
function pageOf(app: WebApp, script: string, style: string, icon: string): string {
  const base = `${WEB_PREFIXES[app]}/assets/`;
  const docs = app === 'operator' ? '/operator/docs' : '/docs';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Tollgate</title>
<link rel="icon" type="image/svg+xml" href="${base}${icon}">
<link rel="stylesheet" href="${base}${style}">
<script type="module" blocking="render" src="${base}${script}"></script>
</head>
<body>
<div id="app"></div>
<noscript>These pages need JavaScript. The <a href="${docs}">documentation</a> does not.</noscript>
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
