// Tables as text: one step a line, the action on the left of `->`, the outcome on the right.

export type Row = { readonly step: readonly string[]; readonly expected: string };

/** Blank lines and lines that start with `#` are for the reader. */
export function rows(text: string): Row[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [step, expected] = line.split('->');
      if (step === undefined || expected === undefined) throw new Error(`no "->" in: ${line}`);
      return { step: step.trim().split(/\s+/), expected: expected.trim().replace(/\s+/g, ' ') };
    });
}
