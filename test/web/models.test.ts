// The search in the list of models.

import '../support/english.ts';
import { expect, test } from 'bun:test';
import { fits } from '../../src/web/customer/models/search.ts';

const FEATURES = {
  ...{ streaming: true as const, tools: false, vision: true, json_mode: true },
  ...{ reasoning: false, prompt_cache: true },
};
const MODEL = { id: 'swift-1', display_name: 'Swift 1', aliases: ['fast'], features: FEATURES };

test('a model is found by name, alias, and capability as the page shows it', () => {
  const found = ['', 'SWIFT', 'fast', 'images', 'prompt cache', 'swift json', 'vision'];
  expect(found.filter((search) => !fits(MODEL, search))).toEqual([]);
  const missed = ['tools', 'reasoning', 'swift slow'];
  expect(missed.filter((search) => fits(MODEL, search))).toEqual([]);
});
