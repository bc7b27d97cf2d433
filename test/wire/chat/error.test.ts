import { describe, expect, test } from 'bun:test';
import { ERRORS, type ErrorCode, GatewayError, invalidRequest } from '../../../src/core/error.ts';
import { chatFormat } from '../../../src/wire/chat/format.ts';

describe('the chat error envelope', () => {
  test('names the field of a validation error', () => {
    expect(JSON.parse(chatFormat.error(invalidRequest('n', 'must be 1'), 'req_1'))).toEqual({
      error: {
        message: 'n: must be 1',
        type: 'invalid_request_error',
        code: 'invalid_request',
        request_id: 'req_1',
        param: 'n',
      },
    });
  });

  test('has its own type for an empty balance', () => {
    const error = new GatewayError('insufficient_balance');
    expect(JSON.parse(chatFormat.error(error, 'req_1'))).toEqual({
      error: {
        message: ERRORS.insufficient_balance.text,
        type: 'insufficient_balance_error',
        code: 'insufficient_balance',
        request_id: 'req_1',
      },
    });
  });

  test.each(Object.keys(ERRORS) as ErrorCode[])('has exactly four members for %s', (code) => {
    const error = new GatewayError(code);
    expect(JSON.parse(chatFormat.error(error, 'req_1'))).toEqual({
      error: { message: ERRORS[code].text, type: error.chatType, code, request_id: 'req_1' },
    });
  });
});
