// The contract of commands: a command takes the context and its arguments and returns one output,
// which the program prints as text or JSON. No command prints or exits by itself.

import type { Command, OptionValues } from 'commander';
import type { Context } from './context.ts';

/** `text` is for people, without a trailing line break; `json` is one document for programs. */
export type Output = {
  readonly json: unknown;
  readonly text: string;
  /** Replaces both, where the output is too large for memory. */
  readonly pieces?: AsyncIterable<string>;
  /** 0 where absent. */
  readonly exitCode?: number;
};

/** The actor of commands in the audit trail. */
export const OPERATOR = 'operator';

/** A command that fails; printed with its code, exit code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The function of a command, with its options and arguments. */
export type Work<Options extends OptionValues> = (
  context: Context,
  options: Options,
  ...args: string[]
) => Output | Promise<Output>;

/** Connects a command to its function and prints the output; made by the program. */
export type Perform = <Options extends OptionValues>(command: Command, work: Work<Options>) => void;

/** Adds a command with the options that all commands share. */
export function addCommand(parent: Command, signature: string, about: string): Command {
  return parent
    .command(signature)
    .description(about)
    .helpCommand(false)
    .option('--json', 'print one JSON document instead of text');
}

/** Adds a command that only groups others. */
export function addGroup(program: Command, name: string, about: string): Command {
  return program.command(name).description(about).helpCommand(false);
}

/** Columns as wide as their widest cell, two spaces apart. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) =>
    Math.max(...lines.map((line) => (line[column] ?? '').length)),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** `2026-11-21 07:58:03`, UTC. */
export function shortTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}

/** A page of text; a longer one is no password and no key. */
const STDIN_BYTES_MAX = 4_096;

/** The text on standard input, without its last line break. */
export async function readSecret(): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of Bun.stdin.stream()) {
    size += chunk.byteLength;
    if (size > STDIN_BYTES_MAX) break;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
}
