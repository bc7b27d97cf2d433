import { describe, expect, test } from 'bun:test';
import type { FailureClass } from '../../../src/core/failure.ts';
import { NO_CONVERSATION } from '../../../src/wire/upstream/call-names.ts';
import {
  errorEventFailure,
  readErrorRecord,
  statusFailure,
} from '../../../src/wire/upstream/failure.ts';
import { classified } from './support.ts';

const { wrote } = NO_CONVERSATION;

describe('answers that are not 2xx', () => {
  const cases: readonly (readonly [status: number, body: string, expected: FailureClass])[] = [
    [401, '{"error":{"message":"Incorrect API key"}}', 'credential'],
    [402, '{"error":{"message":"Insufficient Balance"}}', 'credential'],
    [403, '', 'credential'],
    [408, '', 'timeout'],
    [429, '{"error":{"message":"slow down"}}', 'rate_limited'],
    [429, '{"error":{"code":"insufficient_quota"}}', 'credential'],
    [503, '<html>', 'overloaded'],
    [529, '{"type":"error","error":{"type":"overloaded_error"}}', 'overloaded'],
    [500, '<html>502 Bad Gateway</html>', 'server_error'],
    [502, '', 'server_error'],
    [504, '', 'server_error'],
    [204, '', 'server_error'],
    [302, '', 'mismatch'],
    [404, '{"error":{"message":"The model does not exist"}}', 'mismatch'],
    [410, '', 'mismatch'],
    [409, '', 'server_error'],
    [425, '', 'server_error'],
    [403, '{"error":{"code":403,"message":"Your input was flagged."}}', 'bad_request'],
    [403, '{"error":"no"},"input":"flagged by me"}', 'credential'],
    [400, '{"error":{"message":"messages[0].content: invalid"}}', 'bad_request'],
    [400, 'null', 'bad_request'],
    [413, '', 'bad_request'],
    [422, '{"detail":[{"msg":"field required"}]}', 'bad_request'],
    [405, '', 'mismatch'],
    [424, '{"message":"the model failed"}', 'server_error'],
    [498, '{"error":{"code":"flex_capacity_exceeded"}}', 'overloaded'],
    [429, '{"error":{"type":"exceeded_current_quota_error"}}', 'credential'],
    [429, '{"code":"x","error":"Your team has used all available credits"}', 'credential'],
    [429, '[{"error":{"message":"Your prepayment credits are depleted."}}]', 'credential'],
    [429, '{"error":{"code":"1113","message":"Insufficient balance"}}', 'credential'],
    [400, '[{"error":{"code":400,"message":"API key not valid."}}]', 'credential'],
    [400, '{"code":"invalid-argument","error":"Incorrect API key provided"}', 'credential'],
    [400, '{"error":{"code":"Arrearage","message":"Access denied"}}', 'credential'],
    [400, '[{"error":{"code":400,"message":"API key expired. Renew it."}}]', 'credential'],
    [400, '[{"error":{"code":400,"message":"API Key not found."}}]', 'credential'],
    [400, '{"error":{"message":"User location is not supported for use."}}', 'credential'],
    [400, '{"error":{"message":"no","code":"organization_restricted"}}', 'credential'],
    [400, '{"error":{"message":"Organization has been restricted."}}', 'credential'],
    [400, '{"error":{"code":"billing_hard_limit_reached","message":"no"}}', 'credential'],
    [400, '{"error":{"message":"Model Not Exist","code":"invalid_request_error"}}', 'mismatch'],
    [400, '{"error":{"message":"gold/1 is not a valid model ID","code":400}}', 'mismatch'],
    [400, '{"object":"error","message":"Invalid model: x","type":"invalid_model"}', 'mismatch'],
    [422, '{"detail":[{"input":"my incorrect api key","msg":"wrong"}]}', 'bad_request'],
    [422, '{"detail":[{"input":"API key expired","msg":"wrong"}]}', 'bad_request'],
    [400, '{"error":{"message":"max_tokens is too large: 99999"}}', 'bad_request'],
    [400, '{"error":{"message":"Unsupported parameter: top_p"}}', 'bad_request'],
    [
      413,
      '{"error":{"message":"Request too large on tokens per minute","code":"rate_limit_exceeded"}}',
      'mismatch',
    ],
    [413, '<html>Request Entity Too Large</html>', 'bad_request'],
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
      expect(classified(statusFailure(status, body, wrote))).toEqual({
        class: expected,
        detail: `the upstream answered with status ${status}`,
        status,
      });
    });
  }

  const overflows = [
    'Your input exceeds the context window of this model.',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    'Invalid request: Your request exceeded model token limit: 131072',
    '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]',
    'invalid params, context window exceeds limit (2013)',
    'Prompt exceeds max length',
    'Prompt 超长',
    '输入超过模型最大上下文长度,上下文长度超出限制',
    'Input length 256001 exceeds the maximum length 131072',
    'Input is too long for requested model.',
    'Prompt contains 9 tokens and 0 draft tokens, too large for model with 8 maximum context length',
    '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
    'Input validation error: `inputs` must have less than 1024 tokens. Given: 1500',
    "The input (9 tokens) is longer than the model's context length (8 tokens).",
    "You passed 9 input tokens. However, the model's context length is only 8 tokens",
    'The decoder prompt (length 9) is longer than the maximum model length of 8.',
    'The number of tokens to keep from the initial prompt is greater than the context length',
    'Trying to keep the first 9 tokens when context the overflows.',
    'prompt too long; exceeded max context length by 4 tokens',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081',
    'The estimated number of tokens (9) exceeded this model context window limit (8)',
  ];
  for (const message of overflows) {
    test(`the prompt does not fit: ${message}`, () => {
      expect(statusFailure(400, JSON.stringify({ error: { message } }), wrote).class).toBe(
        'context_length',
      );
    });
  }

  test('only the start of a huge body is looked at', () => {
    const body = `${'x'.repeat(1_000_000)}context_length_exceeded`;
    expect(statusFailure(400, body, wrote).class).toBe('bad_request');
  });
});

