// What a planted fault is: plain data. scripts/sabotage plants each one in a copy of the repository,
// one at a time, and wants the tests that are named to fail.

/** `find` stands in `file` exactly once, and `put` takes its place. */
export type Edit = { readonly file: string; readonly find: string; readonly put: string };

export type Fault = {
  /** A fault that can stand in several places has a letter for each. */
  readonly id: string;
  /** What the program does with the fault in it, in one sentence. */
  readonly plants: string;
  readonly edits: readonly Edit[];
  /** The files, or folders, that must catch it: the narrowest that do. */
  readonly tests: readonly string[];
  /** Runs only the tests whose name this regular expression matches; all of them where absent. */
  readonly only?: string;
};

/** Takes `text` apart where `find` is; how often that is found, and what comes out of it. */
export function plant(text: string, { find, put }: Edit): { count: number; planted: string } {
  const parts = text.split(find);
  return { count: parts.length - 1, planted: parts.join(put) };
}
