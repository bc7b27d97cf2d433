// The id and model with which an answer begins in any format, and whether the client sees its
// thinking.

import type { Tool } from '../core/generation.ts';
import type { AnswerHead } from '../wire/format.ts';
import type { CheckedRequest } from './pipeline-types.ts';

/**
 * Hex digits taken from the end of a request id: the last of its timestamp and all ten random
 * bytes.
 */
const ANSWER_ID_LENGTH = 24;

/** Derived from the request id, so a client that kept one can find the other. */
export function answerId(requestId: string): string {
  return requestId.slice(-ANSWER_ID_LENGTH);
}

export function answerHead(checked: CheckedRequest): AnswerHead {
  const { call, request, model } = checked;
  return {
    id: answerId(call.requestId),
    requestId: call.requestId,
    model: model.slug,
    createdSeconds: Math.floor(call.startedAt / 1_000),
    includeUsage: request.includeUsage,
    showReasoning: showsReasoning(checked),
    marksThinking: request.hidesThinking === true && mayThink(checked),
    customTools: customTools(request.tools),
    namespaced: request.tools.filter(({ inNamespace }) => inNamespace !== undefined),
    repeated: repeated(checked),
  };
}

/** Without the prompt where the answer is kept for a repeat, because prompts are never stored. */
function repeated({ call, request }: CheckedRequest): AnswerHead['repeated'] {
  if (call.keyed === undefined) return request.repeated;
  const { instructions: _instructions, tools: _tools, ...settings } = request.repeated ?? {};
  return settings;
}

/** Whether the client receives the thinking of its answer. */
export function showsReasoning(checked: CheckedRequest): boolean {
  return checked.request.hidesThinking !== true && mayThink(checked);
}

function mayThink({ request, model }: CheckedRequest): boolean {
  return request.reasoning !== 'off' && model.features.has('reasoning');
}

const NO_TOOLS: readonly string[] = [];

function customTools(tools: readonly Tool[]): readonly string[] {
  if (tools.length === 0) return NO_TOOLS;
  return tools.filter((tool) => tool.custom !== undefined).map((tool) => tool.name);
}
