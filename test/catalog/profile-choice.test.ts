// Which profile a model gets at its upstream: what the catalog names, else what the vendor and the
// name of the model say.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { CatalogError } from '../../src/catalog/source.ts';
import { BUILT_IN_PROFILES } from '../../src/core/built-in-profiles.ts';
import { GENERATIONS } from '../../src/core/generations.ts';
import type { UpstreamProfile } from '../../src/core/profile.ts';
import { say, wordsOf } from '../../src/core/sentence.ts';
import { thrownBy } from '../support/thrown.ts';

type Settings = {
  readonly dialect?: string;
  readonly profile?: string;
  readonly host?: string;
  /** The TOML value of the placement's `profile`. */
  readonly served?: string;
  readonly tables?: string;
};

function textOf(model: string, settings: Settings): string {
  const { dialect, profile, host = 'models.example', served, tables = '' } = settings;
  const set = (key: string, value: string | undefined) =>
    value === undefined ? '' : `${key} = "${value}"`;
  return `
[[model]]
slug = "m"
context_window = 10
max_output = 10
price = { input = 1, output = 1 }
served_by = [{ upstream = "up", model = "${model}"${served === undefined ? '' : `, profile = ${served}`} }]
[[upstream]]
id = "up"
base_url = "https://${host}"
${set('dialect', dialect)}
${set('profile', profile)}
${tables}`;
}

function placed(model: string, settings: Settings) {
  const text = textOf(model, settings);
  const catalog = loadCatalog({ path: 'catalog.toml', text, environment: {}, nowMs: 0 });
  return catalog.resolve('m')?.servedBy[0] ?? expect.unreachable();
}

function problemsOf(model: string, settings: Settings): readonly string[] {
  const { problems = [] } = thrownBy(CatalogError, () => placed(model, settings)) ?? {};
  return problems.map((problem) => wordsOf(problem).replace('catalog.toml: ', ''));
}

function builtIn(name: string): UpstreamProfile {
  return BUILT_IN_PROFILES.get(name) ?? expect.unreachable();
}

