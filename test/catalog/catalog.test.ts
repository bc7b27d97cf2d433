import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { micro, pico, usdRate } from '../../src/core/money.ts';
import { BUILT_IN_PLANS } from '../../src/core/plan.ts';
import { DEFAULT_PROFILE } from '../../src/core/profile.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { DEFAULT_SERVICE } from '../../src/core/service.ts';
import { CHAT_PLACEMENT, DEMO_PLACEMENT } from '../support/model.ts';
import { alwaysAt } from '../support/price.ts';
import { thrownBy } from '../support/thrown.ts';

const NOW_MS = Date.UTC(2026, 2, 1, 12);

const MINIMAL = `
[[upstream]]
id = "up"
dialect = "chat"
base_url = "https://models.example/v1/"

[[model]]
slug = "swift-1"
context_window = 1000
max_output = 100
price = { input = "0.15", output = 1 }
served_by = [{ upstream = "up", model = "swift" }]
`;

function load(text: string, environment: Record<string, string> = {}) {
  return loadCatalog({ path: '/etc/tollgate/catalog.toml', text, environment, nowMs: NOW_MS });
}

const problemsOf = (text: string, environment: Record<string, string> = {}): readonly string[] =>
  (thrownBy(CatalogError, () => load(text, environment))?.problems ?? []).map(wordsOf);

const DEFAULT_TIMEOUTS = {
  connectMs: 10_000,
  firstByteMs: 60_000,
  firstContentMs: 300_000,
  idleMs: 120_000,
  minTokensPerSecond: 0.2,
  totalMs: 1_800_000,
};

const SET_TIMEOUTS = {
  connectMs: 250,
  firstByteMs: 500,
  firstContentMs: 1_000,
  idleMs: 2_000,
  minTokensPerSecond: 4,
  totalMs: 3_000,
};

const PLACED_TIMEOUTS = { ...SET_TIMEOUTS, idleMs: 9_000, minTokensPerSecond: 0 };

const COST = {
  version: expect.stringMatching(/^price_[0-9a-f]{16}$/),
  input: pico(100_000_000_000n),
  cachedInput: pico(100_000_000_000n),
  cacheWrite: pico(100_000_000_000n),
  output: pico(200_000_000_000n),
};

