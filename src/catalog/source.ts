// Where the catalog's text comes from and how it becomes a plain document: the file or the built-in
// catalog, TOML, and ${NAME} taken from the environment. Values never appear in its messages.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Environment } from '../core/environment.ts';
import { DEMO_CATALOG } from './demo-catalog.ts';
import { type Problem, tomlKey } from './schema.ts';

/** Everything that is wrong with a catalog, one line each. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

export type FoundCatalog = {
  readonly origin: 'file' | 'built-in';
  /** The absolute path of the file; absent for the built-in catalog. */
  readonly path?: string;
  readonly text: string;
  readonly environment: Environment;
};

type CatalogSearch = {
  /** `CATALOG`, where it is set. */
  readonly path?: string | undefined;
  readonly environment: Environment;
  readonly directory: string;
  /** What the path comes from, for messages; by default the variable CATALOG. */
  readonly namedBy?: string;
};

/**
 * Reads the configured file, or `catalog.toml` in `directory`, or else the built-in demo catalog.
 * A configured file that is missing, or any that cannot be read, throws `CatalogError`.
 */
export function findCatalog({
  path,
  environment,
  directory,
  namedBy = 'CATALOG',
}: CatalogSearch): FoundCatalog {
  const file = resolve(directory, path ?? 'catalog.toml');
  try {
    return { origin: 'file', path: file, text: readFileSync(file, 'utf8'), environment };
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (missing && path === undefined) {
      return { origin: 'built-in', text: DEMO_CATALOG, environment };
    }
    throw new CatalogError([
      missing
        ? `${namedBy} names a file that does not exist: ${file}`
        : `${file} cannot be read. Check that it is a file and that its permissions allow it.`,
    ]);
  }
}

/** The plain value of TOML text. Throws `CatalogError` with the line and the column. */
export function parseToml(text: string, label: string): unknown {
  const failure = tomlFailure(text);
  if (failure === undefined) return Bun.TOML.parse(text);
  const { line, column } = locate(text, failure);
  throw new CatalogError([`${label}: line ${line}, column ${column}: ${failure}`]);
}

/** The parser's message, or `undefined` for valid text. */
function tomlFailure(text: string): string | undefined {
  try {
    Bun.TOML.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? withoutValues(error.message) : 'is not TOML';
  }
}

/** Some messages quote the text at fault, which may be a secret. Keys and single signs may stay. */
function withoutValues(message: string): string {
  return message
    .replace(/^TOML Parse error: /, '')
    .replace(/:? *"[\s\S]*"/, '')
    .replace(/(key |table )?'([^']*)'/g, (quoted, kind: string | undefined, inner: string) =>
      kind !== undefined || inner.length < 3 ? quoted : 'something else',
    );
}

/**
 * Bun's parser gives no position. It reads from left to right, so every prefix that holds the
 * mistake fails with the same message: the shortest prefix in the last run that does ends at it.
 */
function locate(text: string, failure: string): { line: number; column: number } {
  const lines = text.split('\n');
  const prefix = (count: number) =>
    lines
      .slice(0, count)
      .map((line) => `${line}\n`)
      .join('');
  const line = startOfRun((count) => tomlFailure(prefix(count)) === failure, lines.length);
  const before = prefix(line - 1);
  const last = lines[line - 1] ?? '';
  const column = startOfRun(
    (count) => tomlFailure(before + last.slice(0, count)) === failure,
    last.length,
  );
  return { line, column: Math.max(1, column) };
}

/**
 * The number at which the last run begins that `holds` up to `most`, from 1 on. Back in growing
 * steps and then by halves: a server parses a catalog of thousands of lines while it serves, and one
 * parse a line would hold it up for long.
 */
function startOfRun(holds: (count: number) => boolean, most: number): number {
  let high = most;
  let step = 1;
  while (high - step > 0 && holds(high - step)) {
    high -= step;
    step *= 2;
  }
  let low = Math.max(0, high - step);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

const REFERENCE = /\$\{([^}]*)\}?/g;
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Replaces `${NAME}` in every string value, and dates by their text; collects what is not set. */
export function substitute(
  value: unknown,
  environment: Environment,
  problems: Problem[],
  path = '',
): unknown {
  if (typeof value === 'string') return fill(value, environment, problems, path);
  if (Array.isArray(value)) {
    return value.map((item, index) => substitute(item, environment, problems, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return String(value);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const below = path === '' ? tomlKey(key) : `${path}.${tomlKey(key)}`;
      return [key, substitute(member, environment, problems, below)];
    }),
  );
}

function fill(text: string, environment: Environment, problems: Problem[], path: string): string {
  return text.replace(REFERENCE, (reference, name: string) => {
    if (!VARIABLE_NAME.test(name) || !reference.endsWith('}')) {
      problems.push({ path, text: 'must have the name of a variable between the braces after $' });
      return reference;
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && value !== '') return value;
    problems.push({
      path,
      text: `needs the variable ${name}, which is not set in the environment`,
    });
    return reference;
  });
}