describe('by the name of the model', () => {
  const rows: readonly (readonly [profile: string, models: readonly string[], chosen: string])[] = [
    [
      'anthropic',
      [
        'claude-opus-5-5',
        'claude-opus-5-5-20261104',
        'claude-opus-5-5@20261001',
        'anthropic.claude-opus-5-5-v1:0',
        'us.anthropic.claude-opus-5-5-20261104-v1:0',
        'anthropic/claude-opus-5.5',
        'Claude-Opus-5-5',
        'claude-fable-5-1',
        'claude-fable-5-2@20261101',
        'claude-mythos-5-2',
        // Later ones get the strictest rules.
        'claude-opus-6',
        'claude-sonnet-7-5',
        'claude-opus-10',
      ],
      'anthropic-5.5',
    ],
    [
      'anthropic',
      ['claude-sonnet-5-5', 'anthropic.claude-sonnet-5-5-v1:0', 'claude-sonnet-5-5@20261001'],
      'anthropic-sonnet-5.5',
    ],
    ['anthropic', ['claude-haiku-5-5', 'CLAUDE-HAIKU-5.5'], 'anthropic-haiku-5.5'],
    ['anthropic', ['claude-fable-5', 'claude-mythos-5-20260601'], 'anthropic-fable-5'],
    [
      'anthropic',
      [
        'claude-opus-5',
        'claude-opus-5-20260301',
        'anthropic.claude-opus-5-v1:0',
        'claude-sonnet-5@20260201',
      ],
      'anthropic-5',
    ],
    [
      'anthropic',
      ['claude-opus-4-7', 'claude-opus-4-8-20260115', 'claude-opus-4.8', 'something-else'],
      'anthropic',
    ],
    ['anthropic', ['claude-opus-4-6', 'anthropic.claude-sonnet-4-6-v1:0'], 'anthropic-4.6'],
    ['anthropic', ['claude-haiku-4-5-20251001', 'claude-sonnet-4-5@20250929'], 'anthropic-4.5'],
    [
      'anthropic',
      [
        'claude-3-7-sonnet-latest',
        'anthropic.claude-3-5-sonnet-20241022-v2:0',
        'claude-opus-4-1-20250805',
        'claude-opus-4-20250514',
        'claude-sonnet-4@20250514',
        'claude-sonnet-4-0',
        'claude-opus-4',
      ],
      'messages',
    ],
    [
      'openai',
      ['gpt-6.2-astra', 'gpt-6-astra', 'gpt-6.1-sol-2026-10-01', 'openai/gpt-6.2-sol', 'gpt-7'],
      'openai-6',
    ],
    ['openai', ['gpt-5.4', 'GPT-5.5-mini'], 'openai-5.4'],
    ['openai', ['gpt-5.6', 'gpt-6-sol', 'gpt-6-luna', 'gpt-6.1-terra'], 'openai-responses'],
    ['openai', ['gpt-4o', 'gpt-4.1-mini', 'gpt-5', 'gpt-5.1', 'gpt-5.3-chat', 'o3'], 'openai'],
    ['azure', ['gpt-6-astra'], 'azure-6'],
    ['azure', ['gpt-5.5'], 'azure-5.4'],
    ['azure', ['gpt-6-luna'], 'azure-responses'],
    ['azure', ['gpt-35-turbo', 'gpt-41', 'our-deployment', 'gpt-5'], 'azure'],
    ['gemini', ['gemini-4-hydrogen', 'models/gemini-4-hydrogen-preview'], 'gemini-4-hydrogen'],
    ['gemini', ['google/gemini-3.8-flash'], 'gemini-3.8-flash'],
    ['gemini', ['gemini-4-argon', 'gemini-3.1-pro'], 'gemini'],
    ['moonshot', ['kimi-k3', 'kimi-k3.1-pro', 'kimi-k4'], 'moonshot-k3'],
    ['moonshot', ['kimi-k2.7-code'], 'moonshot-k2.7'],
    ['moonshot', ['kimi-k2.6', 'kimi-k2.5', 'kimi-k2-0905'], 'moonshot'],
    ['zai', ['glm-5.3', 'glm-5.3-flash', 'glm-6'], 'zai'],
    ['zai', ['glm-5.2', 'GLM-5.2'], 'zai-5.2'],
    ['zai', ['glm-4.6', 'glm-4.7-air', 'glm-5', 'glm-5-turbo', 'glm-5.1'], 'zai-4.6'],
    ['minimax', ['MiniMax-M3', 'minimax-m3-highspeed'], 'minimax-m3'],
    ['minimax', ['MiniMax-M3.1-Flash'], 'minimax'],
    ['xai', ['grok-4.7', 'grok-4.5'], 'xai'],
    ['xai', ['grok-4.3'], 'xai-4.3'],
    ['xai', ['grok-4.20-0309'], 'xai-4.20'],
    ['mistral', ['mistral-large-4'], 'mistral-large-4'],
    ['mistral', ['mistral-medium-3.5', 'mistral-small-4'], 'mistral'],
    ['groq', ['qwen/qwen3.8-27b'], 'groq-qwen'],
    ['groq', ['openai/gpt-oss-120b'], 'groq'],
    ['cerebras', ['qwen-3.8-27b', 'zai-glm-5.2'], 'cerebras-open'],
    ['cerebras', ['gpt-oss-120b'], 'cerebras'],
    ['fireworks', ['accounts/fireworks/models/glm-5p3'], 'fireworks-glm-5.3'],
    ['fireworks', ['accounts/fireworks/models/qwen3p8'], 'fireworks'],
    ['openrouter', ['anthropic/claude-opus-5.5', 'openai/gpt-6.2-astra'], 'openrouter'],
    ['vllm', ['claude-opus-5-5', 'kimi-k3'], 'vllm'],
  ];
  for (const [profile, models, chosen] of rows) {
    test.each(models)(`${profile}: %s has ${chosen}`, (model) => {
      const { profile: used, profileChoice } = placed(model, { profile });
      expect({ used, name: profileChoice.name }).toEqual({ used: builtIn(chosen), name: chosen });
    });
  }

  test('each row is reached, names a profile of its dialect, and has a reason', () => {
    const chosen = new Set(rows.map(([, , name]) => name));
    const generations = GENERATIONS.map(({ profile }) => profile);
    const unused = generations.filter((name) => !chosen.has(name) && !/-chat-6$/.test(name));
    expect(unused).toEqual([]);
    for (const { of, profile, reason } of GENERATIONS) {
      expect(new Set(of.map((name) => builtIn(name).dialect))).toEqual(
        new Set([builtIn(profile).dialect]),
      );
      expect(wordsOf(reason)).not.toBe('');
    }
  });

  test('the reason is that of the generation', () => {
    expect(wordsOf(placed('glm-5.2', { profile: 'zai' }).profileChoice.reason)).toBe(
      'GLM-5.2 has two efforts',
    );
    expect(wordsOf(placed('gpt-6-luna', { profile: 'openai' }).profileChoice.reason)).toBe(
      'tools with thinking need Responses since GPT-5.4',
    );
    expect(wordsOf(placed('kimi-k2.6', { profile: 'moonshot' }).profileChoice.reason)).toBe(
      'the profile of the upstream',
    );
  });
});

