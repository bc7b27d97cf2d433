// Token counts as upstreams report them: for any JSON, the accepted counts can be charged.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { isFailure } from '../../../src/core/failure.ts';
import { DEFAULT_PROFILE } from '../../../src/core/profile.ts';
import { chatDialect } from '../../../src/wire/upstream/chat/dialect.ts';
import { messagesDialect } from '../../../src/wire/upstream/messages/dialect.ts';
import { responsesDialect } from '../../../src/wire/upstream/responses/dialect.ts';
import { readChatUsage as readUsage } from '../../../src/wire/upstream/usage.ts';
import { checkAnswer, checkUsage } from '../checks/events.ts';
import { jsonText } from '../inputs/json-text.ts';
import { chatUsageText, messagesUsageText, responsesUsageText } from '../inputs/usage-text.ts';
import { property } from '../property.ts';

const CHAT = chatDialect(DEFAULT_PROFILE.chat);
const MESSAGES = messagesDialect(DEFAULT_PROFILE.messages);
const RESPONSES = responsesDialect(DEFAULT_PROFILE.responses);

export const USAGE_PROPERTIES = [
  property('usage: any report is sane or none', fc.oneof(chatUsageText, jsonText), (text) => {
    const usage = readUsage(JSON.parse(text));
    if (usage !== undefined) checkUsage(usage);
  }),
  property('usage: any chat answer has a sane report or none', chatUsageText, (text) => {
    const answer = CHAT.response(
      `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":${text}}`,
    );
    assert.ok(!isFailure(answer), 'a strange report is no reason to refuse an answer');
    checkAnswer(answer);
  }),
  property('usage: any Messages answer has a sane report or none', messagesUsageText, (text) => {
    const content = '[{"type":"text","text":"x"}]';
    const answer = MESSAGES.response(
      `{"type":"message","role":"assistant","content":${content},"stop_reason":"end_turn","usage":${text}}`,
    );
    assert.ok(!isFailure(answer), 'a strange report is no reason to refuse an answer');
    checkAnswer(answer);
  }),
  property('usage: any Responses answer has a sane report or none', responsesUsageText, (text) => {
    const answer = RESPONSES.response(`{"status":"completed","output":[],"usage":${text}}`);
    assert.ok(!isFailure(answer), 'a strange report is no reason to refuse an answer');
    checkAnswer(answer);
  }),
];