test('an event named error is one, with any data', () => {
  for (const data of ['', 'null', '[]', '{}', 'boom', '{"choices":[]}', '{"error":null}']) {
    expect(classified(errorEventFailure(data, wrote))).toEqual({
      class: 'server_error',
      detail: 'the upstream reported an error in place of an answer',
    });
  }
  expect(errorEventFailure('{"error":{"code":429}}', wrote).class).toBe('rate_limited');
  expect(errorEventFailure('{"error":{"code":529}}', wrote).class).toBe('overloaded');
  expect(errorEventFailure('{"message":"maximum context length"}', wrote).class).toBe(
    'context_length',
  );
});

describe('error records inside a 200', () => {
  const cases: readonly (readonly [record: object, expected: FailureClass | undefined])[] = [
    [{ error: true, message: 'boom' }, 'server_error'],
    [{ success: false, message: 'rate limit reached' }, 'rate_limited'],
    [{ success: false, message: 'the model is overloaded' }, 'overloaded'],
    [{ success: false, errors: [{ code: 5, message: 'prompt is too long' }] }, 'context_length'],
    [{ errors: ['boom'] }, 'server_error'],
    [{ code: 500, msg: 'context length exceeded' }, 'context_length'],
    [{ code: 429, msg: 'slow down' }, 'rate_limited'],
    [{ success: false, code: 500, msg: 'prompt is too long' }, 'context_length'],
    [
      {
        choices: null,
        base_resp: { status_code: 2013, status_msg: 'context window exceeds limit' },
      },
      'context_length',
    ],
    [{ choices: null, base_resp: { status_code: 1000, status_msg: 'unknown' } }, 'server_error'],
    [{ base_resp: { status_code: 1002, status_msg: 'slow down' } }, 'rate_limited'],
    [{ base_resp: { status_code: 1004, status_msg: 'login fail' } }, 'credential'],
    [{ choices: null, base_resp: { status_code: 1008, status_msg: 'no money' } }, 'credential'],
    [{ base_resp: { status_code: 1026, status_msg: 'new_sensitive' } }, 'bad_request'],
    [{ base_resp: { status_code: 1039, status_msg: 'token limit exceeded' } }, 'context_length'],
    [{ base_resp: { status_code: 2013, status_msg: 'invalid params' } }, 'bad_request'],
    [{ code: 1008, msg: 'no money' }, 'server_error'],
    [{ error: {} }, 'server_error'],
    [{ error: {}, choices: [{}] }, undefined],
    [{ error: { message: '', type: '', code: null }, choices: [{}] }, undefined],
    [{ error: { message: 'boom' }, choices: [{}] }, 'server_error'],
    [{ error: false, success: true, errors: [], choices: [{}] }, undefined],
    [{ choices: [], usage: {}, base_resp: { status_code: 0, status_msg: '' } }, undefined],
    [{ code: 0, msg: 'success' }, undefined],
    [{ usage: { total_tokens: 1 } }, undefined],
  ];
  for (const [record, expected] of cases) {
    test(JSON.stringify(record), () =>
      expect(readErrorRecord({ ...record }, wrote)?.class).toBe(expected),
    );
  }
});
