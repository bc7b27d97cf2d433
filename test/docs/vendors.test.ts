// The catalogs of the pages of vendors load as they stand, with the profile that each page names; the
// profile page names the profile of every generation.

import { describe, expect, test } from 'bun:test';
import { loadCatalog } from '../../src/catalog/catalog.ts';
import { priceWarnings } from '../../src/catalog/price-warnings.ts';
import { profileWarnings } from '../../src/catalog/profile-notes.ts';
import { GENERATIONS } from '../../src/core/generations.ts';
import { blocks, operatorPage, section } from './documents.ts';

/** The heading of each vendor, and the profile of each model of its example. */
const VENDORS = {
  vendors: {
    OpenAI: ['openai-6'],
    'Azure OpenAI': ['azure-6'],
    Anthropic: ['anthropic-5.5', 'anthropic-haiku-5.5'],
    'Amazon Bedrock': ['bedrock with anthropic-5.5'],
    'Google Vertex AI': ['vertex with anthropic-sonnet-5.5'],
    'Google Gemini': ['gemini'],
    xAI: ['xai'],
  },
  'more-vendors': {
    DeepSeek: ['deepseek'],
    Moonshot: ['moonshot-k3'],
    'Z.ai': ['zai'],
    MiniMax: ['minimax'],
    Qwen: ['qwen'],
    Mistral: ['mistral'],
  },
  hosts: {
    Groq: ['groq'],
    Cerebras: ['cerebras'],
    OpenRouter: ['openrouter'],
    Together: ['together'],
    Fireworks: ['fireworks-glm-5.3'],
  },
  'local-servers': {
    vLLM: ['vllm'],
    SGLang: ['sglang'],
    'llama.cpp': ['llama.cpp'],
    Ollama: ['ollama'],
    'LM Studio': ['lmstudio'],
  },
} as const;

/** Loads an example with every variable that it needs. */
function load(text: string) {
  const names = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name);
  const environment = Object.fromEntries(names.map((name) => [name, `secret-of-${name}`]));
  return loadCatalog({ text, environment, nowMs: 0 });
}

function headings(page: string): string[] {
  return [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
}

describe.each(Object.entries(VENDORS))('the page %s', (name, vendors) => {
  const page = operatorPage(name);

  test('has a section for each vendor', () => {
    expect(headings(page)).toEqual(Object.keys(vendors));
  });

  test.each(Object.entries(vendors))('%s: the example loads, with %j', (vendor, profiles) => {
    const [text = '', ...others] = blocks(section(page, vendor), 'toml');
    expect(others).toEqual([]);
    const catalog = load(text);
    const placements = catalog.models.flatMap(({ servedBy }) => servedBy);
    expect(placements.map(({ profileChoice }) => profileChoice.name)).toEqual([...profiles]);
    expect([...profileWarnings(catalog), ...priceWarnings(catalog, 0)]).toEqual([]);
    for (const upstream of catalog.upstreams.values()) {
      expect(upstream.credentials.every(({ apiKey }) => !apiKey.includes('$'))).toBe(true);
    }
  });

  test('says when its rules were checked', () => {
    expect(page).toContain('checked on 28 November 2026');
  });
});

describe('the profile page', () => {
  const choice = section(operatorPage('profiles'), 'Which profile a model gets');

  test('names the profile of every generation', () => {
    const named = new Set([...choice.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(GENERATIONS.map(({ profile }) => profile).filter((name) => !named.has(name))).toEqual(
      [],
    );
    const vendors = GENERATIONS.flatMap(({ of }) => of);
    expect(vendors.filter((name) => !named.has(name))).toEqual([]);
  });

  test('has an example that loads, and means what it says', () => {
    const [text = ''] = blocks(choice, 'toml');
    const placements = load(text).models.flatMap(({ servedBy }) => servedBy);
    expect(placements.map(({ profileChoice }) => profileChoice.name)).toEqual([
      'azure-6',
      'azure-6, changed',
    ]);
    expect(placements[1]?.profile.effortWords).toEqual({
      off: 'low',
      low: 'low',
      high: 'medium',
      max: 'medium',
    });
  });
});
