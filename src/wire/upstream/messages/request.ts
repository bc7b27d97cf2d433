// Writes a request for a Messages upstream, according to its profile. The output is deterministic
// and contains no id or user of ours, because upstream prompt caches compare prefixes.

import { withInstruction } from '../../../core/answer-format.ts';
import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationRequest, Tool, ToolChoice, Turn } from '../../../core/generation.ts';
import type { MessagesProfile } from '../../../core/profile.ts';
import { sentStops } from '../../../core/stop.ts';
import { withToolInstruction } from '../../../core/tool-instruction.ts';
import type { UpstreamCall } from '../../format.ts';
import { withDistinctIds } from '../call-ids.ts';
import { addConstants } from '../extra-body.ts';
import { foldSystem } from '../fold-system.ts';
import { bridgePrefill } from '../prefill-bridge.ts';
import { foldNames } from '../speaker-names.ts';
import { takesSchema } from './answer-schema.ts';
import { asksForCache, MARK, markLast } from './cache-marks.ts';
import { decideThinking } from './thinking.ts';
import { saysSomething, writeTurns } from './turns.ts';

/** The first API version that refuses every sampling field. */
const VERSION_WITHOUT_SAMPLING = '2026-10-21';

/** Clouds that serve this format have versions of their own, with a name before the date. */
const IS_DATE = /^\d{4}-\d\d-\d\d$/;

/** With thinking, vendors refuse a smaller one. */
const TOP_P_MIN_WITH_THINKING = 0.95;

/** The JSON text of the request. Absent members are left out, never sent as null. */
export function writeMessagesRequest(
  asked: GenerationRequest,
  call: UpstreamCall,
  profile: MessagesProfile,
): string | UpstreamFailure {
  const request = profile.forcedChoice === 'instruct' ? withToolInstruction(asked) : asked;
  const named = foldNames(request.turns);
  const placed = profile.systemInMiddle === 'fold' ? foldSystem(named) : named;
  const distinct = withDistinctIds(placed.filter(saysSomething));
  const turns = profile.prefill === 'bridge' ? bridgePrefill(distinct) : distinct;
  const marks = asksForCache(request, profile);
  const messages = writeTurns(turns, call, profile, marks);
  if (typeof messages !== 'string') return messages;
  const { on: thinks, thinking, effort } = decideThinking(request, turns, call, profile);
  const format = writeFormat(request, profile);
  const stop = sentStops(request.stop, profile, call.reasons);
  const isVertex = profile.address === 'vertex';
  const body = {
    model: isVertex ? undefined : call.model,
    anthropic_version: isVertex ? profile.version : undefined,
    max_tokens: call.maxOutputTokens,
    system: writeSystem(withFormat(request, format, profile), marks),
    ...writeTools(request, profile, thinks, marks),
    thinking,
    output_config: effort === undefined && format === undefined ? undefined : { effort, format },
    ...writeSampling(request, profile, thinks),
    stop_sequences: stop.length === 0 ? undefined : stop,
    stream: call.stream ? true : undefined,
  };
  // The messages are already text.
  addConstants(body, profile.extraBody);
  const rest = JSON.stringify(body);
  return `${rest.slice(0, -1)},"messages":${messages}}`;
}

/** The format has a switch for schemas, but none for JSON of any kind. */
function writeFormat(
  { json, schema }: GenerationRequest,
  profile: MessagesProfile,
): object | undefined {
  if (!json || schema === undefined || profile.jsonSchema === 'prompt') return undefined;
  return takesSchema(schema.schema) ? { type: 'json_schema', schema: schema.schema } : undefined;
}

function withFormat(
  request: GenerationRequest,
  format: object | undefined,
  profile: MessagesProfile,
): GenerationRequest {
  return format !== undefined && profile.jsonSchema === 'send' ? request : withInstruction(request);
}

function writeSystem({ system: text }: GenerationRequest, marks: boolean): unknown {
  if (text.trim() === '') return undefined;
  return marks ? [{ type: 'text', text, ...MARK }] : text;
}

/** The other format's penalties have no counterpart here. */
function writeSampling(
  request: GenerationRequest,
  profile: MessagesProfile,
  thinks: boolean,
): object {
  const { sampling, version } = profile;
  const refused = IS_DATE.test(version) && version >= VERSION_WITHOUT_SAMPLING;
  if (sampling === 'omit' || refused) return {};
  const temperature =
    thinks || request.temperature === undefined ? undefined : Math.min(request.temperature, 1);
  const { topP } = request;
  if (sampling === 'send') return { temperature, top_p: topP };
  const mayHaveTopP = thinks ? (topP ?? 0) >= TOP_P_MIN_WITH_THINKING : temperature === undefined;
  return { temperature, top_p: mayHaveTopP ? topP : undefined };
}

/** Vendors refuse calls in the history of a request without tools, so those tools are declared. */
function writeTools(
  request: GenerationRequest,
  profile: MessagesProfile,
  thinks: boolean,
  marks: boolean,
): object {
  const write = (tools: readonly Tool[]): object[] => {
    const written = tools.map((tool) => writeTool(tool, profile));
    return marks ? markLast(written) : written;
  };
  if (request.tools.length > 0) {
    return {
      tools: write(request.tools),
      tool_choice: writeToolChoice(request, profile, thinks),
    };
  }
  const called = calledTools(request.turns);
  if (called.length === 0) return {};
  const parameters = { type: 'object', properties: {} };
  const tools = write(called.map((name) => ({ name, parameters })));
  return { tools, tool_choice: { type: 'none' } };
}

function calledTools(turns: readonly Turn[]): string[] {
  const calls = turns.flatMap((turn) => (turn.role === 'assistant' ? turn.toolCalls : []));
  return [...new Set(calls.map((call) => call.name))];
}

function writeTool(
  { name, description, parameters, typed }: Tool,
  profile: MessagesProfile,
): object {
  if (typed !== undefined && profile.typedTools === 'send') return typed;
  return { name, description, input_schema: parameters };
}

function writeToolChoice(
  request: GenerationRequest,
  profile: MessagesProfile,
  thinks: boolean,
): object | undefined {
  const { toolChoice, parallelToolCalls } = request;
  const { forcedChoice } = profile;
  const isNever = forcedChoice === 'auto' || forcedChoice === 'instruct';
  const mayForce = forcedChoice === 'send' || (!isNever && !thinks);
  const choice = toolChoice === undefined ? undefined : choiceOf(toolChoice, mayForce);
  const oneByOne = parallelToolCalls === false && profile.parallelToolCalls === 'send';
  if (!oneByOne || toolChoice?.kind === 'none') return choice;
  return { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true };
}

function choiceOf(choice: ToolChoice, mayForce: boolean): object {
  switch (choice.kind) {
    case 'auto':
    case 'none':
      return { type: choice.kind };
    case 'required':
      return { type: mayForce ? 'any' : 'auto' };
    case 'tool':
      return mayForce ? { type: 'tool', name: choice.name } : { type: 'auto' };
  }
}
