// The settings as typed: their limits, and the parameters that are sent.

import '../../support/english.ts';
import { expect, test } from 'bun:test';
import {
  NO_SETTINGS,
  parametersOf,
  parameterValues,
  type Settings,
} from '../../../src/web/customer/playground/settings.ts';

const FEATURES = { reasoning: true, tools: true, json_mode: true };

const MODEL = { id: 'swift-1', max_output_tokens: 8_192, features: FEATURES };

const values = (format: Settings['format'], parameters: Settings['parameters'], model = MODEL) =>
  parameterValues({ ...NO_SETTINGS, format, parameters }, model);

test('empty fields leave everything to the model, but the Messages format needs max_tokens', () => {
  expect(values('chat', { temperature: ' ', stop: '\n', user: '' })).toEqual({});
  expect(values('messages', {})).toEqual({ max_tokens: 4_096 });
});

test('values are numbers, lines or texts', () => {
  const typed = { temperature: ' 1.5 ', max_tokens: '10', stop: ' a\n\nb', user: ' ann ' };
  expect(values('chat', typed)).toEqual({
    ...{ temperature: 1.5, max_tokens: 10, stop: [' a', 'b'], user: 'ann' },
  });
});

test('parameters of the other format, or of a feature that the model lacks, are not sent', () => {
  const typed = { reasoning_effort: 'high', thinking: 'enabled', budget_tokens: '5' };
  const all = { ...typed, response_format: 'text', presence_penalty: '1' };
  expect(values('messages', all)).toEqual({
    ...{ max_tokens: 4_096, thinking: 'enabled', budget_tokens: 5 },
  });
  expect(values('chat', all)).not.toHaveProperty('budget_tokens');
  const plain = { ...MODEL, features: { ...FEATURES, reasoning: false, json_mode: false } };
  expect(values('chat', all, plain)).toEqual({ presence_penalty: 1 });
});

test.each([
  ['chat', 'temperature', { min: 0, max: 2 }],
  ['messages', 'temperature', { min: 0, max: 1 }],
  ['chat', 'top_p', { min: 0.01, max: 1 }],
  ['chat', 'frequency_penalty', { min: -2, max: 2 }],
  ['chat', 'presence_penalty', { min: -2, max: 2 }],
  ['chat', 'max_tokens', { min: 1, max: 8_192, step: 1 }],
  ['messages', 'budget_tokens', { min: 1, max: 8_192, step: 1 }],
  ['chat', 'user', { maxLength: 256 }],
] as const)('%s: the limits of %s', (format, name, limits) => {
  const parameter = parametersOf(format, MODEL).find((each) => each.name === name);
  expect(parameter?.input).toMatchObject(limits);
});
