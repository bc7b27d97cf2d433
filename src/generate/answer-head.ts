// What an answer begins with, in either format, and whether its client sees thinking.

import { randomText } from '../core/id.ts';
import type { AnswerHead } from '../wire/format.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

export function answerHead(
  dependencies: Pick<GenerateDependencies, 'randomBytes'>,
  checked: CheckedRequest,
): AnswerHead {
  const { call, request, model } = checked;
  return {
    id: randomText(24, dependencies.randomBytes),
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