describe('loadCatalog', () => {
  test('fills in every default', () => {
    const { models, plans, upstreams, ...rest } = load(MINIMAL);
    expect({ ...rest, resolve: rest.resolve('swift-1') === models[0] }).toEqual({
      serviceName: 'tollgate',
      service: DEFAULT_SERVICE,
      usdPerMillion: usdRate(1_000_000n),
      minimumHold: micro(1_000_000n),
      resolve: true,
    });
    expect(models).toEqual([
      {
        slug: 'swift-1',
        aliases: [],
        displayName: 'swift-1',
        description: '',
        created: Date.UTC(2026, 2, 1) / 1_000,
        contextWindow: 1_000,
        maxOutput: 100,
        features: new Set(['tools', 'json']),
        prices: alwaysAt({
          version: 'price_83ccbbebd3ff8f7c',
          input: pico(150_000_000_000n),
          cachedInput: pico(150_000_000_000n),
          cacheWrite: pico(150_000_000_000n),
          output: pico(1_000_000_000_000n),
        }),
        servedBy: [
          {
            upstream: 'up',
            model: 'swift',
            weight: 1,
            ...CHAT_PLACEMENT,
            timeouts: DEFAULT_TIMEOUTS,
          },
        ],
        fallbacks: [],
      },
    ]);
    expect([...upstreams.values()]).toEqual([
      {
        id: 'up',
        dialect: 'chat',
        baseUrl: 'https://models.example/v1',
        credentials: [{ id: '1', apiKey: '' }],
        concurrency: { maxInFlight: 1_024, queueLength: 256, queueMs: 2_000 },
        coolDownMs: 5_000,
        transport: 'sockets',
        auth: { kind: 'key' },
        allowLinkLocal: false,
        profileName: 'chat',
        profile: DEFAULT_PROFILE.chat,
        cancelStopsBilling: undefined,
        timeouts: DEFAULT_TIMEOUTS,
      },
    ]);
    expect([...plans.values()]).toEqual([...BUILT_IN_PLANS]);
  });

  test('reads every key', () => {
    const catalog = load(
      `
      [service]
      name = "Acme"
      usd_per_million = "2.5"
      minimum_hold = 0
      [[upstream]]
      id = "a"
      dialect = "chat"
      base_url = "http://169.254.1.1:9/v1"
      api_keys = ["Bearer-\${KEY}", "second"]
      cancel_stops_billing = false
      connect_seconds = 0.25
      first_byte_seconds = 0.5
      first_content_seconds = 1
      idle_seconds = 2
      min_tokens_per_second = 4
      max_in_flight = 7
      queue_length = 0
      queue_seconds = 0.25
      cool_down_seconds = 1.5
      transport = "fetch"
      proxy = "http://127.0.0.1:8"
      allow_link_local = true
      total_seconds = 3
      [[upstream]]
      id = "b"
      dialect = "demo"
      [[model]]
      slug = "one"
      aliases = ["gpt-4o-mini", "Vendor/One:free"]
      display_name = "One"
      description = "first\\nsecond"
      created = 2026-01-31
      context_window = 2000
      max_output = 2000
      features = ["vision", "reasoning"]
      price = { input = "0.000000000001", cached_input = "0", output = "1000000" }
      served_by = [{ upstream = "a", model = "x", weight = 2.5, idle_seconds = 9, min_tokens_per_second = 0, cost = { input = "0.1", output = "0.2" } }, { upstream = "b", model = "y" }]
      fallbacks = ["two"]
      incident_limits = { requests_per_minute = 5 }
      [[model]]
      slug = "two"
      created = "2026-02-28"
      context_window = 2
      max_output = 1
      price = { input = 0, output = 0 }
      served_by = [{ upstream = "b", model = "y" }]
      [plan.pro]
      requests_per_minute = 7
      models = ["two"]
      [plan.team]
      name = "Team"
      requests_per_minute = 1
      tokens_per_minute = 2
      concurrent_requests = 3
      max_context = 4
      max_api_keys = 5
      daily_tokens = 6
      monthly_tokens = 7
      `,
      { KEY: 'secret' },
    );
    expect(catalog.serviceName).toBe('Acme');
    expect([catalog.usdPerMillion, catalog.minimumHold]).toEqual([
      usdRate(2_500_000n),
      usdRate(0n),
    ]);
    expect(catalog.upstreams.get('a')).toEqual({
      id: 'a',
      dialect: 'chat',
      baseUrl: 'http://169.254.1.1:9/v1',
      credentials: [
        { id: '1', apiKey: 'Bearer-secret' },
        { id: '2', apiKey: 'second' },
      ],
      concurrency: { maxInFlight: 7, queueLength: 0, queueMs: 250 },
      coolDownMs: 1_500,
      transport: 'fetch',
      auth: { kind: 'key' },
      proxyUrl: 'http://127.0.0.1:8',
      allowLinkLocal: true,
      profileName: 'chat',
      profile: DEFAULT_PROFILE.chat,
      cancelStopsBilling: false,
      timeouts: SET_TIMEOUTS,
    });
    expect(catalog.resolve('Vendor/One:free')).toEqual({
      slug: 'one',
      aliases: ['gpt-4o-mini', 'Vendor/One:free'],
      displayName: 'One',
      description: 'first\nsecond',
      created: Date.UTC(2026, 0, 31) / 1_000,
      contextWindow: 2_000,
      maxOutput: 2_000,
      features: new Set(['vision', 'reasoning']),
      statesFeatures: true,
      prices: alwaysAt({
        version: 'price_52eabf7037c00483',
        input: pico(1n),
        cachedInput: pico(0n),
        cacheWrite: pico(1n),
        output: pico(10n ** 18n),
      }),
      servedBy: [
        {
          upstream: 'a',
          model: 'x',
          weight: 2.5,
          ...CHAT_PLACEMENT,
          timeouts: PLACED_TIMEOUTS,
          cost: COST,
        },
        { upstream: 'b', model: 'y', weight: 1, ...DEMO_PLACEMENT, timeouts: DEFAULT_TIMEOUTS },
      ],
      fallbacks: ['two'],
      incidentLimits: { requestsPerMinute: 5 },
    });
    const pro = BUILT_IN_PLANS.find((plan) => plan.slug === 'pro');
    expect(catalog.plans.get('pro')).toEqual({
      ...pro,
      requestsPerMinute: 7,
      models: ['two'],
    } as never);
    expect(catalog.plans.get('team')).toEqual({
      slug: 'team',
      name: 'Team',
      requestsPerMinute: 1,
      tokensPerMinute: 2,
      concurrentRequests: 3,
      maxContext: 4,
      maxApiKeys: 5,
      dailyTokens: 6,
      monthlyTokens: 7,
      models: ['*'],
    });
  });

  test('freezes what it returns', () => {
    const catalog = load(MINIMAL);
    const [model] = catalog.models;
    const parts = [
      catalog,
      catalog.models,
      model,
      ...(model?.prices ?? []),
      model?.prices,
      model?.prices[0].price,
      model?.servedBy,
      model?.servedBy[0],
    ];
    const held = [...catalog.upstreams.values(), ...catalog.plans.values()];
    expect([...parts, ...held].filter((part) => !Object.isFrozen(part))).toEqual([]);
  });

  test('gives a price its version by its amounts, not by how they are written', () => {
    const versionOf = (price: string) =>
      load(MINIMAL.replace('{ input = "0.15", output = 1 }', price)).models[0]?.prices[0].price
        .version;
    const version = versionOf('{ input = "0.15", output = 1 }');
    expect(versionOf('{ output = "1.00", cached_input = "0.150", input = "0.15" }')).toBe(version);
    expect(versionOf('{ input = "0.15", output = "1.01" }')).not.toBe(version);
    expect(versionOf('{ input = "0.15", cached_input = 0, output = 1 }')).not.toBe(version);
  });
});

