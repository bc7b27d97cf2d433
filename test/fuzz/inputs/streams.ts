// What upstreams of each dialect answer, right and wrong: recordings, streams made of odd chunks,
// our own streams, and all of them with mutations.

import fc from 'fast-check';
import { chatFormat } from '../../../src/wire/chat/format.ts';
import { messagesFormat } from '../../../src/wire/messages/format.ts';
import { answerSequence, head, receipt } from './answers.ts';
import { chatBody } from './chat-chunks.ts';
import { messageBody, messagesData } from './messages-events.ts';
import { mutated, valuesMutated } from './mutate.ts';
import { recorded, toBytes } from './recordings.ts';
import { responseBody, responsesData } from './responses-events.ts';
import { solidText } from './text.ts';

const noise = fc.constantFrom(
  ...[': x\n\n', 'data:\n\n', 'data: : keepalive\n\n', 'event: ping\n\n', 'data: x\n\n'],
  ...['event: error\ndata: {"error":"x"}\n\n', 'error: {"error":"x"}\n', 'data: [DONE]\n\n'],
);

function stream(record: fc.Arbitrary<string>, ending: string): fc.Arbitrary<Uint8Array> {
  const records = fc.array(
    fc.oneof({ weight: 16, arbitrary: record }, { weight: 1, arbitrary: noise }),
    { maxLength: 14 },
  );
  return fc
    .tuple(records, fc.constantFrom('', ending, ending))
    .map(([texts, end]) => toBytes(texts.join('') + end));
}

const CHAT_ENDING =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const MESSAGES_ENDING =
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}\n\n' +
  'event: message_stop\ndata: {"type":"message_stop"}\n\n';

const chatRecord = chatBody('delta').map((text) => `data: ${text}\n\n`);

const messagesRecord = messagesData.map((text) => {
  const type = /^\{"type":"(\w+)"/.exec(text)?.[1] ?? 'x';
  return `event: ${type}\ndata: ${text}\n\n`;
});

const RESPONSES_ENDING =
  'event: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":1,"output_tokens":1}}}\n\n';

const responsesRecord = responsesData.map((text) => {
  const type = /^\{"type":"([\w.]+)"/.exec(text)?.[1] ?? 'x';
  return `event: ${type}\ndata: ${text}\n\n`;
});

const chatStream = stream(chatRecord, CHAT_ENDING);
const messagesStream = stream(messagesRecord, MESSAGES_ENDING);
const responsesStream = stream(responsesRecord, RESPONSES_ENDING);

/** One record of a stream of any dialect, or something between two. */
export const recordText = fc.oneof(
  { weight: 4, arbitrary: chatRecord },
  { weight: 4, arbitrary: messagesRecord },
  { weight: 4, arbitrary: responsesRecord },
  noise,
);

const ownStream = fc
  .record({
    format: fc.constantFrom(chatFormat, messagesFormat),
    events: answerSequence,
    head,
    receipt,
  })
  .map(({ format, events, head, receipt }) => {
    const encoder = format.stream(head);
    const texts = [
      encoder.start(),
      ...events.map((event) => encoder.push(event)),
      encoder.finish(receipt),
    ];
    return toBytes(texts.join(''));
  });

/** Texts of a reasoning model that thinks in its answer, cut anywhere. */
const taggedStream = fc
  .array(
    fc.oneof(solidText, fc.constantFrom('<think>', '</think>', '<', 'th', 'ink', '>', '/', '\n')),
    {
      maxLength: 12,
    },
  )
  .map((texts) => {
    const chunks = texts.map(
      (text) => `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}}}]}\n\n`,
    );
    return toBytes(chunks.join('') + CHAT_ENDING);
  });

/** Chunks that differ in their text alone, as servers really send them. */
const evenStream = fc
  .tuple(
    fc.array(chatRecord, { minLength: 1, maxLength: 2 }),
    fc.array(solidText, { maxLength: 8 }),
  )
  .map(([records, texts]) => {
    const chunks = texts.map((text, at) => {
      const record = records[at % records.length] ?? '';
      return record.replace(/"(?:[^"\\]|\\.)*"(?=[,}\]])/, () => JSON.stringify(text));
    });
    return toBytes(chunks.join('') + CHAT_ENDING);
  });

/** The same of the Responses dialect, in each of which the number is another. */
const evenResponsesStream = fc
  .array(fc.record({ text: solidText, isNamed: fc.boolean() }), { maxLength: 8 })
  .map((list) => {
    const events = list.map(({ text, isNamed }, at) => {
      const type = 'response.output_text.delta';
      const data = { type, sequence_number: at, output_index: 0, delta: text, obfuscation: 'x' };
      return `${isNamed ? `event: ${type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;
    });
    return toBytes(events.join('') + RESPONSES_ENDING);
  });

const anyStream = fc.oneof(
  { weight: 4, arbitrary: recorded('sse') },
  { weight: 3, arbitrary: chatStream },
  { weight: 3, arbitrary: messagesStream },
  { weight: 3, arbitrary: responsesStream },
  { weight: 3, arbitrary: ownStream },
  { weight: 1, arbitrary: taggedStream },
  { weight: 2, arbitrary: evenStream },
  { weight: 2, arbitrary: evenResponsesStream },
);

export const streamBytes = fc.oneof(
  { weight: 3, arbitrary: anyStream },
  { weight: 3, arbitrary: valuesMutated(anyStream) },
  { weight: 3, arbitrary: mutated(anyStream) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 80 }) },
);

const anyBody = fc.oneof(
  recorded('json'),
  fc.oneof(chatBody('message'), messageBody, responseBody).map(toBytes),
);

export const bodyText = fc
  .oneof(
    { weight: 3, arbitrary: anyBody },
    { weight: 5, arbitrary: valuesMutated(anyBody) },
    { weight: 2, arbitrary: mutated(anyBody) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 80 }) },
  )
  .map((bytes) => Buffer.from(bytes).toString());
