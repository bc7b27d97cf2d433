// Recorded upstream streams, from the tests' own collection, and what a client has to receive of
// each. The executable contains them.

import reasoning from '../../test/golden/upstream/48-reasoning-field.sse' with { type: 'text' };
import reasoningEvents from '../../test/golden/upstream/48-reasoning-field.sse.expected' with {
  type: 'text',
};
import comments from '../../test/golden/upstream/76-comments.sse' with { type: 'text' };
import commentsEvents from '../../test/golden/upstream/76-comments.sse.expected' with {
  type: 'text',
};
import repeatedTool from '../../test/golden/upstream/92-tool-id-and-name-repeated.sse' with {
  type: 'text',
};
import repeatedToolEvents from '../../test/golden/upstream/92-tool-id-and-name-repeated.sse.expected' with {
  type: 'text',
};
import allKinds from '../../test/golden/upstream/94-all-kinds-in-one-delta.sse' with {
  type: 'text',
};
import allKindsEvents from '../../test/golden/upstream/94-all-kinds-in-one-delta.sse.expected' with {
  type: 'text',
};
import usageEverywhere from '../../test/golden/upstream/97-usage-on-every-chunk.sse' with {
  type: 'text',
};
import usageEverywhereEvents from '../../test/golden/upstream/97-usage-on-every-chunk.sse.expected' with {
  type: 'text',
};
import toolsInterleaved from '../../test/golden/upstream-messages/00-tools-interleaved.sse' with {
  type: 'text',
};
import toolsInterleavedEvents from '../../test/golden/upstream-messages/00-tools-interleaved.sse.expected' with {
  type: 'text',
};
import usageGrows from '../../test/golden/upstream-messages/53-usage-grows.sse' with {
  type: 'text',
};
import usageGrowsEvents from '../../test/golden/upstream-messages/53-usage-grows.sse.expected' with {
  type: 'text',
};
import separators from '../../test/golden/upstream-messages/85-separators-in-text.sse' with {
  type: 'text',
};
import separatorsEvents from '../../test/golden/upstream-messages/85-separators-in-text.sse.expected' with {
  type: 'text',
};
import callsInterleaved from '../../test/golden/upstream-responses/00-calls-interleaved.sse' with {
  type: 'text',
};
import callsInterleavedEvents from '../../test/golden/upstream-responses/00-calls-interleaved.sse.expected' with {
  type: 'text',
};
import openModel from '../../test/golden/upstream-responses/00-reasoning-text-of-an-open-model.sse' with {
  type: 'text',
};
import openModelEvents from '../../test/golden/upstream-responses/00-reasoning-text-of-an-open-model.sse.expected' with {
  type: 'text',
};
import type { Content } from './answer.ts';

export type RecordedDialect = 'chat' | 'messages' | 'responses';

export type RecordedStream = {
  /** Also the slug of the model that plays it. */
  readonly name: string;
  readonly dialect: RecordedDialect;
  readonly bytes: string;
  readonly expected: Content;
  /** Absent where the recording reports no usage. */
  readonly usage: Usage | undefined;
};

type Usage = {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
};

/** The members of an expected event that a client sees; the tests have all of them. */
type RecordedEvent = {
  readonly kind: string;
  readonly text?: string;
  readonly index?: number;
  readonly name?: string;
  readonly json?: string;
  readonly usage?: Usage;
};

export const RECORDINGS: readonly RecordedStream[] = [
  recording('chat-reasoning', 'chat', reasoning, reasoningEvents),
  recording('chat-comments', 'chat', comments, commentsEvents),
  recording('chat-tool', 'chat', repeatedTool, repeatedToolEvents),
  recording('chat-all-kinds', 'chat', allKinds, allKindsEvents),
  recording('chat-usage', 'chat', usageEverywhere, usageEverywhereEvents),
  recording('messages-tools', 'messages', toolsInterleaved, toolsInterleavedEvents),
  recording('messages-usage', 'messages', usageGrows, usageGrowsEvents),
  recording('messages-separators', 'messages', separators, separatorsEvents),
  recording('responses-calls', 'responses', callsInterleaved, callsInterleavedEvents),
  recording('responses-reasoning', 'responses', openModel, openModelEvents),
];

function recording(
  name: string,
  dialect: RecordedDialect,
  bytes: string,
  lines: string,
): RecordedStream {
  const events = lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line): RecordedEvent => JSON.parse(line));
  const joined = (kind: string): string =>
    events.map((event) => (event.kind === kind ? (event.text ?? '') : '')).join('');
  const calls = events
    .filter(({ kind }) => kind === 'tool-start')
    .map(({ index, name: called = '' }) => ({
      name: called,
      json: events
        .map((event) => (event.kind === 'tool-delta' && event.index === index ? event.json : ''))
        .join(''),
    }));
  const expected = { text: joined('text-delta'), reasoning: joined('reasoning-delta'), calls };
  const usage = events.findLast((event) => event.usage !== undefined)?.usage;
  return { name, dialect, bytes, expected, usage };
}