/** Each mistake is one replacement in the minimal catalog; the label of the file is left out. */
const MISTAKES: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'slug = "swift-1"',
    'slug = "Swift 1"',
    [
      'model[0].slug: must be 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
    ],
  ],
  [
    'slug = "swift-1"',
    'slug = "-a"',
    [
      'model[0].slug: must be 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
    ],
  ],
  [
    'slug = "swift-1"',
    'slug = "swift-1"\naliases = ["a b", "swift-1", "x", "x"]',
    [
      'model[0].aliases[0]: must be 1 to 128 visible ASCII characters',
      'model[0].aliases[1]: is the same name as model[0].slug',
      'model[0].aliases[3]: is the same name as model[0].aliases[2]',
    ],
  ],
  [
    'context_window = 1000',
    'context_windw = 1000',
    [
      'model[0].context_window: is missing; must be an integer from 1 to 100,000,000',
      'model[0].context_windw: is not a known key; did you mean context_window?',
    ],
  ],
  [
    'context_window = 1000',
    'context_window = 1000\ncolour = 1',
    ['model[0].colour: is not a known key'],
  ],
  [
    'context_window = 1000',
    'context_window = 99',
    ['model[0].max_output: must not be above context_window'],
  ],
  [
    'context_window = 1000',
    'context_window = 100000001',
    ['model[0].context_window: must be an integer from 1 to 100,000,000'],
  ],
  [
    'max_output = 100',
    'max_output = "100"',
    ['model[0].max_output: must be an integer from 1 to 100,000,000'],
  ],
  [
    'price = { input = "0.15", output = 1 }',
    '',
    [
      'model[0].price: is missing; must be a table such as { input = "0.15", cached_input = "0.03", output = "0.60" }',
    ],
  ],
  [
    'output = 1 }',
    '}',
    [
      'model[0].price.output: is missing; must be a decimal such as "0.60", at most 1000000 and with at most 12 decimals',
    ],
  ],
  ...[
    '0.5',
    '-1',
    '1000001',
    'true',
    '"1e3"',
    '"-1"',
    '".5"',
    '"1000000.1"',
    '"0.0000000000001"',
    '"1,5"',
  ].map((bad): [string, string, string[]] => [
    'output = 1 }',
    `output = ${bad} }`,
    [
      'model[0].price.output: must be a decimal such as "0.60", at most 1000000 and with at most 12 decimals',
    ],
  ]),
  [
    'output = 1 }',
    'output = 1, cached_input = "0.2" }',
    [
      'model[0].price.cached_input: must not be above input: a hold covers the prompt at that price',
    ],
  ],
  [
    'served_by = [{ upstream = "up", model = "swift" }]',
    'served_by = []',
    ['model[0].served_by: must be a list of at least one { upstream = "…", model = "…" }'],
  ],
  [
    'upstream = "up"',
    'upstream = "uq"',
    ['model[0].served_by[0].upstream: is not the id of any [[upstream]]; did you mean up?'],
  ],
  [
    'slug = "swift-1"',
    'slug = "swift-1"\nfallbacks = ["swift-1", "other"]',
    [
      'model[0].fallbacks[0]: must not be the model itself',
      'model[0].fallbacks[1]: is not the slug of any [[model]]',
    ],
  ],
  [
    'model = "swift" }',
    'model = "swift", weight = 0 }',
    ['model[0].served_by[0].weight: must be a number above 0, at most 1,000,000'],
  ],
  [
    'slug = "swift-1"',
    'slug = "swift-1"\nfeatures = ["json", "sound"]',
    ['model[0].features[1]: must be "tools", "json", "vision" or "reasoning"'],
  ],
  [
    'slug = "swift-1"',
    'slug = "swift-1"\ncreated = "2026-02-31"',
    ['model[0].created: must be a day that the calendar has'],
  ],
  [
    'slug = "swift-1"',
    'slug = "swift-1"\ncreated = 2026-02-01T00:00:00Z',
    ['model[0].created: must be a date such as "2026-01-31"'],
  ],
  [
    'slug = "swift-1"',
    'slug = "swift-1"\nincident_limits = { requests_per_minute = 0 }',
    ['model[0].incident_limits.requests_per_minute: must be an integer from 1 to 1,000,000,000'],
  ],
  [
    'dialect = "chat"',
    'dialect = "soap"',
    ['upstream[0].dialect: must be "chat", "messages", "responses" or "demo"'],
  ],
  [
    'dialect = "chat"',
    'dialect = "demo"',
    ['upstream[0].base_url: is not used by the demo dialect; remove it'],
  ],
  [
    'dialect = "chat"',
    'dialect = "chat"\napi_key = "a b"',
    ['upstream[0].api_key: must be visible ASCII characters'],
  ],
  [
    'dialect = "chat"',
    'dialect = "chat"\napi_key = "a"\naws = { region = "r", access_key_id = "a", secret_access_key = "b" }\ngoogle = {}',
    [
      'upstream[0].aws: must not stand beside api_key; keep one of the two',
      'upstream[0].google: must not stand beside api_key; keep one of the two',
    ],
  ],
  [
    'dialect = "chat"',
    'dialect = "chat"\naws = { region = "US East", access_key_id = "", session_token = "a b" }',
    [
      'upstream[0].aws.secret_access_key: is missing; must be 1 to 4,096 visible ASCII characters',
      'upstream[0].aws.region: must be a region such as "us-east-1"',
      'upstream[0].aws.access_key_id: must be 1 to 4,096 visible ASCII characters',
      'upstream[0].aws.session_token: must be visible ASCII characters',
    ],
  ],
  [
    'dialect = "chat"',
    'dialect = "chat"\ngoogle = { credentials_file = "", key = "k" }',
    [
      'upstream[0].google.key: is not a known key',
      'upstream[0].google.credentials_file: must be text of 1 to 4,096 characters on one line',
    ],
  ],
  [
    'dialect = "chat"',
    'dialect = "chat"\nidle_seconds = 0',
    ['upstream[0].idle_seconds: must be a number of seconds from 0.01 to 86,400'],
  ],
  [
    'base_url = "https://models.example/v1/"',
    '',
    [
      'upstream[0].base_url: is missing; must be an http or https address without a user or fragment',
    ],
  ],
  ...['models', 'ftp://x', 'https://u:p@x', 'https://x#a', 'https://x?a#b', 'https://x/ y'].map(
    (bad): [string, string, string[]] => [
      'https://models.example/v1/',
      bad,
      ['upstream[0].base_url: must be an http or https address without a user or fragment'],
    ],
  ),
  ...['http://169.254.169.254/v1', 'http://[::ffff:a9fe:a9fe]/v1', 'http://0xA9FEA9FE/v1'].map(
    (linkLocal): [string, string, string[]] => [
      'https://models.example/v1/',
      linkLocal,
      [
        'upstream[0].base_url: must not be a link-local or metadata address; where this is meant, set allow_link_local = true',
      ],
    ],
  ),
  ...['proxy:3128', 'socks5://proxy.example:1080', 'http://proxy.example/path', 'http://x?a'].map(
    (bad): [string, string, string[]] => [
      'dialect = "chat"',
      `dialect = "chat"\nproxy = "${bad}"`,
      [
        'upstream[0].proxy: must be an http or https address of a proxy such as "http://proxy.example:3128", without a path',
      ],
    ],
  ),
  [
    '[[model]]',
    '[[upstream]]\nid = "up"\ndialect = "demo"\n[[model]]',
    ['upstream[1].id: is the same name as upstream[0].id'],
  ],
  [
    '[[model]]',
    '[model]',
    ['model: must be a list of at least one model, each written as [[model]]'],
  ],
  [
    '[[upstream]]',
    '[plan.pro]\nmodels = ["swift-2"]\n[[upstream]]',
    [
      'plan.pro.models[0]: is not the slug of any [[model]]; did you mean swift-1? ("*" stands for all)',
    ],
  ],
  [
    '[[upstream]]',
    '[plan.pro]\nrequest_per_minute = 1\n[[upstream]]',
    ['plan.pro.request_per_minute: is not a known key; did you mean requests_per_minute?'],
  ],
  [
    '[[upstream]]',
    '[plan.mine]\nmax_context = 1\nmax_api_keys = 1\ntokens_per_minute = 1\n[[upstream]]',
    [
      'plan.mine.requests_per_minute: is missing; plan mine is not built in, so it needs every limit',
      'plan.mine.concurrent_requests: is missing; plan mine is not built in, so it needs every limit',
    ],
  ],
  [
    '[[upstream]]',
    '[plan."Pro\\nX"]\n[[upstream]]',
    [
      'plan."Pro\\nX": must have a name that is 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
      ...[
        'requests_per_minute',
        'tokens_per_minute',
        'concurrent_requests',
        'max_context',
        'max_api_keys',
      ].map(
        (key) =>
          `plan."Pro\\nX".${key}: is missing; plan "Pro\\nX" is not built in, so it needs every limit`,
      ),
    ],
  ],
  ['[[upstream]]', 'plan = "x"\n[[upstream]]', ['plan: must be a table']],
  [
    '[[upstream]]',
    '[service]\nusd_per_million = "0"\nminimum_hold = "0.0000001"\nname = ""\n[[upstream]]',
    [
      'service.name: must be text of 1 to 128 characters on one line',
      'service.usd_per_million: must be a decimal above zero such as "1.00", at most 1000000 and with at most 6 decimals',
      'service.minimum_hold: must be a decimal such as "1", at most 1000000 and with at most 6 decimals',
    ],
  ],
  ['[[upstream]]', '__proto__ = 1\n[[upstream]]', ['__proto__: is not a known key']],
  ['[[upstream]]', '"a.b/c~d" = 1\n[[upstream]]', ['"a.b/c~d": is not a known key']],
  [
    'model = "swift"',
    `model = "\${NONE}-\${constructor}"`,
    ['model[0].served_by[0].model: needs the variable NONE, which is not set in the environment'],
  ],
  [
    'https://models',
    `\${EMPTY}://models`,
    ['upstream[0].base_url: needs the variable EMPTY, which is not set in the environment'],
  ],
  [
    'model = "swift"',
    `model = "\${a-b}"`,
    ['model[0].served_by[0].model: must have the name of a variable between the braces after $'],
  ],
  [
    'model = "swift"',
    `model = "\${A"`,
    ['model[0].served_by[0].model: must have the name of a variable between the braces after $'],
  ],
];

