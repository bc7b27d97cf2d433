// Every setting, one row each. `Config`, the table in src/docs/operators/configuration.md and
// `.env.example` are generated from these rows.

import type { Parser, Setting } from './parsers.ts';
import * as parsers from './parsers.ts';

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
    about: "Address of the operator's console; any but this machine's own needs TLS in front.",
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
      'At least 32 characters that seal sign-in and kept data; a change ends all second factors.',
  },
  reasoningStore: {
    name: 'REASONING_STORE',
    fallback: 'on',
    parse: parsers.oneOf(['on', 'off']),
    about:
      'on keeps thinking for a day, sealed, for clients that lose it between tool calls; off keeps none.',
  },
  responsesFormat: {
    name: 'RESPONSES_FORMAT',
    fallback: 'on',
    parse: parsers.oneOf(['on', 'off']),
    about: 'on serves POST /v1/responses beside the two other formats; off answers it with 404.',
  },
  idempotency: {
    name: 'IDEMPOTENCY',
    fallback: 'on',
    parse: parsers.oneOf(['on', 'off']),
    about:
      'on answers repeats with the same Idempotency-Key from what was kept for a day; off ignores it.',
  },
  trustedProxies: {
    name: 'TRUSTED_PROXIES',
    fallback: '',
    parse: parsers.networks,
    about: 'Proxies whose x-forwarded-for is trusted: addresses or CIDR ranges, with commas.',
  },
  logLevel: {
    name: 'LOG_LEVEL',
    fallback: 'info',
    parse: parsers.oneOf(['debug', 'info', 'warn', 'error', 'silent']),
    about: 'One of debug, info, warn, error, silent.',
  },
  fourEyesAbove: {
    name: 'FOUR_EYES_ABOVE',
    parse: parsers.amount,
    about: 'Service tokens above which credits in the console need a second operator; unset: none.',
  },
  runawayFactor: {
    name: 'RUNAWAY_FACTOR',
    fallback: '3',
    parse: parsers.timesOrOff(1, 1_000),
    about: 'Pauses a key whose ten minutes cost more than its busiest hour times this; off: never.',
  },
  runawayFloor: {
    name: 'RUNAWAY_FLOOR',
    fallback: '5000000',
    parse: parsers.amount,
    about: 'Service tokens that any key may spend in ten minutes without being paused for it.',
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
  backupDirectory: {
    name: 'BACKUP_DIR',
    parse: parsers.accept,
    about:
      'Folder for automatic backups of a SQLite database, best on another disk; unset: no backups.',
  },
  backupEveryMs: {
    name: 'BACKUP_EVERY_HOURS',
    fallback: '24',
    parse: parsers.hours(0.001, 8_760),
    about: 'How often a backup is made, beside one seconds after a start that finds none.',
  },
  backupKeep: {
    name: 'BACKUP_KEEP',
    fallback: '7',
    parse: parsers.wholeNumber(1, 10_000),
    about: 'How many verified backups are kept; the oldest ones are removed.',
  },
  retentionDays: {
    name: 'RETENTION_DAYS',
    fallback: 'off',
    parse: parsers.daysOrOff(31, 36_500),
    about:
      'Days, 31 or more, after which requests of a closed month go to archive files; off keeps all.',
  },
  archiveDir: {
    name: 'ARCHIVE_DIR',
    parse: parsers.accept,
    about:
      'Folder of the archive files, the same for all nodes; unset, archive beside the SQLite file.',
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
  /** Without a trailing slash. */
  otlpEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    parse: parsers.collectorUrl,
    about:
      'OpenTelemetry collector for traces (OTLP/HTTP), such as http://127.0.0.1:4318; unset: none.',
  },
  otlpTracesEndpoint: {
    name: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    parse: parsers.webhookUrl,
    about: 'The whole address for traces, used as it is; wins over OTEL_EXPORTER_OTLP_ENDPOINT.',
  },
  /** May hold a secret. */
  otlpHeaders: {
    name: 'OTEL_EXPORTER_OTLP_HEADERS',
    fallback: '',
    parse: parsers.pairs,
    about: 'Headers for the collector, as name=value split by commas; values are percent-encoded.',
  },
  otelSampler: {
    name: 'OTEL_TRACES_SAMPLER',
    fallback: 'traceidratio',
    parse: parsers.oneOf([
      'always_on',
      'always_off',
      'traceidratio',
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
    ]),
    about: 'Which requests are traced; with parentbased_, clients that send a traceparent decide.',
  },
  otelSampleRatio: {
    name: 'OTEL_TRACES_SAMPLER_ARG',
    fallback: '1',
    parse: parsers.ratio,
    about: 'Share of requests that traceidratio traces, from 0 to 1.',
  },
  /** Whether `tracecontext` is among them. */
  otelPropagatesTraces: {
    name: 'OTEL_PROPAGATORS',
    fallback: 'tracecontext',
    parse: parsers.propagators,
    about:
      'tracecontext continues the traces of clients and passes them to upstreams; none does not.',
  },
  otelServiceName: {
    name: 'OTEL_SERVICE_NAME',
    parse: parsers.accept,
    about: 'Name of this service in traces; by default tollgate.',
  },
  otelResource: {
    name: 'OTEL_RESOURCE_ATTRIBUTES',
    fallback: '',
    parse: parsers.pairs,
    about: 'Attributes of all traces, such as deployment.environment.name=production.',
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
      'Mail server, such as smtps://user:password@mail.example.com; unset, links are always logged.',
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