describe('a cloud that sells the models of a vendor', () => {
  test.each([
    ['azure-messages', 'claude-opus-5-5', 'anthropic-5.5'],
    ['bedrock', 'anthropic.claude-opus-5-5-v1:0', 'anthropic-5.5'],
    ['bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', 'anthropic-4.5'],
    ['vertex', 'claude-sonnet-5-5@20261001', 'anthropic-sonnet-5.5'],
  ])('%s: %s has %s, and keeps what is its own', (cloud, model, generation) => {
    const own = Object.entries(builtIn(cloud)).filter(
      ([field, value]) => Reflect.get(builtIn('anthropic'), field) !== value,
    );
    const { profile, profileChoice } = placed(model, { profile: cloud });
    expect(own.map(([field]) => field)).toContain('credential');
    expect(profile).toEqual({ ...builtIn(generation), ...Object.fromEntries(own) } as never);
    expect(profileChoice.name).toBe(`${cloud} with ${generation}`);
  });
});

describe('the dialect of the upstream', () => {
  const name = (model: string, settings: Settings) => placed(model, settings).profileChoice.name;

  test('left out: newer models of OpenAI have Responses, older ones chat', () => {
    expect(name('gpt-6.2-sol', { profile: 'openai' })).toBe('openai-6');
    expect(name('gpt-5.1', { profile: 'openai' })).toBe('openai');
  });

  test('chat: all of them have chat', () => {
    const chat = { dialect: 'chat', profile: 'openai' };
    expect(name('gpt-5.6', chat)).toBe('openai');
    expect(name('gpt-6.2-sol', chat)).toBe('openai-chat-6');
    expect(name('gpt-6-astra', { dialect: 'chat', profile: 'azure' })).toBe('azure-chat-6');
  });

  test('responses: a vendor is its profile of Responses', () => {
    const responses = { dialect: 'responses', profile: 'openai' };
    expect(name('gpt-5.1', responses)).toBe('openai-5.4');
    expect(name('gpt-4.1', responses)).toBe('openai-responses');
    expect(name('any', { dialect: 'responses', profile: 'vllm' })).toBe('vllm-responses');
    expect(name('any', { dialect: 'messages', profile: 'deepseek' })).toBe('deepseek-messages');
    expect(name('any', { dialect: 'chat', profile: 'xai' })).toBe('xai-chat');
  });

  test('with a table of the vendor stays that of the table', () => {
    const tables = '[profile.openai]\nstop_max = 2';
    const { profile, profileChoice } = placed('gpt-6.2-sol', { profile: 'openai', tables });
    expect(profile).toEqual({ ...builtIn('openai-chat-6'), stopMax: 2 } as never);
    expect(profileChoice.name).toBe('openai with openai-chat-6');
  });
});

