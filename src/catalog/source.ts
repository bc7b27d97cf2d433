// Loads the catalog's text as a plain document: from the file or the built-in catalog, parsed as
// TOML, with ${NAME} replaced from the environment. Messages never contain values.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Environment } from '../core/environment.ts';
import { errorCodeOf } from '../core/message-of.ts';
import { type Sentence, say, wordsOf } from '../core/sentence.ts';
import { DEMO_CATALOG } from './demo-catalog.ts';
import { type Problem, tomlKey } from './schema.ts';

/** All problems of a catalog. The message has one line for each, in English. */
export class CatalogError extends Error {
  override readonly name = 'CatalogError';
  readonly problems: readonly Sentence[];

  constructor(problems: readonly Sentence[]) {
    super(problems.map(wordsOf).join('\n'));
    this.problems = problems;
  }
}

/** A problem with the file that has it. */
export function inFile(label: string, { path, text: problem }: Problem): Sentence {
  return say('{label}: {path}: {problem}', { label, path, problem });
}

export type FoundCatalog = {
  readonly origin: 'file' | 'built-in';
  /** The absolute path of the file; absent for the built-in catalog. */
  readonly path?: string;
  readonly text: string;
  readonly environment: Environment;
  /** Whether another node published the text: the files that it names may be missing here. */
  readonly isFollowed?: boolean;
};

type CatalogSearch = {
  /** The value of `CATALOG`, if set. */
  readonly path?: string | undefined;
  readonly environment: Environment;
  readonly directory: string;
  /** The source of the path, for messages; defaults to the variable CATALOG. */
  readonly namedBy?: string;
};

/**
 * Reads the configured file, or `catalog.toml` in `directory`, or else the built-in demo catalog.
 * Throws `CatalogError` for a missing configured file, or any unreadable one.
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
    const missing = errorCodeOf(error) === 'ENOENT';
    if (missing && path === undefined) {
      return { origin: 'built-in', text: DEMO_CATALOG, environment };
    }
    throw new CatalogError([
      missing
        ? say('{namedBy} names a file that does not exist: {file}', { namedBy, file })
        : say('{file} cannot be read. Check that it is a file and that its permissions allow it.', {
            file,
          }),
    ]);
  }
}

/** Parses TOML to a plain value. Throws `CatalogError` with the line and the column. */
export function parseToml(text: string, label: string): unknown {
  try {
    return Bun.TOML.parse(text);
  } catch (error) {
    const problem = failureOf(error);
    const { line, column } = locate(text, problem);
    throw new CatalogError([
      say('{label}: line {line}, column {column}: {problem}', {
        label,
        line: String(line),
        column: String(column),
        problem,
      }),
    ]);
  }
}

/** Where and why a text is not TOML; `undefined` for valid text. */
export function tomlProblem(text: string) {
  const problem = tomlFailure(text);
  return problem === undefined ? undefined : { ...locate(text, problem), problem };
}

/** The parser's message, or `undefined` for valid text. */
function tomlFailure(text: string): string | undefined {
  try {
    Bun.TOML.parse(text);
    return undefined;
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): string {
  return error instanceof Error ? withoutValues(error.message) : 'is not TOML';
}

/** Removes quoted text, which may be a secret. Keys and single punctuation marks may stay. */
function withoutValues(message: string): string {
  return message
    .replace(/^TOML Parse error: /, '')
    .replace(/:? *"[\s\S]*"/, '')
    .replace(/(key |table )?'([^']*)'/g, (quoted, kind: string | undefined, inner: string) =>
      kind !== undefined || inner.length < 3 ? quoted : 'something else',
    );
}

/**
 * Finds the position of a mistake, because Bun's parser gives none. It reads from left to right, so
 * every prefix that contains the mistake fails with the same message. The shortest prefix in the
 * last run of failures ends at the mistake.
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
 * The start of the last run of counts up to `most`, from 1 on, for which `holds` is true. Searches
 * backwards in growing steps, then by bisection: a server parses catalogs of thousands of lines
 * while serving, and parsing once per line would block it.
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

/** Replaces `${NAME}` in every string value, and dates by their text; collects unset names. */
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
      const text = say('must have the name of a variable between the braces after $');
      problems.push({ path, text });
      return reference;
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && value !== '') return value;
    problems.push({
      path,
      text: say('needs the variable {name}, which is not set in the environment', { name }),
    });
    return reference;
  });
}
