// Profiles in a catalog: which one an upstream gets, what a table overrides, and every invalid
// profile. All built-in profiles are checked for known fields and valid values.

import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { PROFILE_SCHEMAS } from '../../src/catalog/profile-schema.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { DEFAULT_PROFILE, RESERVED_MEMBERS, type UpstreamProfile } from '../../src/core/profile.ts';
import { wordsOf } from '../../src/core/sentence.ts';
import { thrownBy } from '../support/thrown.ts';

type Dialect = UpstreamProfile['dialect'];

const MODEL = `
[[model]]
slug = "m"
context_window = 10
max_output = 10
price = { input = 1, output = 1 }
served_by = [{ upstream = "up", model = "m" }]
`;

function catalogText(tables: string, profile?: string, dialect = 'chat'): string {
  return `${MODEL}
[[upstream]]
id = "up"
dialect = "${dialect}"
base_url = "https://models.example"
${profile === undefined ? '' : `profile = "${profile}"`}
${tables}`;
}

function load(text: string, environment: Record<string, string> = {}) {
  return loadCatalog({ path: 'catalog.toml', text, environment, nowMs: 0 });
}

/** The profile of the one upstream of a catalog with these tables. */
function profileOf(tables: string, profile?: string, dialect?: Dialect): unknown {
  const upstream = load(catalogText(tables, profile, dialect)).upstreams.get('up');
  return upstream?.dialect === 'demo' ? undefined : upstream?.profile;
}

function problemsOf(text: string, environment: Record<string, string> = {}): readonly string[] {
  const { problems = [] } = thrownBy(CatalogError, () => load(text, environment)) ?? {};
  return problems.map((problem) => wordsOf(problem).replace('catalog.toml: ', ''));
}

function builtIn(name: string): UpstreamProfile {
  return BUILT_IN_PROFILES.get(name) ?? expect.unreachable();
}

const snake = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter}`.toLowerCase());

function toToml(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${key} = ${toToml(member)}`);
  return `{ ${members.join(', ')} }`;
}

/** Every field of a profile, as a catalog writes it. */
function fieldsOf({ dialect: _, ...fields }: UpstreamProfile): string {
  return Object.entries(fields)
    .map(([name, value]) => `${snake(name)} = ${toToml(value)}`)
    .join('\n');
}

describe('an upstream', () => {
  test('without a profile has that of its dialect', () => {
    expect(profileOf('')).toEqual(DEFAULT_PROFILE.chat);
    expect(profileOf('', undefined, 'messages')).toEqual(DEFAULT_PROFILE.messages);
  });

  test.each([...BUILT_IN_PROFILES])('may name the built-in profile %s', (name, profile) => {
    expect(profileOf('', name, profile.dialect)).toEqual(profile);
  });

  test('keeps the name of its profile', () => {
    const names = (text: string) => load(text).upstreams.get('up');
    expect(names(catalogText('', 'vllm'))).toMatchObject({ profileName: 'vllm' });
    expect(names(catalogText('', undefined, 'messages'))).toMatchObject({
      profileName: 'messages',
    });
  });
});