describe('mistakes in a catalog', () => {
  for (const [part, replacement, expected] of MISTAKES) {
    test(replacement === '' ? `without ${part}` : JSON.stringify(replacement), () => {
      expect(MINIMAL).toContain(part);
      const text = MINIMAL.replace(part, () => replacement);
      expect(problemsOf(text, { EMPTY: '' })).toEqual(
        expected.map((problem) => `catalog.toml: ${problem}`),
      );
    });
  }

  test('are all reported at once, one line each', () => {
    const text = MINIMAL.replace('id = "up"', 'id = "down"\ncolor = 1')
      .replace(', output = 1 }', ', output = "x" }')
      .replace('"https://models.example/v1/"', `"\${HOST_NAME}"`);
    expect(problemsOf(`${text}\nfallbacks = ["none"]\n[plan.pro]\nmax_context = 0\n`)).toEqual([
      'catalog.toml: upstream[0].base_url: needs the variable HOST_NAME, which is not set in the environment',
      'catalog.toml: upstream[0].color: is not a known key',
      'catalog.toml: model[0].price.output: must be a decimal such as "0.60", at most 1000000 and with at most 12 decimals',
      'catalog.toml: plan.pro.max_context: must be an integer from 1 to 100,000,000',
      'catalog.toml: model[0].served_by[0].upstream: is not the id of any [[upstream]]',
      'catalog.toml: model[0].fallbacks[0]: is not the slug of any [[model]]',
    ]);
  });

  test('name the built-in catalog when there is no file', () => {
    expect(() => loadCatalog({ text: '', environment: {}, nowMs: 0 })).toThrow(
      /^built-in catalog: upstream: is missing; .*\nbuilt-in catalog: model: is missing; /,
    );
  });
});

