// What a caller learns of an unexpected error: that there was one, and the id by which the operator
// finds it. No test from outside can provoke one.

import { describe, expect, test } from 'bun:test';
import { ERRORS, GatewayError } from '../../src/core/error.ts';
import { refusalOf, respondError } from '../../src/http/respond.ts';
import { chatFormat } from '../../src/wire/chat/format.ts';
import { messagesFormat } from '../../src/wire/messages/format.ts';

const CANARY = 'canary-5519';

/** Values that may be thrown, with a secret in each. */
const THROWN: Readonly<Record<string, unknown>> = {
  'an error': new TypeError(`cannot read ${CANARY}`),
  'an error with a cause': new Error('outer', { cause: new Error(CANARY) }),
  'an error that looks like one of ours': Object.assign(new Error(CANARY), {
    code: 'insufficient_balance',
    status: 402,
    retryAfterSeconds: 5,
  }),
  'a text': CANARY,
  'an object': { message: CANARY },
  nothing: undefined,
};

describe.each([
  ['chat', chatFormat],
  ['messages', messagesFormat],
] as const)('%s', (_name, format) => {
  test.each(Object.entries(THROWN))(
    '%s is an internal error, and says nothing',
    async (_what, error) => {
      const reported: unknown[] = [];
      const onInternal = (cause: unknown) => void reported.push(cause);
      const response = respondError(refusalOf(error, onInternal), 'req_1', format);
      expect(response.status).toBe(500);
      expect(Object.fromEntries(response.headers)).toEqual({
        'content-type': 'application/json',
        'x-request-id': 'req_1',
        'request-id': 'req_1',
      });
      expect(await response.text()).toBe(format.error(new GatewayError('internal_error'), 'req_1'));
      expect(reported).toEqual([error]);
    },
  );

  test('an error of ours is returned as it is, and not logged as internal', async () => {
    const error = new GatewayError('rate_limit_exceeded', { retryAfterSeconds: 7 });
    const onInternal = () => expect.unreachable();
    const response = respondError(refusalOf(error, onInternal), 'req_1', format);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '7']);
    expect(await response.text()).toContain(ERRORS.rate_limit_exceeded.text);
  });
});
