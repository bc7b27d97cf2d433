import { describe, expect, test } from 'bun:test';
import type { GenerationRequest } from '../../../src/core/generation.ts';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import { chosenParameter } from '../../../src/wire/upstream/chosen.ts';
import { statusFailure } from '../../../src/wire/upstream/failure.ts';
import { requestWith } from '../../support/request.ts';

const profile = { ...DEFAULT_PROFILE.chat, extraBody: { safe_prompt: true } };
const bounded = { maxOutputTokens: { tokens: 9, field: 'max_tokens' } } as const;

function chosen(error: object, more: Partial<GenerationRequest> = {}, wrote = false) {
  const { said } = statusFailure(400, JSON.stringify({ error }), () => wrote);
  return chosenParameter(said ?? {}, requestWith(more), profile);
}

describe('a refusal names what the gateway chose', () => {
  test.each<[object, Partial<GenerationRequest>, string]>([
    [{ param: 'model' }, {}, 'model'],
    [{ param: 'stream_options' }, {}, 'stream_options'],
    [
      { param: 'reasoning_effort', code: 'unsupported_value' },
      { reasoning: 'high' },
      'reasoning_effort',
    ],
    [{ param: 'reasoning.effort' }, {}, 'reasoning'],
    [{ param: 'max_tokens' }, {}, 'max_tokens'],
    [{ param: 'max_completion_tokens' }, {}, 'max_completion_tokens'],
    [{ param: 'max_tokens', code: 'integer_above_max_value' }, bounded, 'max_tokens'],
    [{ param: 'max_tokens', code: 'unsupported_parameter' }, bounded, 'max_tokens'],
    [{ param: 'temperature' }, {}, 'temperature'],
    [{ param: 'safe_prompt' }, {}, 'safe_prompt'],
    [{ message: "Unsupported parameter: 'stream_options'" }, {}, 'stream_options'],
    [{ message: 'max_tokens: 64000 > 32000, too large' }, {}, 'max_tokens'],
  ])('%j', (error, more, name) => {
    expect(chosen(error, more)).toBe(name);
  });

  test('as the list of FastAPI does', () => {
    const body = '{"detail":[{"type":"less_than_equal","loc":["body","max_tokens"],"msg":"no"}]}';
    const { said = {} } = statusFailure(422, body, () => false);
    expect(chosenParameter(said, requestWith(), profile)).toBe('max_tokens');
  });
});

describe("a refusal names the caller's own", () => {
  test.each<[object, Partial<GenerationRequest>]>([
    [{ param: 'max_tokens', code: 'integer_below_min_value' }, bounded],
    [{ param: 'max_tokens' }, bounded],
    [{ param: 'temperature' }, { temperature: 3 }],
    [{ param: 'messages[0].content' }, {}],
    [{ param: 'messages.0.model' }, {}],
    [{ param: 'tools[0].function.parameters.model' }, { tools: [{ name: 'f', parameters: {} }] }],
    [{ param: 'input' }, {}],
    [{ param: 'something_new' }, {}],
    [{ code: 'unsupported_parameter' }, {}],
  ])('%j', (error, more) => {
    expect(chosen(error, more)).toBeUndefined();
  });

  test('or its text, which may be an echo', () => {
    const message = "Unsupported parameter: 'stream_options'";
    expect(chosen({ message }, {}, true)).toBeUndefined();
  });
});
