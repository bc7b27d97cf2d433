// What an answer begins with, in either format, and whether its client sees thinking.

import type { AnswerHead } from '../wire/format.ts';
import type { CheckedRequest } from './pipeline-types.ts';

/** Of a request id: ten random bytes in hexadecimal digits, behind the last ones of its time. */
const ANSWER_ID_LENGTH = 24;

/** The answer's id is the end of its request's, so that a client that kept one of them has both. */
export function answerHead(checked: CheckedRequest): AnswerHead {
  const { call, request, model } = checked;
  return {
    id: call.requestId.slice(-ANSWER_ID_LENGTH),
    requestId: call.requestId,
    model: model.slug,
    createdSeconds: Math.floor(call.startedAt / 1_000),
    includeUsage: request.includeUsage,
    showReasoning: showsReasoning(checked),
  };
}

/** Whether the client gets to see the thinking of its answer. */
export function showsReasoning({ request, model }: CheckedRequest): boolean {
  return request.reasoning !== 'off' && model.features.has('reasoning');
}
