// The built-in profile of a model, by the upstream's name for it.

import { describe, expect, test } from 'bun:test';
import { GENERATIONS } from '../../src/core/generations.ts';

/** The profile that a model of an upstream gets; undefined for the one of the upstream. */
function profileOf(upstream: string, model: string): string | undefined {
  return GENERATIONS.find(({ of, models }) => of.includes(upstream) && models.test(model))?.profile;
}

describe('a model of a vendor has the profile of its generation', () => {
  const rows: readonly (readonly [upstream: string, model: string, profile?: string])[] = [
    ['anthropic', 'claude-opus-5-5', 'anthropic-5.5'],
    ['anthropic', 'claude-fable-5-2', 'anthropic-5.5'],
    ['anthropic', 'claude-opus-6', 'anthropic-5.5'],
    ['anthropic', 'claude-sonnet-5-5', 'anthropic-sonnet-5.5'],
    ['anthropic', 'claude-haiku-5-5', 'anthropic-haiku-5.5'],
    ['anthropic', 'anthropic.claude-opus-5-5', 'anthropic-5.5'],
    ['anthropic', 'claude-fable-5', 'anthropic-fable-5'],
    ['anthropic', 'claude-opus-5'],
    ['anthropic', 'claude-opus-4-8'],
    ['anthropic', 'claude-opus-4-7-20260101'],
    ['anthropic', 'claude-sonnet-4-6', 'anthropic-4.6'],
    ['anthropic', 'claude-haiku-4-5@20251001', 'anthropic-4.5'],
    ['anthropic', 'claude-opus-4-1-20250805', 'messages'],
    ['anthropic', 'claude-sonnet-4@20250514', 'messages'],
    ['anthropic', 'claude-opus-4', 'messages'],
    ['anthropic', 'claude-3-7-sonnet-latest', 'messages'],
    ['fireworks', 'accounts/fireworks/models/glm-5p3', 'fireworks-glm-5.3'],
    ['fireworks', 'accounts/fireworks/models/qwen3p8-27b'],
  ];
  for (const [upstream, model, profile] of rows) {
    test(`${model} at ${upstream}: ${profile ?? 'that of the upstream'}`, () => {
      expect(profileOf(upstream, model)).toBe(profile);
    });
  }
});
