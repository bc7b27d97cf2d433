// Builds Tollgate into one executable. The same source, runtime and commit give the same bytes in any
// folder: no path of this machine enters the file.

import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Build, BunPlugin } from 'bun';
import { madeFiles } from './made-files.ts';

const root = resolve(import.meta.dir, '..');

/**
 * What runs in threads. They lie beside the program in the executable, regardless of their folder
 * here, so `new URL('./thread.ts', import.meta.url)` names the same one in both; names must differ.
 */
const threads = [
  'src/ledger/thread.ts',
  'src/server/self-audit-thread.ts',
  'src/server/reader-thread.ts',
  'src/server/series-thread.ts',
  'src/server/retention-thread.ts',
].map((path) => join(root, path));

/** A Bun of another machine that the executable is made of. */
export type Runtime = { readonly target: Build.CompileTarget; readonly path: string };

type ExecutableOptions = {
  readonly entry?: string;
  readonly outfile: string;
  readonly version: string;
  /** Eight digits, see `shortCommit`. */
  readonly commit: string;
  /** By default the Bun that builds. */
  readonly runtime?: Runtime;
  /** Changes of the source, for rehearsals of later versions. */
  readonly plugins?: readonly BunPlugin[];
};

export type Executable = {
  /** The folders of the packages whose code is inside, relative to the repository. */
  readonly packages: readonly string[];
};

/**
 * Builds the executable. Identifiers stay as they are: the HTTP framework reads the source text of
 * handlers. The executable must not run code it finds in its working directory, hence no bunfig and
 * no env file of Bun's own. The source map that names real lines in stack traces travels inside it.
 * Packages of the CommonJS kind get `/` as `__dirname`: none of them reads a file there.
 */
export async function buildExecutable(options: ExecutableOptions): Promise<Executable> {
  // Built beside its place, then moved: a gateway that runs from there never sees half a file.
  const workshop = join(dirname(options.outfile), `.build-${process.pid}`);
  await mkdir(workshop, { recursive: true });
  try {
    const made = await madeFiles();
    const result = await Bun.build({
      entrypoints: [options.entry ?? join(root, 'src/main.ts'), ...threads],
      naming: { entry: '[name].[ext]' },
      root,
      plugins: [made.plugin, ...(options.plugins ?? [])],
      target: 'bun',
      format: 'esm',
      bytecode: true,
      sourcemap: 'linked',
      metafile: true,
      minify: { whitespace: true, syntax: true, identifiers: false },
      compile: {
        outfile: join(workshop, 'tollgate'),
        autoloadBunfig: false,
        autoloadDotenv: false,
        autoloadPackageJson: false,
        autoloadTsconfig: false,
        ...(options.runtime && {
          target: options.runtime.target,
          executablePath: options.runtime.path,
        }),
      },
      define: {
        'process.env.NODE_ENV': '"production"',
        __dirname: '"/"',
        TOLLGATE_VERSION: JSON.stringify(options.version),
        TOLLGATE_COMMIT: JSON.stringify(options.commit),
      },
      throw: false,
    });
    if (!result.success) throw new Error(result.logs.map(String).join('\n'));
    for (const log of result.logs) process.stderr.write(`${String(log)}\n`);
    await rename(join(workshop, 'tollgate'), options.outfile);
    const inputs = [...Object.keys(result.metafile?.inputs ?? {}), ...made.inputs];
    return { packages: packageFolders(inputs) };
  } finally {
    await rm(workshop, { recursive: true });
  }
}

/**
 * The first eight digits of the checkout's commit; an unpacked archive has none. Git's own short form
 * grows with the repository.
 */
export function shortCommit(): string {
  const git = Bun.spawnSync(['git', '-C', root, 'rev-parse', 'HEAD'], { stderr: 'ignore' });
  return git.success ? git.stdout.toString().slice(0, 8) : 'unknown';
}

function packageFolders(inputs: readonly string[]): readonly string[] {
  const folders = inputs.flatMap(
    (path) =>
      /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  );
  return [...new Set(folders)].sort();
}
