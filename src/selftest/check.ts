// What the self-test reports: checks that hold or do not, in the order in which they ran.

export type Check = {
  readonly name: string;
  readonly ok: boolean;
  /** What was counted or measured, or the first thing that was wrong. */
  readonly detail: string;
};

/** A check of a list of cases: it holds where none is wrong. */
export function checkOf(name: string, wrong: readonly string[], detail: string): Check {
  const [first] = wrong;
  if (first === undefined) return { name, ok: true, detail };
  return { name, ok: false, detail: `${wrong.length} wrong, the first: ${first}` };
}
