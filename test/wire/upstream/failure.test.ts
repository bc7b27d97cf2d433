import { describe, expect, test } from 'bun:test';
import type { FailureClass } from '../../../src/core/failure.ts';
import { chatFailure, errorEventFailure } from '../../../src/wire/upstream/failure.ts';

describe('answers that are not 2xx', () => {
  const cases: readonly (readonly [status: number, body: string, expected: FailureClass])[] = [
    [401, '{"error":{"message":"Incorrect API key"}}', 'credential'],
    [402, '{"error":{"message":"Insufficient Balance"}}', 'credential'],
    [403, '', 'credential'],
    [408, '', 'timeout'],
    [429, '{"error":{"message":"slow down"}}', 'overloaded'],
    [429, '{"error":{"code":"insufficient_quota"}}', 'credential'],
    [503, '<html>', 'overloaded'],
    [529, '{"type":"error","error":{"type":"overloaded_error"}}', 'overloaded'],
    [500, '<html>502 Bad Gateway</html>', 'server_error'],
    [502, '', 'server_error'],
    [504, '', 'server_error'],
    [302, '', 'server_error'],
    [404, '{"error":{"message":"The model does not exist"}}', 'server_error'],
    [400, '{"error":{"message":"messages[0].content: invalid"}}', 'bad_request'],
    [400, 'null', 'bad_request'],
    [413, '', 'bad_request'],
    [422, '{"detail":[{"msg":"field required"}]}', 'bad_request'],
    [418, '', 'bad_request'],
    [400, '{"error":{"code":"context_length_exceeded"}}', 'context_length'],
    [
      400,
      '{"error":{"message":"This model\'s maximum context length is 8192 tokens."}}',
      'context_length',
    ],
    [400, '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}', 'context_length'],
    [400, '{"error":{"type":"exceed_context_size_error","n_ctx":8}}', 'context_length'],
    [413, '{"object":"error","message":"maximum context length is 8 tokens"}', 'context_length'],
    [422, '{"error":"prompt is too long"}', 'context_length'],
    [
      500,
      '{"error":{"message":"the request exceeds the available context size"}}',
      'context_length',
    ],
  ];
  for (const [status, body, expected] of cases) {
    test(`${status} ${body}`, () => {
      expect(chatFailure(status, body)).toEqual({
        class: expected,
        detail: `the upstream answered with status ${status}`,
        status,
      });
    });
  }

  test('only the start of a huge body is looked at', () => {
    const body = `${'x'.repeat(1_000_000)}context_length_exceeded`;
    expect(chatFailure(400, body).class).toBe('bad_request');
  });
});

test('an event named error is one, whatever its data is', () => {
  for (const data of ['', 'null', '[]', '{}', 'boom', '{"choices":[]}', '{"error":null}']) {
    expect(errorEventFailure(data)).toEqual({
      class: 'server_error',
      detail: 'the upstream reported an error in place of an answer',
    });
  }
  expect(errorEventFailure('{"error":{"code":429}}').class).toBe('overloaded');
  expect(errorEventFailure('{"message":"maximum context length"}').class).toBe('context_length');
});
