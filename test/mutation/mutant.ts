// The type of a mutant: plain data. scripts/mutation applies each one to a copy of the repository,
// one at a time, and expects the tests that it names to fail.

import { join } from 'node:path';
import { createSource, type Source } from './source.ts';

/**
 * Replaces the code `find` with `put`. `in` is the name of the function, method, constant or type
 * that has it, wherever in src/ that is, or the path of a file that is no TypeScript. Code is
 * compared token by token, so that formatting and comments do not matter. It must be found once.
 */
export type Edit = { readonly in: string; readonly find: string; readonly put: string };

export type Mutant = {
  /** A mutant that fits several places has a letter for each. */
  readonly id: string;
  /** What the program does with the mutant in it, in one sentence. */
  readonly does: string;
  readonly edits: readonly Edit[];
  /** The files, or folders, that must catch it: the narrowest that do. */
  readonly tests: readonly string[];
  /** Runs only the tests whose name this regular expression matches; all of them where absent. */
  readonly only?: string;
};

export type Tree = {
  /** The paths of the files that change, with their new text. Throws where an edit does not fit. */
  readonly apply: (mutant: Mutant) => Promise<ReadonlyMap<string, string>>;
};

/** The files under `root` as they are now; each is read once. */
export async function readTree(root: string): Promise<Tree> {
  const paths = await Array.fromAsync(new Bun.Glob('src/**/*.ts').scan({ cwd: root }));
  const sources = new Map<string, Source>();
  for (const path of paths)
    sources.set(path, createSource(await Bun.file(join(root, path)).text()));

  async function read(path: string): Promise<Source> {
    return createSource(await Bun.file(join(root, path)).text(), 'words');
  }

  return {
    async apply({ edits }) {
      const changed = new Map<string, Source>();
      for (const edit of edits) {
        const candidates = edit.in.includes('.') ? [edit.in] : paths;
        const found: [path: string, text: string][] = [];
        for (const path of candidates) {
          const source = changed.get(path) ?? sources.get(path) ?? (await read(path));
          for (const text of source.replace(edit)) found.push([path, text]);
        }
        const [only] = found;
        if (only === undefined || found.length > 1) {
          throw new Error(`${edit.in} has this ${found.length} times: ${edit.find}`);
        }
        changed.set(only[0], createSource(only[1], edit.in.includes('.') ? 'words' : 'code'));
      }
      return new Map([...changed].map(([path, { text }]) => [path, text]));
    },
  };
}