describe('a table', () => {
  test('of a new name changes fields of its base', () => {
    const own = '[profile.mine]\nbase = "vllm"\nstop_max = 4\nthink_tags = "opened"';
    expect(profileOf(own, 'mine')).toEqual({
      ...builtIn('vllm'),
      stopMax: 4,
      thinkTags: 'opened',
    } as never);
  });

  test('of a built-in name changes fields of that profile, for its heirs too', () => {
    const tables = `
      [profile."llama.cpp"]
      credential = "api-key"
      [profile.mine]
      base = "llama.cpp"
      json_mode = "omit"`;
    const changed = { ...builtIn('llama.cpp'), credential: 'api-key' };
    expect(profileOf(tables, 'llama.cpp')).toEqual(changed as never);
    expect(profileOf(tables, 'mine')).toEqual({ ...changed, jsonMode: 'omit' } as never);
  });

  test('of the name of a default changes upstreams that name no profile, and no other profile', () => {
    const tables = '[profile.chat]\nstop_max = 1\n[profile.messages]\nstop_max = 2';
    expect(profileOf(tables)).toEqual({ ...DEFAULT_PROFILE.chat, stopMax: 1 });
    expect(profileOf(tables, undefined, 'messages')).toEqual({
      ...DEFAULT_PROFILE.messages,
      stopMax: 2,
    });
    expect(profileOf(tables, 'deepseek')).toEqual(builtIn('deepseek') as never);
  });

  test('may have a base that is defined after it', () => {
    const tables = `
      [profile.a]
      base = "b"
      turn_order = "alternate"
      [profile.b]
      base = "c"
      turn_order = "any"
      content_parts = "never"
      [profile.c]
      base = "mistral"`;
    expect(profileOf(tables, 'a')).toEqual({
      ...builtIn('mistral'),
      turnOrder: 'alternate',
      contentParts: 'never',
    } as never);
  });

  test('may have a name that is a number or a member of every object', () => {
    const tables = '[profile.7]\nbase = "constructor"\n[profile.constructor]\nbase = "chat"';
    expect(profileOf(tables, '7')).toEqual(DEFAULT_PROFILE.chat);
    expect(problemsOf(catalogText(`${tables}\n[profile.8]\nbase = "chat"\nstop_max = -1`))).toEqual(
      ['profile.8.stop_max: must be an integer from 0 to 16'],
    );
  });

  test('changes single words and single budgets', () => {
    const words = '[profile.mine]\nbase = "openai"\neffort_words = { max = "high", off = "" }';
    expect(profileOf(words, 'mine')).toMatchObject({
      effortWords: { off: '', low: 'low', high: 'high', max: 'high' },
    });
    const budgets = '[profile.mine]\nbase = "messages"\nthinking_budgets = { low = 1024 }';
    expect(profileOf(budgets, 'mine', 'messages')).toMatchObject({
      thinkingBudgets: { low: 1_024, high: 16_384, max: 32_768 },
    });
  });

  test('replaces extra_body as a whole, with variables filled in', () => {
    const tables = `
      [profile.first]
      base = "openrouter"
      extra_body = { route = "fallback" }
      [profile.mine]
      base = "first"
      [profile.mine.extra_body]
      seed = 7
      "x.y" = [true, { key = "Bearer-\${SECRET}" }]
      [profile.mine.extra_body.provider]
      order = ["\${FIRST}", "two"]`;
    const text = catalogText(tables, 'mine');
    const { upstreams } = load(text, { SECRET: 'qzx7', FIRST: 'one' });
    expect(upstreams.get('up')).toMatchObject({
      profile: {
        extraBody: {
          seed: 7,
          'x.y': [true, { key: 'Bearer-qzx7' }],
          provider: { order: ['one', 'two'] },
        },
      },
    });
    expect(problemsOf(text, { FIRST: 'one' })).toEqual([
      'profile.mine.extra_body."x.y"[1].key: needs the variable SECRET, which is not set in the environment',
    ]);
  });

  test('is frozen to its depths, like all of the snapshot', () => {
    const tables = `
      [profile.mine]
      base = "vllm"
      [profile.mine.extra_body]
      provider = { order = ["one", { two = 2 }] }`;
    const frozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(frozen));
    expect(frozen(profileOf(tables, 'mine'))).toBe(true);
    expect(profileOf(tables, 'mine')).toHaveProperty('extraBody.provider.order.1.two', 2);
  });
});

describe('laws', () => {
  test('the fields of a dialect are those of its profiles', () => {
    for (const dialect of ['chat', 'messages', 'responses'] as const) {
      const { dialect: _, ...fields } = DEFAULT_PROFILE[dialect];
      const { base: __, efforts: ___, ...known } = PROFILE_SCHEMAS[dialect].properties;
      expect(Object.keys(known).toSorted()).toEqual(Object.keys(fields).map(snake).toSorted());
    }
  });

  const names = [...BUILT_IN_PROFILES.keys()];

  test.each(names)('%s written out is itself, with any base', (name) => {
    const profile = builtIn(name);
    for (const [base, { dialect }] of BUILT_IN_PROFILES) {
      if (dialect !== profile.dialect) continue;
      const table = `[profile.mine]\nbase = "${base}"\n${fieldsOf(profile)}`;
      expect(profileOf(table, 'mine', dialect)).toEqual(profile);
    }
  });

  test('any tables at all give an answer, and no value of theirs is shown', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'vllm', 'anthropic', 'nothing');
    const keys = Object.keys({
      ...PROFILE_SCHEMAS.chat.properties,
      ...PROFILE_SCHEMAS.messages.properties,
      ...PROFILE_SCHEMAS.responses.properties,
    }).filter((key) => key !== 'base');
    const value = fc.constantFrom('"qzx7"', '77007', 'true', '["qzx7"]', '{ qzq = "qzx7" }', '{}');
    const table = fc
      .record({
        base: fc.option(name, { nil: undefined }),
        fields: fc.uniqueArray(fc.tuple(fc.constantFrom(...keys), value), {
          selector: ([key]) => key,
        }),
      })
      .map(({ base, fields }) => [
        ...(base === undefined ? [] : [`base = "${base}"`]),
        ...fields.map(([key, written]) => `${key} = ${written}`),
      ]);
    const served = fc.oneof(
      fc.constant(undefined),
      name.map((each) => `"${each}"`),
      table.map((lines) => `{ ${lines.join(', ')} }`),
      value,
    );
    const dialect = fc.constantFrom('chat', 'messages', 'responses', 'demo');
    fc.assert(
      fc.property(
        fc.dictionary(name, table),
        name,
        dialect,
        served,
        (tables, used, spoken, own) => {
          const text = Object.entries(tables).map(([each, lines]) =>
            [`[profile.${each}]`, ...lines].join('\n'),
          );
          const whole = catalogText(text.join('\n'), used, spoken);
          const placed = own === undefined ? '' : `, profile = ${own}`;
          const problems = problemsOf(whole.replace('model = "m"', `model = "m"${placed}`));
          expect(problems.join('\n')).not.toMatch(/qzx7|77007/);
          expect(new Set(problems.map((problem) => problem.split(': ')[0])).size).toBe(
            problems.length,
          );
        },
      ),
    );
  });
});

