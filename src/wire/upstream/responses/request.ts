// Writes a request for a Responses upstream, according to its profile. The output is deterministic
// and contains no id or user of ours but the key of the conversation, because upstream prompt caches
// compare prefixes.

import { formatInstruction, saysJson } from '../../../core/answer-format.ts';
import type { UpstreamFailure } from '../../../core/failure.ts';
import type {
  AnswerSchema,
  GenerationRequest,
  Reasoning,
  Tool,
  Turn,
} from '../../../core/generation.ts';
import type { ResponsesProfile } from '../../../core/responses-profile.ts';
import { isForced, withToolInstruction } from '../../../core/tool-instruction.ts';
import type { UpstreamCall } from '../../format.ts';
import { addConstants, type Members } from '../extra-body.ts';
import { arrangeInput, isCustom, writeInput } from './input.ts';

/** The JSON text of the request. Absent members are left out, never sent as null. */
export function writeResponsesRequest(
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ResponsesProfile,
): string | UpstreamFailure {
  const turns = arrangeInput([...formatTurns(request, profile), ...request.turns], profile);
  const input = writeInput(turns, request.tools, call, profile);
  if (typeof input !== 'string') return input;
  const asked = profile.forcedChoice === 'instruct' ? withToolInstruction(request) : request;
  const reasoning = settleReasoning(request, profile);
  const returns = call.reasons && profile.reasoningHistory === 'encrypted';
  const body: Members = {
    model: call.model,
    instructions: asked.system.trim() === '' ? undefined : asked.system,
    store: profile.store === 'send' ? false : undefined,
    include: returns ? ['reasoning.encrypted_content'] : undefined,
    // The guard cuts the answer at the caller's bound, which may be lower.
    max_output_tokens: Math.max(call.maxOutputTokens, profile.minOutputTokens),
    reasoning: writeReasoning(reasoning, request.hidesThinking !== true, call, profile),
    ...writeSampling(request, mayThink(reasoning, call, profile), profile),
    prompt_cache_key: call.cacheKey,
    ...writeTools(request, profile),
    text: writeText(request, call, profile),
    ...writeStream(call, profile),
  };
  addConstants(body, profile.extraBody);
  // The items are already text.
  return `${JSON.stringify(body).slice(0, -1)},"input":${input}}`;
}

/**
 * The instruction about the answer's format as a turn of its own, for what the upstream has no
 * switch for. JSON mode needs the word among the turns: servers refuse one in `instructions` alone.
 */
function formatTurns(request: GenerationRequest, profile: ResponsesProfile): readonly Turn[] {
  const { json, schema } = request;
  if (!json) return [];
  const isSent =
    schema === undefined ? saysJson({ ...request, system: '' }) : profile.jsonSchema === 'send';
  return isSent ? [] : [{ role: 'system', text: formatInstruction(request) }];
}

/**
 * The depth to ask for: off if a forced tool excludes thinking, which is a preference where the
 * tool is a requirement.
 */
function settleReasoning(
  request: GenerationRequest,
  profile: ResponsesProfile,
): Reasoning | undefined {
  const isExcluded = profile.forcedChoice === 'without_thinking' && isForced(request);
  return isExcluded ? 'off' : request.reasoning;
}

/** Whether the model may think: by default, and where thinking cannot be turned off. */
function mayThink(
  reasoning: Reasoning | undefined,
  call: UpstreamCall,
  profile: ResponsesProfile,
): boolean {
  return call.reasons && (reasoning !== 'off' || profile.thinkingOff !== 'send');
}

/** The `reasoning` member. A summary is for a client that sees the thinking. */
function writeReasoning(
  reasoning: Reasoning | undefined,
  isSeen: boolean,
  call: UpstreamCall,
  profile: ResponsesProfile,
): object | undefined {
  if (!call.reasons || profile.reasoningSwitch === 'none') return undefined;
  const effort = effortWord(reasoning, profile);
  const asksForSummary = profile.reasoningSummary === 'auto' && isSeen && reasoning !== 'off';
  if (effort === undefined && !asksForSummary) return undefined;
  return { effort, summary: asksForSummary ? 'auto' : undefined };
}

/** `on` is a depth here, because without one some models do not think. */
function effortWord(
  reasoning: Reasoning | undefined,
  { effortWords: words, thinkingOff }: ResponsesProfile,
): string | undefined {
  switch (reasoning) {
    case undefined:
      return undefined;
    case 'on':
      return words.high || undefined;
    case 'off':
      return (thinkingOff === 'send' ? words.off : words.low) || undefined;
    default:
      return words[reasoning] || undefined;
  }
}

/** Servers refuse a tool choice without tools. Tools are flat here: their members stand beside the type. */
function writeTools(request: GenerationRequest, profile: ResponsesProfile): object {
  const { tools, parallelToolCalls } = request;
  if (tools.length === 0) return {};
  const isHeld = profile.forcedChoice === 'auto' || profile.forcedChoice === 'instruct';
  return {
    tools: tools.map((tool) => (isCustom(tool, profile) ? writeCustom(tool) : writeTool(tool))),
    tool_choice: isForced(request) && isHeld ? 'auto' : writeChoice(request, profile),
    parallel_tool_calls: profile.parallelToolCalls === 'send' ? parallelToolCalls : undefined,
  };
}

function writeCustom({ name, custom: { description, grammar } = {} }: Tool): object {
  const format = grammar === undefined ? undefined : { type: 'grammar', ...grammar };
  return { type: 'custom', name, description, format };
}

/** Without `strict`, the server would change the schema, or refuse one that it cannot enforce. */
function writeTool({ name, description, parameters }: Tool): object {
  return { type: 'function', name, description, parameters, strict: false };
}

function writeChoice(
  { tools, toolChoice: choice }: GenerationRequest,
  profile: ResponsesProfile,
): unknown {
  if (choice?.kind !== 'tool') return choice?.kind;
  const { name } = choice;
  const isText = tools.some((tool) => tool.name === name && isCustom(tool, profile));
  return { type: isText ? 'custom' : 'function', name };
}

function writeText(
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ResponsesProfile,
): object | undefined {
  const format = request.json ? writeFormat(request.schema, profile) : undefined;
  const isAsked = profile.verbosity === 'send' && call.reasons;
  const verbosity = isAsked ? request.verbosity : undefined;
  return format === undefined && verbosity === undefined ? undefined : { format, verbosity };
}

function writeFormat(wanted: AnswerSchema | undefined, { jsonSchema }: ResponsesProfile): object {
  if (wanted === undefined || jsonSchema === 'prompt') return { type: 'json_object' };
  const { name, description, schema, strict } = wanted;
  return { type: 'json_schema', name, description, schema, strict };
}

/** The format has no penalties. */
function writeSampling(
  { temperature, topP }: GenerationRequest,
  thinks: boolean,
  { sampling }: ResponsesProfile,
): object {
  if (sampling === 'omit' || (sampling === 'omit_when_thinking' && thinks)) return {};
  return { temperature, top_p: topP };
}

/** Usage comes with the last event, unasked. */
function writeStream(call: UpstreamCall, profile: ResponsesProfile): object {
  if (!call.stream) return {};
  const options = profile.obfuscation === 'off' ? { include_obfuscation: false } : undefined;
  return { stream: true, stream_options: options };
}
