// What all client formats do alike: errors, and the schemas of tools.

import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { ERRORS, type ErrorCode, GatewayError, invalidRequest } from '../../src/core/error.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { messagesFormat } from '../../src/wire/messages/format.ts';
import { responsesFormat } from '../../src/wire/responses/format.ts';
import { requestBody } from '../support/client.ts';
import { describeInEveryFormat } from '../support/every-format.ts';

const CODECS = { chat: chatFormat, messages: messagesFormat, responses: responsesFormat };

/** The field that bounds an answer, which refusals ask to lower. */
const BOUNDS = { chat: 'max_tokens', messages: 'max_tokens', responses: 'max_output_tokens' };

const toolWith = {
  chat: (schema: object) => ({ type: 'function', function: { name: 'f', parameters: schema } }),
  messages: (schema: object) => ({ name: 'f', input_schema: schema }),
  responses: (schema: object) => ({ type: 'function', name: 'f', parameters: schema }),
};

describeInEveryFormat('an error', (format) => {
  const codec = CODECS[format];
  const envelope = (error: object) =>
    format === 'messages' ? { type: 'error', error } : { error };
  const typeOf = (error: GatewayError, code: ErrorCode): string =>
    format === 'messages' ? ERRORS[code].type : error.chatType;

  test.each(Object.keys(ERRORS) as ErrorCode[])('has exactly four members for %s', (code) => {
    const error = new GatewayError(code);
    const message = ERRORS[code].text.replace('max_tokens', BOUNDS[format]);
    const body = { type: typeOf(error, code), message, code };
    expect(JSON.parse(codec.error(error, 'req_1'))).toEqual(
      envelope({ ...body, request_id: 'req_1' }),
    );
  });

  test('names the field that is wrong', () => {
    const error = invalidRequest('messages[3].content', 'is required');
    expect(JSON.parse(codec.error(error, 'req_1'))).toEqual(
      envelope({
        type: 'invalid_request_error',
        message: 'messages[3].content: is required',
        code: 'invalid_request',
        request_id: 'req_1',
        param: 'messages[3].content',
      }),
    );
  });
});

test('the chat format has its own type for an empty balance', () => {
  const { error } = JSON.parse(chatFormat.error(new GatewayError('insufficient_balance'), 'req_1'));
  expect(error.type).toBe('insufficient_balance_error');
});

describeInEveryFormat('a tool', (format) => {
  test('has a schema of an object with properties, and otherwise the one that was sent', () => {
    const given = fc.record(
      {
        type: fc.constantFrom('object', 'string', null, ['object', 'null']),
        properties: fc.constantFrom(null, {}, { a: { type: 'string' } }, []),
        additionalProperties: fc.boolean(),
        anyOf: fc.constant([{ required: ['a'] }]),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(given, (schema) => {
        const value = requestBody(format, 'swift-1', { tools: [toolWith[format](schema)] });
        const [read] = CODECS[format].parse({ value, text: JSON.stringify(value) }).tools;
        const { type, properties, ...rest } = read?.parameters ?? {};
        expect(type).toBe('object');
        const own = schema.properties ?? {};
        expect(properties).toEqual(Array.isArray(own) ? {} : own);
        const { type: _, properties: __, ...others } = schema;
        expect(rest).toEqual(others);
      }),
    );
  });
});