describe('syntax errors', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a = 1\nb = \n', "line 2, column 4: Missing value after '='; values must be on the same line"],
    ['a = 1\n\nb = [\n 1,\n 2,,\n]\nc = 1\n', "line 5, column 4: Expected a value but found ','"],
    ['a = 1\r\n[[up]\r\nc = 1\r\n', 'line 2'],
    ['a = """\nsk-hidden\n', 'line 1, column 7: Unterminated string'],
    ['x = 1\nkey = sk-hidden\n', 'line 2, column 7: Strings must be quoted'],
    ['x = 1\n[a]\n[a]\n', "line 3, column 3: Cannot redefine table 'a'"],
    ['sk-hidden-9', 'line 1'],
  ];
  for (const [text, expected] of cases) {
    test(JSON.stringify(text), () => {
      const problems = problemsOf(text);
      expect(problems).toHaveLength(1);
      expect(problems[0]).toStartWith(`catalog.toml: ${expected}`);
      expect(problems[0]).not.toContain('hidden');
    });
  }

  test('never show the values around a mistake', () => {
    const before = fc.constantFrom(
      'k=',
      'k="',
      "k='",
      'k=[',
      'k={x=',
      'k="\\',
      'k=1',
      'k=""',
      'k="""',
    );
    const after = fc.constantFrom('', '"', "'", ']', ' b', '"x', '\n', '"""', '\u0001');
    fc.assert(
      fc.property(before, after, (start, end) => {
        expect(problemsOf(`a = 1\n${start}qzx7qzx7${end}`).join()).not.toContain('qzx7');
      }),
    );
  });
});

