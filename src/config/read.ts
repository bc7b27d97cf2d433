// Reads the settings once, at the start. Pure: it accesses neither files nor the process
// environment, and its messages never contain a value, which may be a secret.

import type { Environment } from '../core/environment.ts';
import { nearest } from '../core/nearest.ts';
import type { Setting } from './parsers.ts';
import { type Config, SETTINGS, VARIABLES } from './settings.ts';

/** All problems of the settings, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads the settings. An empty value counts as unset. `namesInFile` are the names in a `.env` file,
 * where a misspelled setting is an error. Throws `ConfigError`.
 */
export function readConfig(environment: Environment, namesInFile: readonly string[] = []): Config {
  const problems = [...misspelled(namesInFile), ...removed(environment)];
  const read = ({ name, fallback, parse }: Setting): unknown => {
    const text = environment[name]?.trim() || fallback;
    const result = text === undefined ? { value: undefined } : parse(text);
    if ('value' in result) return result.value;
    problems.push(`${name} ${result.problem}`);
    return undefined;
  };
  const entries = Object.entries(SETTINGS).map(([key, setting]) => [key, read(setting)]);
  const config = Object.fromEntries(entries) as Config;
  if (config.smtpUrl !== undefined && config.mailFrom === undefined) {
    problems.push('MAIL_FROM is needed with SMTP_URL: mail servers refuse mails without a sender.');
  }
  if (config.reusePort === 'on' && config.databaseUrl?.startsWith('sqlite:')) {
    problems.push('REUSE_PORT=on needs PostgreSQL in DATABASE_URL: SQLite has one server.');
  }
  if (config.backupDirectory !== undefined && isServer(config)) {
    problems.push(
      'BACKUP_DIR needs SQLite in DATABASE_URL: back PostgreSQL up with pg_dump, or with base backups and its WAL archive. See "tollgate docs backup-and-upgrade".',
    );
  }
  if (config.retentionDays !== 'off' && config.archiveDir === undefined && isServer(config)) {
    problems.push('ARCHIVE_DIR is needed with RETENTION_DAYS on PostgreSQL, and on every node.');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

function isServer({ databaseUrl }: Config): boolean {
  return databaseUrl?.startsWith('sqlite:') === false;
}

/** Rejects the removed WORKERS, unless its value is what every server does now. */
function removed(environment: Environment): string[] {
  const workers = environment['WORKERS']?.trim() || '1';
  if (workers === '1') return [];
  return [
    'WORKERS is no longer a setting: a server answers requests in one thread. Remove it. To use more cores, start several nodes on PostgreSQL with REUSE_PORT=on: see "tollgate docs clusters".',
  ];
}

function misspelled(namesInFile: readonly string[]): string[] {
  const known = VARIABLES.map(({ name }) => name);
  return namesInFile.flatMap((name) => {
    const meant = known.includes(name) ? undefined : nearest(name, known);
    if (meant === undefined) return [];
    return [`${name} is not a known variable; did you mean ${meant}?`];
  });
}
