// Prints a line of a script's report.

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
