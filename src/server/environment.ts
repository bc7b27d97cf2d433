// Reads the .env file and lays the process environment over it, once at the start of every command.
// Expands and executes nothing. It does not use the parser of node:util, which silently joins a
// line without "=" to the next one.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../config/read.ts';
import type { Environment } from '../core/environment.ts';
import { errorCodeOf } from '../core/message-of.ts';

export type LoadedEnvironment = {
  readonly variables: Readonly<Record<string, string>>;
  /** The names that the file sets, for `readConfig` to find misspelled ones among them. */
  readonly namesInFile: readonly string[];
};

/**
 * The variables of `.env` in `directory`, or of the file in `TOLLGATE_ENV_FILE`, overridden by
 * `processEnvironment`. A missing `.env` is fine. Throws `ConfigError` for a named file that is
 * missing, for one that cannot be read, and for a line that is not an assignment.
 */
export function readEnvironment(
  processEnvironment: Environment,
  directory: string,
): LoadedEnvironment {
  const named = fileNamed(processEnvironment);
  const fromFile = parseEnvFile(readText(directory, named), named ?? '.env');
  const variables: Record<string, string> = { ...fromFile };
  for (const [name, value] of Object.entries(processEnvironment)) {
    if (value !== undefined) variables[name] = value;
  }
  return { variables, namesInFile: Object.keys(fromFile) };
}

/** The file that `readEnvironment` reads where it exists. */
export function environmentPath(processEnvironment: Environment, directory: string): string {
  return resolve(directory, fileNamed(processEnvironment) ?? '.env');
}

function fileNamed(processEnvironment: Environment): string | undefined {
  return processEnvironment['TOLLGATE_ENV_FILE'] || undefined;
}

function readText(directory: string, named: string | undefined): string {
  const path = resolve(directory, named ?? '.env');
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const missing = errorCodeOf(error) === 'ENOENT';
    if (missing && named === undefined) return '';
    throw new ConfigError([
      missing
        ? `TOLLGATE_ENV_FILE names a file that does not exist: ${path}`
        : `${path} cannot be read. Check that it is a file and that its permissions allow it.`,
    ]);
  }
}

const IGNORED = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;

/** The value is in the group of its kind: double quotes, single quotes, or none. */
const ASSIGNMENT =
  /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\[\s\S])*)"[ \t]*(?:[ \t]#[^\n]*)?|'([^']*)'[ \t]*(?:[ \t]#[^\n]*)?|((?!["'])[^\n]*))(?:\n|$)/y;

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Parses `NAME=value` lines; `export` may precede a name, `#` starts a comment. Single quotes are
 * literal, double quotes know \n, \r, \t, \" and \\; both may span lines. The last assignment of a
 * name wins. `label` names the file in messages. Throws `ConfigError` with every bad line.
 */
export function parseEnvFile(source: string, label: string): Record<string, string> {
  const text = source.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const variables = new Map<string, string>();
  const problems: string[] = [];
  let at = 0;
  while (at < text.length) {
    const ignored = matchAt(IGNORED, text, at);
    const match = ignored ?? matchAt(ASSIGNMENT, text, at);
    if (match === undefined) {
      const line = text.slice(0, at).split('\n').length;
      problems.push(`${label}, line ${line}: must be NAME=value, or a comment that starts with #.`);
      const end = text.indexOf('\n', at);
      at = end === -1 ? text.length : end + 1;
      continue;
    }
    at += match[0].length;
    const name = match[1];
    if (name !== undefined) variables.set(name, assignedValue(match));
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.fromEntries(variables);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function assignedValue(match: RegExpExecArray): string {
  const [, , double, single, bare = ''] = match;
  if (double !== undefined) {
    return double.replace(/\\([\s\S])/g, (whole, letter: string) =>
      letter === '"' || letter === '\\' ? letter : (ESCAPES[letter] ?? whole),
    );
  }
  return single ?? bare.replace(/(^|[ \t])#.*$/, '').trim();
}
