// The books store positions in the list of failures, so none may move. The record of a failure has
// what its client received.

import { expect, test } from 'bun:test';
import { failureProblem, refusalProblem } from '../../src/core/advice.ts';
import { ERRORS, type ErrorCode } from '../../src/core/error.ts';
import { failureError, interruptedError } from '../../src/core/failure.ts';
import {
  failuresWith,
  REQUEST_FAILURES,
  receivedFailure,
  requestFailure,
} from '../../src/core/request-failure.ts';

test('the books read every failure by its position, so the list only grows', () => {
  expect(REQUEST_FAILURES.slice(0, 6)).toEqual([
    'unreachable',
    'unreachable:announced',
    'unreachable:interrupted',
    'timeout',
    'timeout:announced',
    'timeout:interrupted',
  ]);
  expect(REQUEST_FAILURES.filter((word) => !word.includes(':')).join(' ')).toBe(
    'unreachable timeout rate_limited overloaded no_capacity credential server_error mismatch bad_request context_length unsupported malformed cut gateway internal recovered content_policy too_large',
  );
});

test.each([
  ['bad_request', 400, 'model_rejected', failureError({ class: 'bad_request', detail: '' })],
  ['content_policy', 400, 'content_refused', failureError({ class: 'content_policy', detail: '' })],
  ['too_large', 413, 'request_too_large', failureError({ class: 'too_large', detail: '' })],
  ['context_length', 400, 'prompt_too_long', failureError({ class: 'context_length', detail: '' })],
  ['timeout', 503, 'model_unavailable', failureError({ class: 'timeout', detail: '' })],
  ['timeout:announced', 200, 'model_unavailable', failureError({ class: 'timeout', detail: '' })],
  ['cut:interrupted', 200, 'interrupted', interruptedError()],
  ['gateway', 503, 'service_stopped', failureError({ class: 'gateway', detail: '' })],
] as const)('%s is recorded with status %i', (failure, status, reason, { code, message }) => {
  expect(receivedFailure(failure)).toEqual({ status, reason, code, message });
});

test('a request whose server died has no status, because its connection broke', () => {
  expect(receivedFailure(requestFailure('recovered', 'refused'))).toMatchObject({
    status: null,
    code: null,
    reason: 'service_lost',
  });
});

test('every failure and every code has a message and an advice', () => {
  for (const failure of REQUEST_FAILURES) {
    const { message, what_to_do: advice } = failureProblem(failure);
    expect([failure, message.length > 10, advice.length > 10]).toEqual([failure, true, true]);
  }
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    const problem = refusalProblem(code);
    expect(problem).toMatchObject({
      status: ERRORS[code].status,
      message: ERRORS[code].text,
      code,
    });
    expect(problem.what_to_do.length).toBeGreaterThan(10);
  }
});

test('a filter finds exactly the failures whose client got the status', () => {
  const found = failuresWith(({ status }) => status === 400);
  expect(found).toEqual(['bad_request', 'context_length', 'unsupported', 'content_policy']);
});
