// What the build makes before it builds the executable: the pages, the catalogues of their texts and
// the documentation.

import type { BunPlugin } from 'bun';
import { buildCatalogues, buildWeb, type WebApp } from '../src/dashboard/web-build.ts';
import { renderDocs } from '../src/docs/render.ts';

const webApps: readonly WebApp[] = ['customer', 'operator'];

type MadeFiles = {
  readonly plugin: BunPlugin;
  /** The sources that the pages were made of. */
  readonly inputs: readonly string[];
};

/** Files that the executable contains as they are, by the name that imports them. */
type Files = Map<string, Uint8Array | string>;

/**
 * Puts readers of the made files in the place of `edge/load.ts` and `docs/load.ts`. The bundler takes
 * the files from memory: the path of a folder of them would be in the source map. They are made
 * beforehand, since a build that waits for another one waits for ever.
 */
export async function madeFiles(): Promise<MadeFiles> {
  const files: Files = new Map();
  const pages = await pagesModule(files);
  const docs = await docsModule(files);
  const plugin: BunPlugin = {
    name: 'made files',
    setup(builder) {
      builder.onLoad({ filter: /\/dashboard\/edge\/load\.ts$/ }, () => typescript(pages.text));
      builder.onLoad({ filter: /\/src\/docs\/load\.ts$/ }, () => typescript(docs));
      builder.onResolve({ filter: /^made:/ }, ({ path }) => ({
        path: path.slice('made:'.length),
        namespace: 'made',
      }));
      builder.onLoad({ filter: /./, namespace: 'made' }, ({ path }) => {
        const contents = files.get(path);
        if (contents === undefined) throw new Error(`no file was made for ${path}`);
        return { contents, loader: 'file' };
      });
    },
  };
  return { plugin, inputs: pages.inputs };
}

const typescript = (contents: string) => ({ contents, loader: 'ts' as const });

const importOf = (variable: string, name: string): string =>
  `import ${variable} from ${JSON.stringify(`made:${name}`)} with { type: 'file' };`;

async function pagesModule(files: Files): Promise<{ text: string; inputs: readonly string[] }> {
  const imports: string[] = [];
  const apps: string[] = [];
  const inputs: string[] = [];
  for (const app of webApps) {
    const { files: pages, inputs: sources, ...built } = await buildWeb(app);
    inputs.push(...sources);
    const members: string[] = [];
    for (const [name, bytes] of Object.entries(pages)) {
      const variable = `file${imports.length}`;
      files.set(`${app}/${name}.br`, bytes);
      imports.push(importOf(variable, `${app}/${name}.br`));
      members.push(`[${JSON.stringify(name)}, ${variable}]`);
    }
    apps.push(
      `${app}: { built: ${JSON.stringify(built)}, files: new Map([${members.join(', ')}]) }`,
    );
  }
  const text = `${imports.join('\n')}
const APPS = { ${apps.join(', ')} };
export async function loadWeb(app) {
  const { built, files } = APPS[app];
  return { ...built, read: (name) => files.has(name) ? Bun.file(files.get(name)).bytes() : undefined };
}
const CATALOGUES = ${JSON.stringify(await buildCatalogues())};
export async function loadCatalogues() { return CATALOGUES; }\n`;
  return { text, inputs };
}

async function docsModule(files: Files): Promise<string> {
  files.set('docs.json', JSON.stringify(await renderDocs()));
  return `${importOf('path', 'docs.json')}
export async function loadDocs() { return Bun.file(path).json(); }\n`;
}