describe('the host of an upstream without a profile', () => {
  const rows: readonly (readonly [host: string, dialect: string, model: string, name: string])[] = [
    ['api.openai.com/v1', 'chat', 'gpt-5.1', 'openai'],
    ['api.openai.com/v1', 'responses', 'gpt-6.2-astra', 'openai-6'],
    ['ours.openai.azure.com/openai/v1', 'chat', 'x', 'azure'],
    ['ours.services.ai.azure.com/openai/v1', 'responses', 'x', 'azure-responses'],
    ['ours.services.ai.azure.com/anthropic', 'messages', 'x', 'azure-messages'],
    ['api.anthropic.com', 'messages', 'claude-opus-5-5', 'anthropic-5.5'],
    ['generativelanguage.googleapis.com/v1beta/openai', 'chat', 'gemini-4-argon', 'gemini'],
    ['api.x.ai/v1', 'responses', 'grok-4.7', 'xai'],
    ['api.x.ai/v1', 'chat', 'grok-4.7', 'xai-chat'],
    ['api.deepseek.com', 'chat', 'x', 'deepseek'],
    ['api.deepseek.com/anthropic', 'messages', 'x', 'deepseek-messages'],
    ['api.moonshot.ai/v1', 'chat', 'kimi-k3', 'moonshot-k3'],
    ['api.moonshot.cn/v1', 'chat', 'kimi-k2.6', 'moonshot'],
    ['api.moonshot.ai/anthropic', 'messages', 'kimi-k3', 'messages'],
    ['api.z.ai/api/paas/v4', 'chat', 'glm-5.3', 'zai'],
    ['open.bigmodel.cn/api/paas/v4', 'chat', 'glm-5.2', 'zai-5.2'],
    ['api.minimax.io/v1', 'chat', 'MiniMax-M3.1-Flash', 'minimax'],
    ['api.minimax.io/anthropic', 'messages', 'MiniMax-M3', 'minimax-messages'],
    ['dashscope-intl.aliyuncs.com/compatible-mode/v1', 'chat', 'qwen3.8-max', 'qwen'],
    ['dashscope.aliyuncs.com/compatible-mode/v1', 'chat', 'qwen3.8-max', 'qwen'],
    ['api.mistral.ai/v1', 'chat', 'mistral-small-4', 'mistral'],
    ['api.groq.com/openai/v1', 'chat', 'openai/gpt-oss-120b', 'groq'],
    ['api.cerebras.ai/v1', 'chat', 'gpt-oss-120b', 'cerebras'],
    ['openrouter.ai/api/v1', 'chat', 'x', 'openrouter'],
    ['api.together.xyz/v1', 'chat', 'x', 'together'],
    ['api.fireworks.ai/inference/v1', 'chat', 'x', 'fireworks'],
    ['127.0.0.1:8000/v1', 'chat', 'kimi-k3', 'chat'],
    ['api.openai.com.models.example/v1', 'chat', 'gpt-5.1', 'chat'],
    ['notopenrouter.ai/api/v1', 'chat', 'x', 'chat'],
  ];
  test.each(rows)('%s, %s: %s has %s', (host, dialect, model, name) => {
    const { profile, profileChoice } = placed(model, { host, dialect });
    expect({ profile, name: profileChoice.name }).toEqual({ profile: builtIn(name), name });
  });

  test('is the reason, unless the dialect is', () => {
    const reason = (host: string) =>
      wordsOf(placed('x', { host, dialect: 'chat' }).profileChoice.reason);
    expect(reason('api.deepseek.com')).toBe("the vendor at the upstream's address");
    expect(reason('models.example')).toBe('the default of the dialect');
  });

  test('does not count beside a profile', () => {
    const { name } = placed('x', { host: 'openrouter.ai/api/v1', profile: 'vllm' }).profileChoice;
    expect(name).toBe('vllm');
  });
});

describe('the profile of served_by', () => {
  const anthropic = { profile: 'anthropic' };

  test('wins over the name of the model', () => {
    expect(placed('claude-opus-5-5', { ...anthropic, served: '"anthropic-4.6"' })).toMatchObject({
      profile: builtIn('anthropic-4.6'),
      profileChoice: { name: 'anthropic-4.6', reason: say('the catalog names it for this model') },
    });
    expect(placed('gpt-6-luna', { profile: 'openai', served: '"openai"' }).profile).toEqual(
      builtIn('openai'),
    );
    expect(placed('our-deployment', { profile: 'azure', served: '"azure-6"' }).profile).toEqual(
      builtIn('azure-6'),
    );
  });

  test('as a table changes what the model would get', () => {
    const served = '{ version = "2026-10-21", efforts = ["low", "high"] }';
    expect(placed('claude-opus-5-5', { ...anthropic, served })).toMatchObject({
      profile: {
        ...builtIn('anthropic-5.5'),
        version: '2026-10-21',
        effortWords: { off: 'low', low: 'low', high: 'high', max: 'high' },
      },
      profileChoice: {
        name: 'anthropic-5.5, changed',
        reason: say('the catalog changes it for this model'),
      },
    });
  });

  test('as a table with a base changes that profile', () => {
    const served = '{ base = "anthropic-4.5", cache_marks = "none" }';
    expect(placed('claude-opus-5-5', { ...anthropic, served })).toMatchObject({
      profile: { ...builtIn('anthropic-4.5'), cacheMarks: 'none' },
      profileChoice: { name: 'anthropic-4.5, changed' },
    });
  });

  test('as a table has the fields of the dialect that the model gets', () => {
    const served = '{ reasoning_summary = "omit" }';
    expect(placed('gpt-6-luna', { profile: 'openai', served }).profile).toEqual({
      ...builtIn('openai-responses'),
      reasoningSummary: 'omit',
    } as never);
    expect(problemsOf('gpt-5.1', { profile: 'openai', served })).toEqual([
      'model[0].served_by[0].profile.reasoning_summary: is a field of profiles of the responses dialect, and this one is of chat',
    ]);
    const based = '{ base = "openai", reasoning_summary = "omit" }';
    const responses = { dialect: 'responses', profile: 'openai', served: based };
    expect(placed('gpt-6-luna', responses).profile.dialect).toBe('responses');
  });

  test('may be of Responses at an upstream of chat, which has the same address', () => {
    const served = '"openai-6"';
    const { profile } = placed('x', { dialect: 'chat', profile: 'openai', served });
    expect(profile).toEqual(builtIn('openai-6'));
  });
});

