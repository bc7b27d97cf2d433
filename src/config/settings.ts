// Every setting, one row each: variable, default, parser and description for operators. `Config`,
// the table in src/docs/operators/configuration.md and `.env.example` are generated from these
// rows.

import type { Parser } from './parsers.ts';
import * as parsers from './parsers.ts';

export type Setting = {
  readonly name: string;
  /** Parsed like a configured value. Without it, an unset variable is `undefined`. */
  readonly fallback?: string;
  readonly parse: Parser<unknown>;
  /** One line. */
  readonly about: string;
};

export const SETTINGS = {
  host: {
    name: 'HOST',
    fallback: '127.0.0.1',
    parse: parsers.host,
    about: 'Address to listen on; 0.0.0.0 opens the server to other machines.',
  },
  port: {
    name: 'PORT',
    fallback: '3000',
    parse: parsers.wholeNumber(0, 65_535),
    about: 'Port to listen on; 0 takes any free one.',
  },
  reusePort: {
    name: 'REUSE_PORT',
    fallback: 'off',
    parse: parsers.oneOf(['on', 'off']),
    about: 'on lets several nodes of one machine listen on PORT; all of them set it.',
  },
  operatorHost: {
    name: 'OPERATOR_HOST',
    fallback: '127.0.0.1',
    parse: parsers.host,
    about: "Address of the operator's console; anything but this machine needs TLS before it.",
  },
  operatorPort: {
    name: 'OPERATOR_PORT',
    parse: parsers.portOrOff,
    about: "Port of the operator's console; by default PORT + 1; off for none.",
  },
  /** Without a trailing slash. */
  baseUrl: {
    name: 'BASE_URL',
    parse: parsers.baseUrl,
    about: 'Public address that users are shown, without /v1; by default made of HOST and PORT.',
  },
  /** May hold a password. */
  databaseUrl: {
    name: 'DATABASE_URL',
    fallback: 'sqlite:./data/tollgate.db',
    parse: parsers.databaseUrl,
    about:
      'Where accounts and money are kept: sqlite: and the path of a file, or postgres:// and a database.',
  },
  catalogPath: {
    name: 'CATALOG',
    parse: parsers.accept,
    about: 'Models, prices and plans; by default ./catalog.toml, or the built-in demo without it.',
  },
  sessionSecret: {
    name: 'SESSION_SECRET',
    parse: parsers.secret,
    about:
      'At least 32 characters for kept thinking and sign-in; unset, sign-in has a file by the database.',
  },
  reasoningStore: {
    name: 'REASONING_STORE',
    fallback: 'on',
    parse: parsers.oneOf(['on', 'off']),
    about:
      'on keeps thinking for a day, sealed, for clients that lose it between tool calls; off keeps none.',
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    fallback: '',
    parse: parsers.networks,
    about: 'Addresses or CIDR ranges, split by commas, whose x-forwarded-for header is believed.',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    fallback: 'info',
    parse: parsers.oneOf(['debug', 'info', 'warn', 'error', 'silent']),
    about: 'One of debug, info, warn, error, silent.',
  },
  ledgerSync: {
    name: 'LEDGER_SYNC',
    fallback: 'full',
    parse: parsers.oneOf(['full', 'normal']),
    about: 'full survives a power cut; normal is faster and survives a killed process only.',
  },
  drainDelayMs: {
    name: 'DRAIN_DELAY_SECONDS',
    fallback: '0',
    parse: parsers.seconds(0, 3_600),
    about:
      'How long a server that stops still takes requests, until load balancers have seen /readyz.',
  },
  drainMs: {
    name: 'DRAIN_SECONDS',
    fallback: '30',
    parse: parsers.seconds(0, 3_600),
    about: 'How long a server that stops waits for the answers in flight.',
  },
  heartbeatMs: {
    name: 'HEARTBEAT_SECONDS',
    fallback: '15',
    parse: parsers.seconds(0.01, 3_600),
    about: 'How often a stream is kept alive while the upstream is silent.',
  },
  silentCommitMs: {
    name: 'SILENT_COMMIT_SECONDS',
    fallback: '15',
    parse: parsers.seconds(0.01, 3_600),
    about:
      'Seconds without content until a stream gets headers and heartbeats; upstreams are still tried.',
  },
  auditMs: {
    name: 'AUDIT_SECONDS',
    fallback: '3600',
    parse: parsers.seconds(0.01, 86_400),
    about: 'How often a server audits its own books, beside one audit shortly after its start.',
  },
  metricsToken: {
    name: 'METRICS_TOKEN',
    parse: parsers.token,
    about:
      'At least 32 characters that open /metrics as a bearer token; unset, this machine alone.',
  },
  /** May hold a secret. */
  alertWebhookUrl: {
    name: 'ALERT_WEBHOOK_URL',
    parse: parsers.webhookUrl,
    about:
      'Address that alerts for the operator are sent to as JSON; unset, the log alone has them.',
  },
  alertWebhookSecret: {
    name: 'ALERT_WEBHOOK_SECRET',
    parse: parsers.secret,
    about: 'At least 32 characters that sign what is sent there, in the header tollgate-signature.',
  },
  /** May hold a password. */
  redis: {
    name: 'REDIS_URL',
    parse: parsers.redisUrl,
    about:
      'Redis used to share rate limits across nodes: redis:, rediss:, redis+sentinel: or redis+cluster:.',
  },
  signUp: {
    name: 'SIGNUP',
    fallback: 'invite',
    parse: parsers.oneOf(['open', 'invite', 'closed']),
    about: 'Who may sign up: open for any visitor, invite for those with an invitation, or closed.',
  },
  /** May hold a password. */
  smtpUrl: {
    name: 'SMTP_URL',
    parse: parsers.smtpUrl,
    about:
      'Mail server, such as smtps://user:password@mail.example.com; unset, links are in the log.',
  },
  mailFrom: {
    name: 'MAIL_FROM',
    parse: parsers.mailFrom,
    about: 'Sender of mails, such as Gateway <gateway@example.com>; needed with SMTP_URL.',
  },
  /** Read before the other settings, because it locates them. */
  envFile: {
    name: 'TOLLGATE_ENV_FILE',
    parse: parsers.accept,
    about: 'Path of the file to read instead of .env; only from the process environment.',
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof SETTINGS;

type Value<S extends Setting> =
  | (S['parse'] extends Parser<infer Parsed> ? Parsed : never)
  | (S extends { readonly fallback: string } ? never : undefined);

export type Config = { readonly [Key in keyof Settings]: Value<Settings[Key]> };

/** In the order of the documentation. */
export const VARIABLES: readonly Setting[] = Object.values(SETTINGS);
