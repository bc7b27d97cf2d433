// The contract of commands: a command takes the context and its arguments and returns one output,
// which the program prints as text or JSON. No command prints or exits by itself.

import type { Command, OptionValues } from 'commander';
import { isDay, parseInstant } from '../core/instant.ts';
import { parseDecimal } from '../core/money.ts';
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

const DURATION_MS_MAX = 3_650 * 86_400_000;

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

/** Parses a whole number of at least 1. Throws `invalid_number` that names `option`. */
export function parseCount(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new CommandError('invalid_number', `${option} needs a whole number from 1 to 999999999.`);
}

/** Parses such as `0.5` or `20%` to 10⁻⁴ of a percent. Throws `invalid_number` that names `option`. */
export function parsePercent(text: string, option: string): bigint {
  const value = parseDecimal(text.replace(/ ?%$/, ''), 4);
  if (value !== undefined && value >= 0n) return value;
  throw new CommandError('invalid_number', `${option} needs a percentage such as 0.5 or 20%.`);
}

/** The error of an option that names nothing; `names` are those of `where`. */
export function oneOf(option: string, where: string, names: Iterable<string>): CommandError {
  const list = [...names].toSorted().join(', ');
  return new CommandError('unknown_name', `${option} needs one of ${where}: ${list}.`);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration to milliseconds. Throws `invalid_duration` that names `option`. */
export function parseDuration(text: string, option: string): number {
  const [, digits = '', unit = ''] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (UNIT_MS[unit] ?? 0);
  if (ms > 0 && ms <= DURATION_MS_MAX) return ms;
  throw new CommandError(
    'invalid_duration',
    `${option} needs a whole number and a unit, such as 90s, 30m, 12h or 7d; at most 3650d.`,
  );
}

/** Parses an expiry to Unix milliseconds. Throws `invalid_expiry`. */
export function parseExpiry(text: string): number {
  const ms = parseInstant(isDay(text) ? `${text}T00:00:00Z` : text);
  if (ms !== undefined) return ms;
  throw new CommandError(
    'invalid_expiry',
    'The expiry date is not valid. Write it as 2027-01-31 (UTC midnight) or 2027-01-31T12:00:00Z.',
  );
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

/** A list; `cells` maps a record to a row of the table. */
export function listOutput<Row>(
  data: readonly Row[],
  header: readonly string[],
  cells: (record: Row) => readonly string[],
): Output {
  return { json: { object: 'list', data }, text: table(header, data.map(cells)) };
}

/** A short time from a record; `-` where there is none. */
export function shortInstant(text: string | null): string {
  return text === null ? '-' : shortTime(Date.parse(text));
}

/** `2026-11-21 07:58:03`, UTC. */
export function shortTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
}
