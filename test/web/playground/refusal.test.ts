// What the playground says of a refusal: the gateway's words, without the headers of its API.

import '../../support/english.ts';
import { expect, test } from 'bun:test';
import { NO_BALANCE, refusalInWords } from '../../../src/web/customer/playground/refusal.ts';

test.each([
  [
    'The limit of requests per minute is reached. Retry after the time in retry-after.',
    42,
    'The limit of requests per minute is reached. Try again in 42 s.',
  ],
  [
    'The service is in maintenance. Retry with back-off.',
    undefined,
    'The service is in maintenance. Try again in a moment.',
  ],
  [
    'Something went wrong on our side. Retry with back-off, and quote the request id if it goes on.',
    undefined,
    'Something went wrong on our side. Try again in a moment, and quote the request id if it goes on.',
  ],
  ['The model does not exist.', 5, 'The model does not exist.'],
])('%p, to be tried again after %p s', (message, seconds, words) => {
  expect(refusalInWords({ code: 'some_code', message }, seconds)).toBe(words);
});

test('a balance that is too low is said without the units of the API', () => {
  const message = 'The available balance is 0 service tokens, and this request has to reserve 1.';
  expect(refusalInWords({ code: NO_BALANCE, message }, undefined)).toBe(
    'Your balance does not cover this request.',
  );
});
