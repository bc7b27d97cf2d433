import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { documents, read } from '../../scripts/settings.ts';
import { ConfigError, readConfig } from '../../src/config/read.ts';
import { type Config, VARIABLES } from '../../src/config/settings.ts';
import { publicUrl } from '../../src/config/urls.ts';
import { micro } from '../../src/core/money.ts';
import { parseEnvFile } from '../../src/server/environment.ts';
import { thrownBy } from '../support/thrown.ts';

const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 3000,
  reusePort: 'off',
  operatorHost: '127.0.0.1',
  operatorPort: undefined,
  baseUrl: undefined,
  databaseUrl: 'sqlite:./data/tollgate.db',
  catalogPath: undefined,
  sessionSecret: undefined,
  reasoningStore: 'on',
  responsesFormat: 'on',
  idempotency: 'on',
  trustedProxies: [],
  logLevel: 'info',
  fourEyesAbove: undefined,
  runawayFactor: 3,
  runawayFloor: micro(5_000_000_000_000n),
  ledgerSync: 'full',
  drainDelayMs: 0,
  drainMs: 30_000,
  heartbeatMs: 15_000,
  silentCommitMs: 15_000,
  auditMs: 3_600_000,
  backupDirectory: undefined,
  backupEveryMs: 86_400_000,
  backupKeep: 7,
  retentionDays: 'off',
  archiveDir: undefined,
  metricsToken: undefined,
  alertWebhookUrl: undefined,
  alertWebhookSecret: undefined,
  otlpEndpoint: undefined,
  otlpTracesEndpoint: undefined,
  otlpHeaders: {},
  otelSampler: 'traceidratio',
  otelSampleRatio: 1,
  otelPropagatesTraces: true,
  otelServiceName: undefined,
  otelResource: {},
  signUp: 'invite',
  smtpUrl: undefined,
  mailFrom: undefined,
  redis: undefined,
  envFile: undefined,
};

const problemsOf = (environment: Record<string, string>, names: string[] = []): readonly string[] =>
  thrownBy(ConfigError, () => readConfig(environment, names))?.problems ?? [];

