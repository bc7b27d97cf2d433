// The scalar settings: which variables there are, and how they are read. The command line calls it
// once at the start. It is pure: it reads no file and no process environment by itself, and no
// message of it ever shows a value, because a value may be a secret.

import {
  accept,
  baseUrl,
  databaseUrl,
  host,
  mailFrom,
  networks,
  oneOf,
  optional,
  type Parser,
  portOrOff,
  seconds,
  secret,
  smtpUrl,
  token,
  webhookUrl,
  wholeNumber,
  workers,
} from './config-values.ts';
import type { Environment } from './core/environment.ts';
import { nearest } from './core/nearest.ts';
import type { LogLevel } from './observe/log.ts';
import type { SyncMode } from './store/contract.ts';
import { type RedisTarget, readRedisUrl } from './store/redis/target.ts';

export type Config = {
  readonly host: string;
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** The public address without a trailing slash; absent: see `publicUrl`. */
  readonly baseUrl: string | undefined;
  /** `sqlite:` and a path, or the URL of a PostgreSQL database, which may hold a password. */
  readonly databaseUrl: string;
  /** The catalog's path where one is set; absent: `./catalog.toml` or the built-in one. */
  readonly catalogPath: string | undefined;
  /** Absent: kept thinking ends with the server, and sign-in has a secret of its own in a file. */
  readonly sessionSecret: string | undefined;
  /** Whether thinking is kept, sealed, for clients that lose it. */
  readonly reasoningStore: 'on' | 'off';
  /** Where the operator's console listens. */
  readonly operatorHost: string;
  /** Absent: the one after `port`, or any where that is any. */
  readonly operatorPort: number | 'off' | undefined;
  /** Addresses and CIDR ranges whose `x-forwarded-for` is believed. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: LogLevel;
  readonly ledgerSync: SyncMode;
  /** For how long a server that stops is not ready, and takes requests all the same. */
  readonly drainDelayMs: number;
  readonly drainMs: number;
  readonly heartbeatMs: number;
  readonly silentCommitMs: number;
  /** How often a server audits its own books. */
  readonly auditMs: number;
  /** Opens `/metrics` to whoever sends it; absent: to this machine alone. */
  readonly metricsToken: string | undefined;
  /** Where alerts are sent; may hold a secret. */
  readonly alertWebhookUrl: string | undefined;
  /** What signs them. */
  readonly alertWebhookSecret: string | undefined;
  /** Who may sign up for the dashboard. */
  readonly signUp: 'open' | 'invite' | 'closed';
  /** Where mails are handed over; may hold a password. Absent: links are in the log. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string | undefined;
  /** What limits are leased from, and changes are announced by; may hold a password. */
  readonly redis: RedisTarget | undefined;
  /** Server threads; `auto` is one for each core. */
  readonly workers: number | 'auto';
};

type Variable = {
  readonly name: string;
  /** Empty: unset. Goes through the same reader as a value that was set. */
  readonly fallback: string;
  readonly about: string;
};

/** Every variable that the program knows. `.env.example` is held against this table by a test. */
export const VARIABLES = [
  {
    name: 'HOST',
    fallback: '127.0.0.1',
    about: 'Address to listen on; 0.0.0.0 opens the server to other machines.',
  },
  { name: 'PORT', fallback: '3000', about: 'Port to listen on; 0 takes any free one.' },
  {
    name: 'OPERATOR_HOST',
    fallback: '127.0.0.1',
    about: "Address of the operator's console; anything but this machine needs TLS before it.",
  },
  {
    name: 'OPERATOR_PORT',
    fallback: '',
    about: "Port of the operator's console; by default PORT + 1; off for none.",
  },
  {
    name: 'BASE_URL',
    fallback: '',
    about: 'Public address that users are shown, without /v1; by default made of HOST and PORT.',
  },
  {
    name: 'DATABASE_URL',
    fallback: 'sqlite:./data/tollgate.db',
    about:
      'Where accounts and money are kept: sqlite: and the path of a file, or postgres:// and a database.',
  },
  {
    name: 'CATALOG',
    fallback: '',
    about: 'Models, prices and plans; by default ./catalog.toml, or the built-in demo without it.',
  },
  {
    name: 'SESSION_SECRET',
    fallback: '',
    about:
      'At least 32 characters for kept thinking and sign-in; unset, sign-in has a file by the database.',
  },
  {
    name: 'REASONING_STORE',
    fallback: 'on',
    about:
      'on keeps thinking for a day, sealed, for clients that lose it between tool calls; off keeps none.',
  },
  {
    name: 'TRUSTED_PROXIES',
    fallback: '',
    about: 'Addresses or CIDR ranges, split by commas, whose x-forwarded-for header is believed.',
  },
  { name: 'LOG_LEVEL', fallback: 'info', about: 'One of debug, info, warn, error, silent.' },
  {
    name: 'LEDGER_SYNC',
    fallback: 'full',
    about: 'full survives a power cut; normal is faster and survives a killed process only.',
  },
  {
    name: 'DRAIN_DELAY_SECONDS',
    fallback: '0',
    about:
      'How long a server that stops still takes requests, until load balancers have seen /readyz.',
  },
  {
    name: 'DRAIN_SECONDS',
    fallback: '30',
    about: 'How long a server that stops waits for the answers that are under way.',
  },
  {
    name: 'HEARTBEAT_SECONDS',
    fallback: '15',
    about: 'How often a stream is kept alive while the upstream is silent.',
  },
  {
    name: 'SILENT_COMMIT_SECONDS',
    fallback: '15',
    about:
      'Seconds without content until a stream gets headers and heartbeats; upstreams are still tried.',
  },
  {
    name: 'AUDIT_SECONDS',
    fallback: '3600',
    about: 'How often a server audits its own books, beside one audit shortly after its start.',
  },
  {
    name: 'METRICS_TOKEN',
    fallback: '',
    about:
      'At least 32 characters that open /metrics as a bearer token; unset, this machine alone.',
  },
  {
    name: 'ALERT_WEBHOOK_URL',
    fallback: '',
    about:
      'Address that alerts for the operator are sent to as JSON; unset, the log alone has them.',
  },
  {
    name: 'ALERT_WEBHOOK_SECRET',
    fallback: '',
    about: 'At least 32 characters that sign what is sent there, in the header tollgate-signature.',
  },
  {
    name: 'WORKERS',
    fallback: '1',
    about: 'Server threads, or auto for one a core; with 1 the main thread serves.',
  },
  {
    name: 'REDIS_URL',
    fallback: '',
    about:
      'Redis that nodes share their limits by: redis:, rediss:, redis+sentinel: or redis+cluster:.',
  },
  {
    name: 'SIGNUP',
    fallback: 'invite',
    about: 'Who may sign up: open for everybody, invite for whoever has an invitation, or closed.',
  },
  {
    name: 'SMTP_URL',
    fallback: '',
    about:
      'Mail server, such as smtps://user:password@mail.example.com; unset, links are in the log.',
  },
  {
    name: 'MAIL_FROM',
    fallback: '',
    about: 'Sender of mails, such as Gateway <gateway@example.com>; needed with SMTP_URL.',
  },
  {
    name: 'TOLLGATE_ENV_FILE',
    fallback: '',
    about: 'Path of the file to read instead of .env; only from the process environment.',
  },
] as const satisfies readonly Variable[];