describe('changes of the operator', () => {
  test('to a vendor are kept in every generation', () => {
    const tables = '[profile.anthropic]\ncache_marks = "always"\nextra_body = { a = 1 }';
    for (const [model, name] of [
      ['claude-opus-5-5', 'anthropic-5.5'],
      ['claude-haiku-4-5', 'anthropic-4.5'],
      ['claude-3-7-sonnet', 'messages'],
    ] as const) {
      const { profile, profileChoice } = placed(model, { profile: 'anthropic', tables });
      expect(profile).toEqual({
        ...builtIn(name),
        cacheMarks: 'always',
        extraBody: { a: 1 },
      } as never);
      expect(profileChoice.name).toBe(`anthropic with ${name}`);
    }
  });

  test('in a profile with a vendor as its base are kept as well', () => {
    const tables =
      '[profile.mine]\nbase = "more"\n[profile.more]\nbase = "moonshot"\ncredential = "api-key"';
    const { profile, profileChoice } = placed('kimi-k3', { profile: 'mine', tables });
    expect(profile).toEqual({ ...builtIn('moonshot-k3'), credential: 'api-key' } as never);
    expect(profileChoice.name).toBe('mine with moonshot-k3');
  });

  test("to a vendor's profile of Responses are kept where the model gets that", () => {
    const tables = '[profile.openai-responses]\nobfuscation = "omit"';
    const { profile } = placed('gpt-6.2-astra', { profile: 'openai', tables });
    expect(profile).toEqual({ ...builtIn('openai-6'), obfuscation: 'omit' } as never);
  });

  test('to the profile of a generation hold for that one', () => {
    const tables = '[profile."anthropic-5.5"]\nstop_max = 3';
    const stops = (model: string) =>
      placed(model, { profile: 'anthropic', tables }).profile.stopMax;
    expect([stops('claude-opus-5-5'), stops('claude-opus-5')]).toEqual([3, 16]);
  });
});

describe('mistakes', () => {
  const at = 'model[0].served_by[0].profile';
  const unknown = 'is neither a built-in profile nor the name of a [profile.NAME]';
  const chat = { dialect: 'chat', profile: 'openai' };
  const rows: readonly (readonly [settings: Settings, problems: readonly string[]])[] = [
    [{ ...chat, served: '"opanai"' }, [`${at}: ${unknown}; did you mean openai?`]],
    [
      { ...chat, served: '"anthropic"' },
      [`${at}: is a profile of the messages dialect, and this upstream speaks chat`],
    ],
    [
      { profile: 'anthropic', served: '"openai-6"' },
      [`${at}: is a profile of the responses dialect, and this upstream speaks messages`],
    ],
    [{ ...chat, served: '{ base = "vlm" }' }, [`${at}.base: ${unknown}; did you mean vllm?`]],
    [{ ...chat, served: '{ base = 1 }' }, [`${at}.base: must be the name of a profile`]],
    [
      { ...chat, served: '{ stop_may = 1, efforts = ["lowest"] }' },
      [
        `${at}.stop_may: is not a known key; did you mean stop_max?`,
        `${at}.efforts[0]: must be "none", "minimal", "low", "medium", "high", "xhigh" or "max"`,
      ],
    ],
    [
      { ...chat, served: '{ efforts = ["low", "low"] }' },
      [`${at}.efforts: must be a list of different efforts`],
    ],
    [
      { ...chat, served: '{ version = "1", extra_body = { model = "x" } }' },
      [
        `${at}.version: is a field of profiles of the messages dialect, and this one is of chat`,
        `${at}.extra_body.model: must not be set here: it is the request that says it`,
      ],
    ],
    [{ ...chat, served: '1' }, [`${at}: must be the name of a profile, or a table of its fields`]],
    [
      { host: 'api.openai.com/v1' },
      [
        'upstream[0].dialect: is missing; must be "chat", "messages", "responses" or "demo", where no profile says it',
      ],
    ],
  ];
  test.each(rows)('%j', (settings, problems) => {
    expect(problemsOf('gpt-6-luna', settings)).toEqual([...problems]);
  });

  test('a profile at a demo upstream', () => {
    const text = textOf('x', { dialect: 'demo', served: '"openai"' }).replace(/^base_url.*$/m, '');
    const { problems } =
      thrownBy(CatalogError, () => loadCatalog({ text, environment: {}, nowMs: 0 })) ?? {};
    expect(problems?.map((problem) => wordsOf(problem).replace('built-in catalog: ', ''))).toEqual([
      `${at}: is not used by the demo dialect; remove it`,
    ]);
  });
});