describe('readConfig', () => {
  test('has a default for everything, and takes empty values as unset', () => {
    const empty = Object.fromEntries(VARIABLES.map(({ name }) => [name, ' ']));
    expect(readConfig({})).toEqual(DEFAULTS);
    expect(readConfig(empty)).toEqual(DEFAULTS);
  });

  test('is frozen', () => {
    const config = readConfig({});
    expect([Object.isFrozen(config), Object.isFrozen(config.trustedProxies)]).toEqual([true, true]);
  });

  test('reads every variable', () => {
    const config = readConfig({
      HOST: '0.0.0.0',
      PORT: '0',
      OPERATOR_HOST: '10.0.0.1',
      OPERATOR_PORT: 'off',
      BASE_URL: 'https://gateway.example/sub/',
      DATABASE_URL: 'sqlite:/var/lib/tollgate/a.db',
      CATALOG: 'models.toml',
      SESSION_SECRET: 's'.repeat(32),
      REASONING_STORE: 'off',
      RESPONSES_FORMAT: 'off',
      IDEMPOTENCY: 'off',
      TRUSTED_PROXIES: '10.0.0.0/8, ::1,192.0.2.7,',
      LOG_LEVEL: 'debug',
      FOUR_EYES_ABOVE: '2.5',
      LEDGER_SYNC: 'normal',
      DRAIN_DELAY_SECONDS: '5',
      DRAIN_SECONDS: '0',
      HEARTBEAT_SECONDS: '0.25',
      SILENT_COMMIT_SECONDS: '20',
      AUDIT_SECONDS: '60',
      BACKUP_DIR: '/mnt/backups',
      BACKUP_EVERY_HOURS: '0.5',
      BACKUP_KEEP: '30',
      RETENTION_DAYS: '90',
      ARCHIVE_DIR: '/srv/archive',
      RUNAWAY_FACTOR: 'off',
      RUNAWAY_FLOOR: '2.5',
      METRICS_TOKEN: 'm'.repeat(32),
      ALERT_WEBHOOK_URL: 'https://hooks.example/x?token=y',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp/',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example/in?tenant=a',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc%2C%3D, x-tenant = ours,',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
      OTEL_PROPAGATORS: 'none',
      OTEL_SERVICE_NAME: 'gateway-eu',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production,cloud.region=eu-1',
      SIGNUP: 'open',
      SMTP_URL: 'smtps://user:pass@mail.example.com:465',
      MAIL_FROM: 'Gateway <gateway@example.com>',
      ALERT_WEBHOOK_SECRET: 'a'.repeat(32),
      REDIS_URL: 'redis://:secret@cache:7000/1',
      REUSE_PORT: 'off',
      WORKERS: '1',
      TOLLGATE_ENV_FILE: 'other.env',
      ANYTHING_ELSE: 'x',
    });
    expect(config).toEqual({
      host: '0.0.0.0',
      port: 0,
      reusePort: 'off',
      operatorHost: '10.0.0.1',
      operatorPort: 'off',
      baseUrl: 'https://gateway.example/sub',
      databaseUrl: 'sqlite:/var/lib/tollgate/a.db',
      catalogPath: 'models.toml',
      sessionSecret: 's'.repeat(32),
      reasoningStore: 'off',
      responsesFormat: 'off',
      idempotency: 'off',
      trustedProxies: ['10.0.0.0/8', '::1', '192.0.2.7'],
      logLevel: 'debug',
      fourEyesAbove: micro(2_500_000n),
      runawayFactor: 'off',
      runawayFloor: micro(2_500_000n),
      ledgerSync: 'normal',
      drainDelayMs: 5_000,
      drainMs: 0,
      heartbeatMs: 250,
      silentCommitMs: 20_000,
      auditMs: 60_000,
      backupDirectory: '/mnt/backups',
      backupEveryMs: 1_800_000,
      backupKeep: 30,
      retentionDays: 90,
      archiveDir: '/srv/archive',
      metricsToken: 'm'.repeat(32),
      alertWebhookUrl: 'https://hooks.example/x?token=y',
      otlpEndpoint: 'https://collector.example/otlp',
      otlpTracesEndpoint: 'https://traces.example/in?tenant=a',
      otlpHeaders: { authorization: 'Bearer abc,=', 'x-tenant': 'ours' },
      otelSampler: 'parentbased_traceidratio',
      otelSampleRatio: 0.25,
      otelPropagatesTraces: false,
      otelServiceName: 'gateway-eu',
      otelResource: { 'deployment.environment.name': 'production', 'cloud.region': 'eu-1' },
      signUp: 'open',
      smtpUrl: 'smtps://user:pass@mail.example.com:465',
      mailFrom: 'Gateway <gateway@example.com>',
      alertWebhookSecret: 'a'.repeat(32),
      redis: {
        kind: 'single',
        addresses: [{ host: 'cache', port: 7000 }],
        primary: undefined,
        username: undefined,
        password: 'secret',
        database: 1,
        tls: false,
      },
      envFile: 'other.env',
    });
  });

  test('reads the paths of a database', () => {
    const paths = ['sqlite:a.db', 'sqlite:///abs/a.db', 'sqlite://./a.db'].map(
      (url) => readConfig({ DATABASE_URL: url }).databaseUrl,
    );
    expect(paths).toEqual(['sqlite:a.db', 'sqlite:/abs/a.db', 'sqlite:./a.db']);
  });

  const address = 'must be an http or https address without a user, query or fragment.';
  const file =
    'must be sqlite: and the path of a file, such as sqlite:./data/tollgate.db, or the URL of a PostgreSQL database, such as postgres://user:password@host/tollgate.';
  const network = 'must be an IP address or a CIDR range such as 10.0.0.0/8.';
  const mistakes: readonly (readonly [string, readonly string[], string])[] = [
    ['OPERATOR_PORT', ['on', '-1', '65536'], 'must be a port from 0 to 65535, or off.'],
    [
      'HOST',
      ['a b', '127.0.0.1:80', 'http://x', '-a'],
      'must be an IP address or a host name, without a port.',
    ],
    [
      'PORT',
      ['-1', '65536', '80x', '1.5', '1e3', '0x50'],
      'must be a whole number from 0 to 65535.',
    ],
    ['BASE_URL', ['gateway', 'ftp://x', 'https://u:p@x', 'https://x/?a', 'https://x/#a'], address],
    [
      'BASE_URL',
      ['https://x/v1', 'https://x/v1/'],
      'must not end in /v1: clients add it themselves.',
    ],
    [
      'DATABASE_URL',
      ['postgres://', 'postgresql://h', 'postgres:/d'],
      'must name a host and a database of PostgreSQL, such as postgres://user:password@host/tollgate.',
    ],
    [
      'DATABASE_URL',
      ['mysql://h', 'sqlite:', 'sqlite::memory:', 'sqlite:a?b', 'sqlite:a/', 'a.db'],
      file,
    ],
    ['SESSION_SECRET', ['s'.repeat(31)], 'must have at least 32 characters.'],
    [
      'METRICS_TOKEN',
      ['s'.repeat(31), 's s'.repeat(20), 'ß'.repeat(32)],
      'must have at least 32 characters: letters, digits and signs without spaces.',
    ],
    ['ALERT_WEBHOOK_SECRET', ['s'.repeat(31)], 'must have at least 32 characters.'],
    [
      'ALERT_WEBHOOK_URL',
      ['hooks', 'ftp://x', 'https://u:p@x', 'https://x/#a', 'file:///a'],
      'must be an http or https address without a user or fragment.',
    ],
    [
      'TRUSTED_PROXIES',
      ['x', '10.0.0.0/33', '::/129', '10.0.0.0/', '10.0.0.0/8/8', 'fe80::1%eth0'],
      `entry 1 ${network}`,
    ],
    ['TRUSTED_PROXIES', ['::1, x', ',10.0.0/8'], `entry 2 ${network}`],
    ['LOG_LEVEL', ['INFO', 'trace'], 'must be one of debug, info, warn, error, silent.'],
    [
      'FOUR_EYES_ABOVE',
      ['0', '-1', 'x', '1.0000001', '1000000000001'],
      'must be a positive number of service tokens, such as 1000000.',
    ],
    [
      'RUNAWAY_FACTOR',
      ['0', '1001', '1.5', 'on'],
      'must be a whole number from 1 to 1000, or off.',
    ],
    ['LEDGER_SYNC', ['off'], 'must be one of full, normal.'],
    ['DRAIN_SECONDS', ['-1', '3601', '30s'], 'must be a number of seconds from 0 to 3600.'],
    ['HEARTBEAT_SECONDS', ['0', 'x'], 'must be a number of seconds from 0.01 to 3600.'],
    ['SILENT_COMMIT_SECONDS', ['0'], 'must be a number of seconds from 0.01 to 3600.'],
    ['REUSE_PORT', ['1', 'yes'], 'must be one of on, off.'],
    [
      'REDIS_URL',
      ['redis:', 'http://:secret@h', 'redis://:secret@h:x', 'redis+sentinels://:secret@h/m'],
      'must be redis://host:port, rediss:// for TLS, redis+sentinel://host:port,host:port/name, or redis+cluster://host:port,host:port.',
    ],
    [
      'SMTP_URL',
      ['http://h', 'smtp://', 'smtp://h/path', 'smtp://h?pool=true', 'mail.example.com'],
      'must be smtp:// or smtps:// and a host, such as smtps://user:password@host.',
    ],
    [
      'MAIL_FROM',
      ['no-address', 'A <a@b> x', 'A <a b@c>'],
      'must be an address, such as Gateway <gateway@example.com>.',
    ],
    [
      'WORKERS',
      ['2', 'auto'],
      'is no longer a setting: a server answers requests in one thread. Remove it. To use more cores, start several nodes on PostgreSQL with REUSE_PORT=on: see "tollgate docs clusters".',
    ],
    [
      'OTEL_PROPAGATORS',
      ['none,tracecontext', 'Trace Context', 'tracecontext,'],
      'must be names split by commas, such as tracecontext,baggage, or none.',
    ],
    ['SIGNUP', ['yes', 'OPEN'], 'must be one of open, invite, closed.'],
  ];
  for (const [name, values, problem] of mistakes) {
    test(`refuses a bad ${name}: ${problem}`, () => {
      for (const value of values) {
        expect({ value, problems: problemsOf({ [name]: value }) }).toEqual({
          value,
          problems: [`${name} ${problem}`],
        });
      }
    });
  }

  test('reports every problem at once', () => {
    expect(problemsOf({ PORT: 'x', LOG_LEVEL: 'x', REDIS_URL: 'x' }, ['PROT'])).toEqual([
      'PROT is not a known variable; did you mean PORT?',
      'PORT must be a whole number from 0 to 65535.',
      'LOG_LEVEL must be one of debug, info, warn, error, silent.',
      'REDIS_URL must be redis://host:port, rediss:// for TLS, redis+sentinel://host:port,host:port/name, or redis+cluster://host:port,host:port.',
    ]);
  });

  test('refuses misspelled names of a file, and leaves others to the catalog', () => {
    expect(problemsOf({}, ['DEEPSEEK_API_KEY', 'HOME', 'PORT', 'SESION_SECRETS'])).toEqual([
      'SESION_SECRETS is not a known variable; did you mean SESSION_SECRET?',
    ]);
    expect(problemsOf({ PROT: '1' })).toEqual([]);
  });

  test('shares a port between nodes of PostgreSQL alone', () => {
    expect(problemsOf({ REUSE_PORT: 'on' })).toEqual([
      'REUSE_PORT=on needs PostgreSQL in DATABASE_URL: SQLite has one server.',
    ]);
    expect(problemsOf({ REUSE_PORT: 'on', DATABASE_URL: 'postgres://localhost/a' })).toEqual([]);
  });

  test('never shows a value', () => {
    const names = VARIABLES.map(({ name }) => name);
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.constantFrom('', 'sqlite:', 'https://u:'),
        (name, start) => {
          const value = `${start}qzx7#qzx7`;
          expect(problemsOf({ [name]: value }).join()).not.toContain('qzx7');
        },
      ),
    );
  });
});