type VariableName = (typeof VARIABLES)[number]['name'];

/** Everything that is wrong with the settings, one line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads the settings. An empty value counts as unset. `namesInFile` are the names that a `.env`
 * file sets: one that nearly is a known name is a mistake there. Throws `ConfigError`.
 */
export function readConfig(environment: Environment, namesInFile: readonly string[] = []): Config {
  const problems = misspelled(namesInFile);
  const read = <T>(name: VariableName, parse: Parser<T>): T => {
    const fallback = VARIABLES.find((variable) => variable.name === name)?.fallback ?? '';
    const result = parse(environment[name]?.trim() || fallback);
    if ('value' in result) return result.value;
    problems.push(`${name} ${result.problem}`);
    const instead = parse(fallback);
    if ('value' in instead) return instead.value;
    throw new ConfigError(problems);
  };
  const config: Config = {
    host: read('HOST', host),
    port: read('PORT', wholeNumber(0, 65_535)),
    operatorHost: read('OPERATOR_HOST', host),
    operatorPort: read('OPERATOR_PORT', optional(portOrOff)),
    baseUrl: read('BASE_URL', optional(baseUrl)),
    databaseUrl: read('DATABASE_URL', databaseUrl),
    catalogPath: read('CATALOG', optional(accept)),
    sessionSecret: read('SESSION_SECRET', optional(secret)),
    reasoningStore: read('REASONING_STORE', oneOf(['on', 'off'])),
    trustedProxies: read('TRUSTED_PROXIES', networks),
    logLevel: read('LOG_LEVEL', oneOf(['debug', 'info', 'warn', 'error', 'silent'])),
    ledgerSync: read('LEDGER_SYNC', oneOf(['full', 'normal'])),
    drainDelayMs: read('DRAIN_DELAY_SECONDS', seconds(0, 3_600)),
    drainMs: read('DRAIN_SECONDS', seconds(0, 3_600)),
    heartbeatMs: read('HEARTBEAT_SECONDS', seconds(0.01, 3_600)),
    silentCommitMs: read('SILENT_COMMIT_SECONDS', seconds(0.01, 3_600)),
    auditMs: read('AUDIT_SECONDS', seconds(0.01, 86_400)),
    metricsToken: read('METRICS_TOKEN', optional(token)),
    alertWebhookUrl: read('ALERT_WEBHOOK_URL', optional(webhookUrl)),
    alertWebhookSecret: read('ALERT_WEBHOOK_SECRET', optional(secret)),
    signUp: read('SIGNUP', oneOf(['open', 'invite', 'closed'])),
    smtpUrl: read('SMTP_URL', optional(smtpUrl)),
    mailFrom: read('MAIL_FROM', optional(mailFrom)),
    redis: read('REDIS_URL', optional(readRedisUrl)),
    workers: read('WORKERS', workers),
  };
  if (config.smtpUrl !== undefined && config.mailFrom === undefined) {
    problems.push('MAIL_FROM is needed with SMTP_URL: mail servers refuse mails without a sender.');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** The address that users are shown. `port` is the one that the server really listens on. */
export function publicUrl(config: Config, port: number): string {
  if (config.baseUrl !== undefined) return config.baseUrl;
  const open = config.host === '0.0.0.0' || config.host === '::';
  return httpUrl(open ? 'localhost' : config.host, port);
}

/** The URL of a host and a port; an IPv6 address gets its brackets. */
export function httpUrl(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function misspelled(namesInFile: readonly string[]): string[] {
  const known: string[] = VARIABLES.map((variable) => variable.name);
  return namesInFile.flatMap((name) => {
    const meant = known.includes(name) ? undefined : nearest(name, known);
    if (meant === undefined) return [];
    return [`${name} is not a known variable; did you mean ${meant}?`];
  });
}