describe('laws', () => {
  const slug = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,20}$/);
  const alias = fc.stringMatching(/^[!-~]{1,40}$/).filter((text) => !text.includes(`\${`));
  const decimal = fc
    .tuple(fc.nat(999_999), fc.stringMatching(/^\d{1,12}$/))
    .map(([whole, fraction]) => `${whole}.${fraction}`);
  const modelOf = (contextWindow: fc.Arbitrary<number>, rate: fc.Arbitrary<string>) =>
    fc.record({
      aliases: fc.array(alias, { maxLength: 3 }),
      contextWindow,
      input: rate,
      output: rate,
      weight: fc.integer({ min: 1, max: 9 }),
      fallback: fc.boolean(),
    });
  // A wide window and a high price exclude each other: an answer must fit into the books.
  const model = fc.oneof(
    modelOf(fc.integer({ min: 1, max: 62_500 }), decimal),
    modelOf(
      fc.integer({ min: 1, max: 100_000_000 }),
      decimal.map((rate) => rate.replace(/^\d+/, (whole) => whole.slice(0, 2))),
    ),
  );

  test('every valid catalog loads, and resolves each slug and alias to its own model', () => {
    const catalogs = fc
      .uniqueArray(slug, { minLength: 1, maxLength: 6 })
      .chain((slugs) =>
        fc.tuple(...slugs.map((each) => model.map((rest) => ({ slug: each, ...rest })))),
      );
    fc.assert(
      fc.property(catalogs, (entries) => {
        const taken = new Set(entries.map((entry) => entry.slug));
        const unique = entries.map((entry) => ({
          ...entry,
          aliases: entry.aliases.filter((name) => !taken.has(name) && taken.add(name)),
        }));
        const catalog = load(
          unique.map((entry, index) => toToml(entry, unique[index - 1]?.slug)).join('') + DEMO,
        );
        for (const entry of unique) {
          for (const name of [entry.slug, ...entry.aliases]) {
            expect(catalog.resolve(name)?.slug).toBe(entry.slug);
          }
          expect(catalog.resolve(entry.slug)?.aliases).toEqual(entry.aliases);
        }
        expect(catalog.models.map((each) => each.slug)).toEqual(unique.map((each) => each.slug));
        expect(catalog.resolve('not there')).toBeUndefined();
      }),
    );
  });

  const DEMO = '[[upstream]]\nid = "demo"\ndialect = "demo"\n';

  type Entry = {
    slug: string;
    aliases: string[];
    contextWindow: number;
    input: string;
    output: string;
    weight: number;
    fallback: boolean;
  };

  function toToml(entry: Entry, previous: string | undefined): string {
    const fallbacks = entry.fallback && previous !== undefined ? [previous] : [];
    return `[[model]]
slug = ${JSON.stringify(entry.slug)}
aliases = ${JSON.stringify(entry.aliases)}
context_window = ${entry.contextWindow}
max_output = ${Math.ceil(entry.contextWindow / 2)}
price = { input = "${entry.input}", output = "${entry.output}" }
served_by = [{ upstream = "demo", model = "m", weight = ${entry.weight} }]
fallbacks = ${JSON.stringify(fallbacks)}
`;
  }

  test('no secret of the environment ever shows in a problem', () => {
    const values = [...MINIMAL.matchAll(/"[^"]*"/g)].map((match) => match[0]);
    fc.assert(
      fc.property(
        fc.constantFrom(...values),
        fc.constantFrom('', ' ', 'https://', `\${NONE}`),
        (value, start) => {
          const text = MINIMAL.replaceAll(value, () => `"${start}\${SECRET}"`);
          expect(
            problemsOf(`${text}colour = 1\n`, { SECRET: 'QZX7 qzx7' }).join().toLowerCase(),
          ).not.toContain('qzx7');
        },
      ),
    );
  });
});
