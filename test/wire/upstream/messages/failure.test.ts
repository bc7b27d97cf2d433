// The failure class of a Messages upstream's status and body.

import { describe, expect, test } from 'bun:test';
import type { FailureClass } from '../../../../src/core/failure.ts';
import { NO_CONVERSATION } from '../../../../src/wire/upstream/call-names.ts';
import { messagesFailure } from '../../../../src/wire/upstream/messages/failure.ts';
import { classified } from '../support.ts';

const error = (type: string, message = 'SECRET'): string => {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_SECRET' });
};

const ROWS: [status: number, body: string, failure: FailureClass][] = [
  [400, error('invalid_request_error'), 'bad_request'],
  [
    400,
    error('invalid_request_error', 'prompt is too long: 2 tokens > 1 maximum'),
    'context_length',
  ],
  [
    400,
    error('invalid_request_error', 'input length and `max_tokens` exceed context limit: 1 + 2 > 2'),
    'context_length',
  ],
  [
    400,
    error('invalid_request_error', 'Your credit balance is too low to use this.'),
    'credential',
  ],
  [
    400,
    error('invalid_request_error', 'You have reached your specified API usage limits. SECRET'),
    'credential',
  ],
  [400, error('invalid_request_error', 'insufficient balance (1008)'), 'credential'],
  [400, error('invalid_request_error', 'This organization has been disabled.'), 'credential'],
  ...[
    '"thinking.type.enabled" is not supported for this model.',
    'max_tokens: 64000 > 32000, which is the maximum allowed number of output tokens for SECRET',
  ].map((message): [number, string, FailureClass] => {
    return [400, error('invalid_request_error', message), 'mismatch'];
  }),
  [400, error('invalid_request_error', 'tools.0.name: Field required'), 'bad_request'],
  [401, error('authentication_error'), 'credential'],
  [402, error('billing_error'), 'credential'],
  [403, error('permission_error'), 'credential'],
  [404, error('not_found_error'), 'mismatch'],
  [408, '', 'timeout'],
  [413, error('request_too_large'), 'bad_request'],
  [422, '{"detail":"SECRET"}', 'bad_request'],
  [429, error('rate_limit_error'), 'rate_limited'],
  [500, error('api_error'), 'server_error'],
  [502, '<html>SECRET</html>', 'server_error'],
  [503, '', 'overloaded'],
  [504, error('timeout_error'), 'server_error'],
  [529, error('overloaded_error'), 'overloaded'],
];

/** Answers to thinking that the gateway gave back. */
const REFUSED_THINKING = [
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'messages.5.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
  'messages.3.content.8: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
  'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.',
];

describe('a Messages upstream that answers', () => {
  test.each(REFUSED_THINKING)('%p refuses earlier thinking', (message) => {
    const body = error('invalid_request_error', message);
    const failure = messagesFailure(400, body, NO_CONVERSATION.wrote);
    expect(classified(failure)).toEqual({
      class: 'mismatch',
      detail: 'the upstream answered with status 400',
      status: 400,
      refusesThinking: true,
    });
    // A caller who writes the same words must not cause the second request.
    expect(messagesFailure(400, body, () => true)).not.toHaveProperty('refusesThinking');
  });

  test.each(ROWS)('%p with %p has failed as %p', (status, body, failure) => {
    expect(classified(messagesFailure(status, body, NO_CONVERSATION.wrote))).toEqual({
      class: failure,
      detail: `the upstream answered with status ${status}`,
      status,
    });
  });
});