describe('publicUrl', () => {
  test('is made of the host and the real port, unless it is set', () => {
    const of = (environment: Record<string, string>) => publicUrl(readConfig(environment), 8080);
    expect([
      of({}),
      of({ HOST: '0.0.0.0' }),
      of({ HOST: '::' }),
      of({ HOST: '::1' }),
      of({ HOST: 'box.lan', PORT: '0' }),
      of({ BASE_URL: 'https://x.example/' }),
    ]).toEqual([
      'http://127.0.0.1:8080',
      'http://localhost:8080',
      'http://localhost:8080',
      'http://[::1]:8080',
      'http://box.lan:8080',
      'https://x.example',
    ]);
  });
});

test('documents have every variable with its default and its meaning: bun run settings', () => {
  for (const [path, text] of documents()) expect(read(path)).toBe(text);
  const example = read('.env.example');
  for (const { name, about } of VARIABLES) expect(example).toContain(`# ${about}\n${name}=`);
});

describe('.env.example', () => {
  test('starts a server as it is', () => {
    const variables = parseEnvFile(read('.env.example'), '.env.example');
    expect(readConfig(variables, Object.keys(variables))).toEqual(DEFAULTS);
  });

  test('explains each variable in one line', () => {
    for (const { about } of VARIABLES) expect(about).toMatch(/^[^\n]{1,98}[.]$/);
  });
});
