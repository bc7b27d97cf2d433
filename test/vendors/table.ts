// The result of the matrix as a table, and the reasons of the cells that do not hold.

import type { EveryFormat } from '../support/client.ts';

export type Result = {
  readonly row: string;
  readonly name: string;
  readonly format: EveryFormat;
  /** Why the cell does not hold; absent where it does. */
  readonly reason?: string;
};

/** Formats by their first letters where a cell does not hold, else a dot. */
function shown(results: readonly Result[]): string {
  if (results.length === 0) return '   ';
  return results.map(({ format, reason }) => (reason === undefined ? '.' : format[0])).join('');
}

/** A line a row and a column a case; below it, each cell that does not hold with its reason. */
export function tableOf(results: readonly Result[]): string {
  const rows = [...new Set(results.map(({ row }) => row))];
  const names = [...new Set(results.map(({ name }) => name))];
  const width = Math.max(...rows.map((row) => row.length));
  const lines = rows.map((row) => {
    const cells = names.map((name) => {
      return shown(results.filter((result) => result.row === row && result.name === name));
    });
    return `${row.padEnd(width)}  ${cells.map((cell) => cell.padEnd(4)).join(' ')}`;
  });
  const numbers = names.map((_, index) => String(index + 1).padEnd(4)).join(' ');
  const key = names.map((name, index) => `${index + 1} ${name}`).join(', ');
  const failed = results.filter(({ reason }) => reason !== undefined);
  return [
    `${' '.repeat(width)}  ${numbers}`,
    ...lines,
    '',
    `${results.length - failed.length} of ${results.length} cells hold. "..." holds; "c", "m" and "r" do not hold in the chat, Messages and Responses format.`,
    `Cases: ${key}`,
    ...failed.map(describe),
    '',
  ].join('\n');
}

/** A cell with its reason, in one line. */
export function describe({ row, name, format, reason = '' }: Result): string {
  return `${row}, ${name}, ${format}: ${reason.replaceAll(/\s+/g, ' ').slice(0, 400)}`;
}
