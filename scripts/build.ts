// `bun run build [entry]`: compiles Tollgate into one executable, dist/tollgate. The test suite and
// the benchmark run that file, so what is tested is what is shipped.

import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BunPlugin } from 'bun';
import { version } from '../package.json';
import { buildWeb, type WebApp } from '../src/dashboard/web-build.ts';
import { renderDocs } from '../src/docs/render.ts';

const root = resolve(import.meta.dir, '..');
const folder = join(root, 'dist');
const outfile = join(folder, 'tollgate');
/** Built here, then moved: a gateway that runs from dist/tollgate never sees half a file. */
const workshop = join(folder, `.build-${process.pid}`);

/**
 * What runs in threads. They lie beside the program in the executable, regardless of their folder
 * here, so `new URL('./thread.ts', import.meta.url)` names the same one in both; names must differ.
 */
const threads = [
  'src/ledger/thread.ts',
  'src/server/self-audit-thread.ts',
  'src/server/series-thread.ts',
].map((path) => join(root, path));

const webApps: readonly WebApp[] = ['customer', 'operator'];

/**
 * Builds the pages and says where they lie, in the place of `embedded.ts`: the bundler then takes
 * each file into the executable as it is. Done beforehand, since a build that waits for another one
 * waits for ever.
 */
async function pagesPlugin(): Promise<BunPlugin> {
  const imports: string[] = [];
  const apps: string[] = [];
  for (const app of webApps) {
    const { page, files } = await buildWeb(app);
    const members: string[] = [];
    for (const [name, bytes] of Object.entries(files)) {
      const path = join(workshop, 'pages', app, `${name}.br`);
      await Bun.write(path, bytes);
      const variable = `file${imports.length}`;
      imports.push(`import ${variable} from ${JSON.stringify(path)} with { type: 'file' };`);
      members.push(`${JSON.stringify(name)}: ${variable}`);
    }
    apps.push(`${app}: { page: ${JSON.stringify(page)}, files: { ${members.join(', ')} } }`);
  }
  const contents = `${imports.join('\n')}\nexport const EMBEDDED = { ${apps.join(', ')} };\n`;
  return {
    name: 'pages',
    setup(builder) {
      builder.onLoad({ filter: /\/dashboard\/edge\/embedded\.ts$/ }, () => ({
        contents,
        loader: 'ts',
      }));
    },
  };
}

/** Renders the documentation, and puts a reader of the result in the place of `docs/load.ts`. */
async function docsPlugin(): Promise<BunPlugin> {
  const path = join(workshop, 'docs.json');
  await Bun.write(path, JSON.stringify(await renderDocs()));
  const contents = `import path from ${JSON.stringify(path)} with { type: 'file' };
export async function loadDocs() { return Bun.file(path).json(); }\n`;
  return {
    name: 'docs',
    setup(builder) {
      builder.onLoad({ filter: /\/src\/docs\/load\.ts$/ }, () => ({ contents, loader: 'ts' }));
    },
  };
}

/**
 * Builds `entry` into dist/tollgate. Identifiers stay as they are: the HTTP framework reads the
 * source text of handlers. The executable must not run code it finds in its working directory,
 * hence no bunfig and no env file of Bun's own. The source map that names real
 * lines in stack traces travels inside the executable.
 */
async function build(entry: string): Promise<void> {
  const startedAt = performance.now();
  await mkdir(workshop, { recursive: true });
  const result = await Bun.build({
    entrypoints: [entry, ...threads],
    naming: { entry: '[name].[ext]' },
    root,
    plugins: [await pagesPlugin(), await docsPlugin()],
    target: 'bun',
    format: 'esm',
    bytecode: true,
    sourcemap: 'linked',
    minify: { whitespace: true, syntax: true, identifiers: false },
    compile: {
      outfile: join(workshop, 'tollgate'),
      autoloadBunfig: false,
      autoloadDotenv: false,
      autoloadPackageJson: false,
      autoloadTsconfig: false,
    },
    define: {
      'process.env.NODE_ENV': '"production"',
      TOLLGATE_VERSION: JSON.stringify(version),
      TOLLGATE_COMMIT: JSON.stringify(commit()),
    },
    throw: false,
  });
  for (const log of result.logs) process.stderr.write(`${String(log)}\n`);
  if (result.success) await rename(join(workshop, 'tollgate'), outfile);
  await rm(workshop, { recursive: true });
  if (!result.success) process.exit(1);
  const megabytes = ((await stat(outfile)).size / 1e6).toFixed(0);
  const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
  process.stdout.write(`dist/tollgate ${version}, ${megabytes} MB, built in ${seconds} s\n`);
}

/** The short commit of the checkout; an unpacked archive has none. */
function commit(): string {
  const git = Bun.spawnSync(['git', '-C', root, 'rev-parse', '--short', 'HEAD'], {
    stderr: 'ignore',
  });
  return git.success ? git.stdout.toString().trim() : 'unknown';
}

await build(resolve(process.argv[2] ?? join(root, 'src/main.ts')));
