// Requests of all client formats: valid ones, the same with mutations, and any bytes.

import fc from 'fast-check';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import type { ClientFormat } from '../../../src/wire/format.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { responsesFormat } from '../../../src/wire/responses/format.ts';
import { chatBody } from './chat-request.ts';
import { jsonText } from './json-text.ts';
import { messagesBody } from './messages-request.ts';
import { mutated, valuesMutated } from './mutate.ts';
import { recordedSection, toBytes } from './recordings.ts';
import { responsesBody } from './responses-request.ts';
import { type Member, render, type Tree } from './tree.ts';

export type FormatName = ClientFormat['name'];

export type Request = { readonly format: FormatName; readonly body: Tree };

export const FORMATS = { chat: chatFormat, messages: messagesFormat, responses: responsesFormat };

export const validRequest: fc.Arbitrary<Request> = fc.oneof(
  fc.record({ format: fc.constant('chat' as const), body: chatBody }),
  fc.record({ format: fc.constant('messages' as const), body: messagesBody }),
  fc.record({ format: fc.constant('responses' as const), body: responsesBody }),
);

/** Members that no table of a format has; what they hold means nothing. */
export const unknownMembers: fc.Arbitrary<Member[]> = fc.array(
  fc.tuple(
    fc.constantFrom(
      'x_unknown',
      '__proto__',
      'constructor',
      'toString',
      'é',
      '',
      '0',
      'seed',
      'store',
    ),
    jsonText,
  ),
  { minLength: 1, maxLength: 4 },
);

const renderedBody = validRequest.map(({ body }) => toBytes(render(body)));
const recordedBody = fc.oneof(
  recordedSection(/^client request \(chat\)$/),
  recordedSection(/^client request \(messages\)$/),
);

export const requestBytes = fc.oneof(
  { weight: 3, arbitrary: valuesMutated(fc.oneof(recordedBody, renderedBody)) },
  { weight: 2, arbitrary: mutated(fc.oneof(recordedBody, renderedBody)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  { weight: 1, arbitrary: jsonText.map(toBytes) },
);
