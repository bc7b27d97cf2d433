// Writes a request for a chat-completions upstream, according to its profile. The output is
// deterministic and contains no id or user of ours, because upstream prompt caches compare
// prefixes.

import { saysJson, withInstruction } from '../../../core/answer-format.ts';
import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationRequest, Turn } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { sentStops } from '../../../core/stop.ts';
import type { UpstreamCall } from '../../format.ts';
import { addConstants, type Members } from '../extra-body.ts';
import { unsupported } from '../failure.ts';
import { bridgePrefill } from '../prefill-bridge.ts';
import { writeMessages } from './message.ts';
import { isThinking, settleReasoning, writeReasoning } from './reasoning.ts';
import { withInstructedTool, writeTools } from './tool-choice.ts';
import { arrangeTurns, isContinued } from './turns.ts';

/** The JSON text of the request. Absent members are left out, never sent as null. */
export function writeChatRequest(
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ChatProfile,
): string | UpstreamFailure {
  const refused = refuseImages(request.turns, profile);
  if (refused !== undefined) return refused;
  const arranged = arrangeTurns(request.turns, profile);
  const turns = profile.prefill === 'bridge' ? bridgePrefill(arranged) : arranged;
  const instructed = withInstructedTool(withFormat(request, profile), profile);
  const asked = settleReasoning(instructed, turns, call, profile);
  const thinks = isThinking(asked, call);
  const stop = sentStops(asked.stop, profile, call.reasons);
  const body: Members = {
    model: call.model,
    messages: writeMessages(asked, turns, call, profile),
    [profile.maxTokensField]: call.maxOutputTokens,
  };
  writeSampling(body, asked, thinks, profile);
  body['stop'] = stop.length === 0 ? undefined : stop;
  writeTools(body, asked, thinks, profile);
  writeJsonMode(body, asked, profile);
  writeReasoning(body, asked, call, profile);
  if (profile.verbosity === 'send' && call.reasons) body['verbosity'] = request.verbosity;
  writeContinuation(body, turns, profile);
  body['prompt_cache_key'] = call.cacheKey;
  writeStream(body, call, profile);
  addConstants(body, profile.extraBody);
  return JSON.stringify(body);
}

function refuseImages(turns: readonly Turn[], profile: ChatProfile): UpstreamFailure | undefined {
  if (profile.imageUrls !== 'data' && profile.contentParts !== 'never') return undefined;
  for (const turn of turns) {
    if (turn.role !== 'user') continue;
    for (const part of turn.parts) {
      if (part.kind !== 'image') continue;
      if (profile.contentParts === 'never') return unsupported('this upstream takes no images');
      if (!/^data:/i.test(part.url)) return unsupported('this upstream takes images only as data');
    }
  }
  return undefined;
}

function writeSampling(
  body: Members,
  request: GenerationRequest,
  thinks: boolean,
  { sampling }: ChatProfile,
): void {
  if (sampling === 'omit' || (sampling === 'omit_when_thinking' && thinks)) return;
  body['temperature'] = request.temperature;
  body['top_p'] = request.topP;
  body['frequency_penalty'] = request.frequencyPenalty;
  body['presence_penalty'] = request.presencePenalty;
}

/** Describes in the prompt what the upstream has no switch for; JSON mode needs the word there. */
function withFormat(request: GenerationRequest, profile: ChatProfile): GenerationRequest {
  if (!request.json) return request;
  const { jsonMode, jsonSchema } = profile;
  const isSent =
    request.schema === undefined ? jsonMode === 'send' && saysJson(request) : jsonSchema === 'send';
  return isSent ? request : withInstruction(request);
}

function writeJsonMode(
  body: Members,
  { json, schema }: GenerationRequest,
  profile: ChatProfile,
): void {
  if (!json) return;
  if (schema !== undefined && profile.jsonSchema !== 'prompt') {
    body['response_format'] = { type: 'json_schema', json_schema: schema };
  } else if (profile.jsonMode !== 'omit') {
    body['response_format'] = { type: 'json_object' };
  }
}

/** Without these, vLLM's template would close the last turn and start another. */
function writeContinuation(body: Members, turns: readonly Turn[], profile: ChatProfile): void {
  if (profile.prefill !== 'continue_final_message' || !isContinued(turns)) return;
  body['continue_final_message'] = true;
  body['add_generation_prompt'] = false;
}

/** Usage is always requested, because it determines the charge. */
function writeStream(body: Members, call: UpstreamCall, profile: ChatProfile): void {
  if (!call.stream) return;
  body['stream'] = true;
  if (profile.streamOptions !== 'omit') body['stream_options'] = { include_usage: true };
}
