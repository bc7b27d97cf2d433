// What an operator reads of profiles: those that models got by their names, and what chat loses.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { chosenProfiles, profileWarnings } from '../../src/catalog/profile-notes.ts';
import { wordsOf } from '../../src/core/sentence.ts';

type Served = readonly [slug: string, upstream: string, model: string, more?: string];

function load(
  upstreams: Readonly<Record<string, string>>,
  models: readonly Served[],
  features = '["tools", "reasoning"]',
) {
  const text = [
    ...Object.entries(upstreams).map(([id, lines]) => `[[upstream]]\nid = "${id}"\n${lines}`),
    ...models.map(
      ([slug, upstream, model, more = '']) => `[[model]]
slug = "${slug}"
context_window = 10
max_output = 10
features = ${features}
price = { input = 1, output = 1 }
served_by = [{ upstream = "${upstream}", model = "${model}"${more} }]`,
    ),
  ].join('\n');
  return loadCatalog({ text, environment: {}, nowMs: 0 });
}

const OPENAI = 'base_url = "https://api.openai.com/v1"';

describe('a profile is shown', () => {
  const catalog = load(
    {
      anthropic: 'profile = "anthropic"\nbase_url = "https://api.anthropic.com"',
      host: 'dialect = "chat"\nbase_url = "https://openrouter.ai/api/v1"',
      plain: 'dialect = "chat"\nbase_url = "https://models.example"',
      demo: 'dialect = "demo"',
    },
    [
      ['opus', 'anthropic', 'claude-opus-5-5'],
      ['sonnet', 'anthropic', 'claude-opus-4-8'],
      ['named', 'anthropic', 'claude-opus-4-6', ', profile = "anthropic-4.6"'],
      ['routed', 'host', 'x'],
      ['own', 'plain', 'x'],
      ['hello', 'demo', 'x'],
    ],
  );

  test('where the model, its entry or the address has chosen it, with the reason', () => {
    expect(chosenProfiles(catalog)).toEqual([
      {
        model: 'opus',
        upstream: 'anthropic',
        upstream_model: 'claude-opus-5-5',
        profile: 'anthropic-5.5',
        reason: 'Claude models since Fable 5.1 and Opus 5.5 always think, and refuse a forced tool',
      },
      {
        model: 'named',
        upstream: 'anthropic',
        upstream_model: 'claude-opus-4-6',
        profile: 'anthropic-4.6',
        reason: 'the catalog names it for this model',
      },
      {
        model: 'routed',
        upstream: 'host',
        upstream_model: 'x',
        profile: 'openrouter',
        reason: "the vendor at the upstream's address",
      },
    ]);
    expect(profileWarnings(catalog)).toEqual([]);
  });
});

describe('a warning', () => {
  const remedy =
    'over chat; leave out dialect = "chat" of the upstream, or write dialect = "responses"';

  test('names what a model of OpenAI loses over chat', () => {
    const upstreams = {
      named: `dialect = "chat"\nprofile = "openai"\n${OPENAI}`,
      host: `dialect = "chat"\n${OPENAI}`,
      free: `profile = "openai"\n${OPENAI}`,
    };
    const catalog = load(upstreams, [
      ['luna', 'named', 'gpt-6-luna'],
      ['astra', 'host', 'gpt-6.2-astra'],
      ['old', 'named', 'gpt-5.1'],
      ['free', 'free', 'gpt-6-luna'],
    ]);
    expect(profileWarnings(catalog).map(wordsOf)).toEqual([
      `luna: gpt-6-luna at named does not think beside tools ${remedy}`,
      `astra: gpt-6.2-astra at host refuses every tool ${remedy}`,
    ]);
  });

  test('is none where no tools are sold', () => {
    const upstreams = { named: `dialect = "chat"\nprofile = "openai"\n${OPENAI}` };
    const catalog = load(upstreams, [['luna', 'named', 'gpt-6-luna']], '["reasoning"]');
    expect(profileWarnings(catalog)).toEqual([]);
  });
});
