// The settings as typed: limits are checked before anything is sent.

import '../../../support/english.ts';
import { describe, expect, test } from 'bun:test';
import {
  type Draft,
  EMPTY_DRAFT,
  readDraft,
} from '../../../../src/dashboard/web/customer/playground/draft.ts';

const MODEL = {
  id: 'swift-1',
  max_output_tokens: 8_192,
  features: { reasoning: true, tools: true, json_mode: true },
};

const read = (more: Partial<Draft>, model = MODEL) => readDraft({ ...EMPTY_DRAFT, ...more }, model);

test('an empty draft leaves everything to the model', () => {
  expect(read({})).toEqual({
    settings: {
      format: 'chat',
      model: 'swift-1',
      ...{ system: '', stop: [], reasoning: '', thinking: '', answerFormat: '' },
      ...{ tools: [], toolChoice: '', user: '', stream: true },
    },
  });
});

describe('limits', () => {
  test.each([
    ['chat', 'temperature', ['0', '2', ' 1.5 '], ['2.01', '-0.1', 'x'], 'Enter a number: 0 to 2'],
    ['messages', 'temperature', ['0', '1'], ['1.1', '2'], 'Enter a number: 0 to 1'],
    ['chat', 'topP', ['0.01', '1'], ['0', '1.1'], 'Enter a number: above 0, up to 1'],
    ['chat', 'frequencyPenalty', ['-2', '2'], ['-2.1', '3'], 'Enter a number: -2 to 2'],
    ['chat', 'presencePenalty', ['-2', '2'], ['2.1'], 'Enter a number: -2 to 2'],
    ['chat', 'maxTokens', ['1', '8192'], ['0', '8193', '1.5'], 'Enter a whole number: 1 to 8,192'],
    ['messages', 'thinkingBudget', ['1'], ['0', '8193'], 'Enter a whole number: 1 to 8,192'],
  ] as const)('%s: %s', (format, name, valid, invalid, words) => {
    for (const text of valid) {
      expect(read({ format, [name]: text })).toMatchObject({ settings: { [name]: Number(text) } });
    }
    for (const text of invalid) {
      expect(read({ format, [name]: text })).toEqual({ problems: { [name]: words } });
    }
  });

  test('parameters of the other format are neither checked nor sent', () => {
    expect(read({ format: 'messages', frequencyPenalty: '9', answerFormat: 'text' })).toMatchObject(
      {
        settings: { answerFormat: '' },
      },
    );
    expect(read({ thinkingBudget: '0' })).toMatchObject({ settings: { format: 'chat' } });
  });

  test('stop sequences, end user and tools', () => {
    const lines = (count: number) => Array.from({ length: count }, (_, n) => `s${n}`).join('\n');
    expect(read({ stop: lines(16) })).toMatchObject({ settings: { stop: { length: 16 } } });
    expect(read({ stop: lines(17) })).toHaveProperty('problems.stop');
    expect(read({ user: 'x'.repeat(257) })).toHaveProperty('problems.user');
    expect(read({ tools: '{' })).toHaveProperty('problems.tools');
    expect(read({ toolChoice: 'tool:gone' })).toHaveProperty('problems.toolChoice');
  });

  test('a model without a feature gets nothing of it', () => {
    const features = { reasoning: false, tools: false, json_mode: false };
    const more = { reasoning: 'high', thinking: 'enabled', answerFormat: 'text', tools: '{' };
    expect(read(more, { ...MODEL, features })).toMatchObject({
      settings: { reasoning: '', thinking: '', answerFormat: '', tools: [] },
    });
  });
});
