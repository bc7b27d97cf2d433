// Reads CSV files (RFC 4180) without line breaks in cells.

export function parseCsv(text: string): string[][] {
  const cells = /(?:^|,)("(?:[^"]|"")*"|[^,]*)/g;
  return text
    .trimEnd()
    .split('\r\n')
    .map((line) => [...line.matchAll(cells)].map(([, cell = '']) => unquoted(cell)));
}

function unquoted(cell: string): string {
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}
