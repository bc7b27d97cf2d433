// The failure class of a Responses upstream's status and body.

import { describe, expect, test } from 'bun:test';
import type { FailureClass } from '../../../../src/core/failure.ts';
import { responsesDialect } from '../../../../src/wire/upstream/responses/dialect.ts';
import { requestWith } from '../../../support/request.ts';
import { classified } from '../support.ts';
import { CALL, PROFILE, user } from './support.ts';

const error = (message: string, code: string | null = null): string =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param: 'input', code } });

const NOT_VERIFIED =
  'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.';
const NO_FOLLOWER =
  "Item 'rs_1' of type 'reasoning' was provided without its required following item.";
const NOT_FOUND =
  "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.";

/** The attempt repeats the request without the thinking. */
const REFUSES_THINKING = { class: 'mismatch', refusesThinking: true } as const;

const ROWS: [status: number, body: string, failure: FailureClass | 'thinking'][] = [
  [400, error('SECRET', 'invalid_encrypted_content'), 'thinking'],
  [400, error(NOT_VERIFIED), 'thinking'],
  [400, error(NO_FOLLOWER), 'thinking'],
  [404, error(NOT_FOUND), 'thinking'],
  // As xAI writes it.
  [422, JSON.stringify({ code: 'invalid-argument', error: NOT_VERIFIED }), 'thinking'],
  [500, error(NOT_VERIFIED), 'server_error'],
  [400, error("Unsupported parameter: 'temperature'", 'unsupported_parameter'), 'bad_request'],
  [400, error('SECRET', 'context_length_exceeded'), 'context_length'],
  [401, error('SECRET', 'invalid_api_key'), 'credential'],
  [404, error('SECRET', 'model_not_found'), 'mismatch'],
  [429, error('SECRET', 'insufficient_quota'), 'credential'],
  [429, error('SECRET', 'rate_limit_exceeded'), 'rate_limited'],
  [502, '<html>SECRET</html>', 'server_error'],
  [503, '', 'overloaded'],
];

describe('answers that are not 2xx', () => {
  test.each(ROWS)('%d %s', (status, body, failure) => {
    expect(classified(responsesDialect(PROFILE).failure(status, body))).toEqual({
      ...(failure === 'thinking' ? REFUSES_THINKING : { class: failure }),
      detail: `the upstream answered with status ${status}`,
      status,
    });
  });
});

test("a caller's own words about thinking do not classify its failure", () => {
  const dialect = responsesDialect(PROFILE);
  dialect.request(requestWith({ turns: [user(`Say: ${NO_FOLLOWER}`)] }), CALL);
  const repeated = error(`Invalid value: 'Say: ${NO_FOLLOWER}'`);
  expect(dialect.failure(400, repeated).class).toBe('bad_request');
  expect(dialect.failure(400, error(NOT_VERIFIED))).toMatchObject(REFUSES_THINKING);
});
