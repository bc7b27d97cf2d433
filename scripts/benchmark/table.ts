// Prints results: Markdown tables, and lines beside them.

export type Line = readonly (string | number)[];

export function printTable(columns: Line, lines: readonly Line[]): void {
  const rows = [columns, columns.map(() => '---'), ...lines].map((line) => line.map(String));
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const text = rows.map((row) => {
    const cells = widths.map((width, at) =>
      at === 0 ? (row[at] ?? '').padEnd(width) : (row[at] ?? '').padStart(width),
    );
    return `| ${cells.join(' | ')} |\n`;
  });
  process.stdout.write(`\n${text.join('')}`);
}

/** Whole numbers with separators from 100 on; below, so many digits. */
export function shown(value: number, digits = 2): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(digits)));
}

export function secondsSince(startedAt: number): string {
  return shown((performance.now() - startedAt) / 1_000);
}

export function say(text: string): void {
  process.stdout.write(`\n${text}\n`);
}