describe('mistakes', () => {
  const own = (fields: string): string => `[profile.mine]\nbase = "chat"\n${fields}`;
  const ofMessages = (fields: string): string => `[profile.mine]\nbase = "anthropic"\n${fields}`;
  const unknown = 'is neither a built-in profile nor the name of a [profile.NAME]';
  const rows: readonly (readonly [tables: string, problems: readonly string[]])[] = [
    [
      '[profile.mine]',
      ['profile.mine.base: is missing; must be the name of the profile to change'],
    ],
    ['[profile.mine]\nbase = 1', ['profile.mine.base: must be the name of a profile']],
    ['[profile.mine]\nbase = "vlm"', [`profile.mine.base: ${unknown}; did you mean vllm?`]],
    ['[profile.mine]\nbase = "soap"\nstop_max = "x"', [`profile.mine.base: ${unknown}`]],
    [
      '[profile.mine]\nbase = "ours"\n[profile.our]\nbase = "chat"',
      [`profile.mine.base: ${unknown}; did you mean our?`],
    ],
    [
      '[profile.mine]\nbase = "mine"',
      ['profile.mine.base: leads back to this profile; the last base must be a built-in profile'],
    ],
    [
      '[profile.a]\nbase = "b"\n[profile.b]\nbase = "c"\n[profile.c]\nbase = "b"',
      ['b', 'c'].map(
        (name) =>
          `profile.${name}.base: leads back to this profile; the last base must be a built-in profile`,
      ),
    ],
    [
      '[profile.vllm]\nbase = "chat"',
      [
        'profile.vllm.base: is not used here: the profile of this name is built in, and its table changes it',
      ],
    ],
    ['profile = "x"', ['profile: must be a table']],
    ['[profile]\nstop_max = 1', ['profile.stop_max: must be a table']],
    [
      '[profile."My\\nServer"]\nbase = "chat"',
      [
        'profile."My\\nServer": must have a name that is 1 to 64 of a-z, 0-9, ".", "_" and "-", beginning with a letter or digit',
      ],
    ],
    [
      own('stop_may = 1\ncolour = 1'),
      [
        'profile.mine.stop_may: is not a known key; did you mean stop_max?',
        'profile.mine.colour: is not a known key',
      ],
    ],
    [
      own('version = "1"\nthinking_switch = 2'),
      ['version', 'thinking_switch'].map(
        (key) =>
          `profile.mine.${key}: is a field of profiles of the messages dialect, and this one is of chat`,
      ),
    ],
    [
      ofMessages('think_tags = "split"'),
      [
        'profile.mine.think_tags: is a field of profiles of the chat dialect, and this one is of messages',
      ],
    ],
    ...['17', '-1', '1.5', '"4"'].map((bad): [string, string[]] => [
      own(`stop_max = ${bad}`),
      ['profile.mine.stop_max: must be an integer from 0 to 16'],
    ]),
    [own('blank_stops = "keep"'), ['profile.mine.blank_stops: must be "send" or "hold"']],
    [
      own('sampling = "one"'),
      ['profile.mine.sampling: must be "send", "omit_when_thinking" or "omit"'],
    ],
    [
      ofMessages('sampling = "omit_when_thinking"'),
      ['profile.mine.sampling: must be "send", "one" or "omit"'],
    ],
    [
      ofMessages('credential = "basic"'),
      ['profile.mine.credential: must be "x-api-key", "bearer" or "api-key"'],
    ],
    [
      '[profile."llama.cpp"]\ntool_ids = 9',
      ['profile."llama.cpp".tool_ids: must be "any", "word" or "nine"'],
    ],
    [
      own('empty_tool_result = 1'),
      ['profile.mine.empty_tool_result: must be text of at most 1,024 characters'],
    ],
    [
      own('effort_words = "high"'),
      ['profile.mine.effort_words: must be a table such as { off = "none", max = "xhigh" }'],
    ],
    [
      own('effort_words = { off = 1, hgih = "x", low = "a b" }'),
      [
        'profile.mine.effort_words.hgih: is not a known key; did you mean high?',
        'profile.mine.effort_words.off: must be a word, or "" for none',
        'profile.mine.effort_words.low: must be a word, or "" for none',
      ],
    ],
    [
      ofMessages('thinking_budgets = { low = 1023 }'),
      ['profile.mine.thinking_budgets.low: must be an integer from 1,024 to 1,000,000'],
    ],
    [
      ofMessages('version = "2023\\n06"'),
      ['profile.mine.version: must be 1 to 64 visible ASCII characters'],
    ],
    [
      own('extra_body = []'),
      ['profile.mine.extra_body: must be a table of members for every request'],
    ],
    [
      own('extra_body = { seed = inf, a = [1, { b = nan }] }'),
      [
        'profile.mine.extra_body.seed: must be a finite number',
        'profile.mine.extra_body.a[1].b: must be a finite number',
      ],
    ],
    [
      own('extra_body = { n = 2, stream = false, top_k = 5 }'),
      ['n', 'stream'].map(
        (key) =>
          `profile.mine.extra_body.${key}: must not be set here: it is the request that says it`,
      ),
    ],
  ];
  for (const [tables, problems] of rows) {
    test(JSON.stringify(tables), () => {
      // The one top-level key has to stand before the first table.
      const text = tables.startsWith('profile =')
        ? `${tables}\n${catalogText('')}`
        : catalogText(tables);
      expect(problemsOf(text)).toEqual([...problems]);
    });
  }

  test.each([...RESERVED_MEMBERS])('extra_body.%s is reserved', (member) => {
    expect(problemsOf(catalogText(own(`extra_body = { ${member} = "x" }`)))).toHaveLength(1);
  });

  const ofUpstream: readonly (readonly [profile: string, dialect: string, problem: string])[] = [
    ['vlm', 'chat', `${unknown}; did you mean vllm?`],
    ['constructor', 'chat', unknown],
    ['', 'chat', unknown],
    ['anthropic', 'chat', 'is a profile of the messages dialect, and this upstream speaks chat'],
    ['openai', 'messages', 'is a profile of the chat dialect, and this upstream speaks messages'],
    ['heir', 'messages', 'is a profile of the chat dialect, and this upstream speaks messages'],
  ];
  for (const [profile, dialect, problem] of ofUpstream) {
    test(`an upstream of ${dialect} with the profile ${JSON.stringify(profile)}`, () => {
      const tables = '[profile.heir]\nbase = "ollama"';
      expect(problemsOf(catalogText(tables, profile, dialect))).toEqual([
        `upstream[0].profile: ${problem}`,
      ]);
    });
  }

  test('a profile that is no name', () => {
    expect(problemsOf(catalogText('').replace('id = "up"', 'id = "up"\nprofile = 1'))).toEqual([
      'upstream[0].profile: must be the name of a profile',
    ]);
  });

  test('a profile of a demo upstream', () => {
    const text = catalogText('', 'chat', 'demo').replace(/^base_url.*$/m, '');
    expect(problemsOf(text)).toEqual([
      'upstream[0].profile: is not used by the demo dialect; remove it',
    ]);
  });

  test('an upstream of a profile that is wrong itself is reported once', () => {
    expect(problemsOf(catalogText('[profile.mine]\nbase = "soap"', 'mine'))).toEqual([
      `profile.mine.base: ${unknown}`,
    ]);
  });

  test('all at once, each by its own path', () => {
    const tables = '[profile.mine]\nbase = "chat"\nstop_max = 99\ncolour = 1\n[profile.other]';
    expect(problemsOf(`${catalogText(tables, 'vlm')}\n[plan.pro]\nmax_context = 0\n`)).toEqual([
      'plan.pro.max_context: must be an integer from 1 to 100,000,000',
      `upstream[0].profile: ${unknown}; did you mean vllm?`,
      'profile.mine.colour: is not a known key',
      'profile.mine.stop_max: must be an integer from 0 to 16',
      'profile.other.base: is missing; must be the name of the profile to change',
    ]);
  });

  test('a Messages upstream whose base URL has /v1 already', () => {
    const text = catalogText('', undefined, 'messages');
    for (const end of ['/v1', '/v1/', '/anthropic/v1']) {
      expect(problemsOf(text.replace('models.example', `models.example${end}`))).toEqual([
        'upstream[0].base_url: must not end with /v1: the messages dialect adds /v1/messages itself',
      ]);
    }
    expect(problemsOf(text.replace('models.example', 'models.example/api-v1'))).toEqual([]);
  });
});
