// A request as a chat-completions upstream takes it, by the profile of that upstream. The same
// request always gives the same bytes, and nothing of ours (no id, no user) is in them: upstream
// prompt caches compare prefixes.

import { saysJson, withInstruction } from '../../../core/answer-format.ts';
import type { UpstreamFailure } from '../../../core/failure.ts';
import type { GenerationRequest, Turn } from '../../../core/generation.ts';
import type { ChatProfile } from '../../../core/profile.ts';
import { splitStops } from '../../../core/stop.ts';
import type { UpstreamCall } from '../../format.ts';
import { withConstants } from '../extra-body.ts';
import { unsupported } from '../failure.ts';
import { writeMessages } from './message.ts';
import { isThinking, settleReasoning, writeReasoning } from './reasoning.ts';
import { writeTools } from './tool-choice.ts';
import { arrangeTurns, isContinued } from './turns.ts';

/** The JSON text of the request. Absent members are left out, never sent as null. */
export function writeChatRequest(
  request: GenerationRequest,
  call: UpstreamCall,
  profile: ChatProfile,
): string | UpstreamFailure {
  const refused = refuseImages(request.turns, profile);
  if (refused !== undefined) return refused;
  const turns = arrangeTurns(request.turns, profile);
  const asked = settleReasoning(withFormat(request, profile), turns, call, profile);
  const thinks = isThinking(asked, call);
  const stop = splitStops(asked.stop, profile, call.reasons).sent;
  const body = {
    model: call.model,
    messages: writeMessages(asked, turns, call, profile),
    [profile.maxTokensField]: call.maxOutputTokens,
    ...writeSampling(asked, thinks, profile),
    stop: stop.length === 0 ? undefined : stop,
    ...writeTools(asked, thinks, profile),
    ...writeJsonMode(asked, profile),
    ...writeReasoning(asked, call, profile),
    ...writeContinuation(turns, profile),
    ...writeStream(call, profile),
  };
  return JSON.stringify(withConstants(body, profile.extraBody));
}

function refuseImages(turns: readonly Turn[], profile: ChatProfile): UpstreamFailure | undefined {
  if (profile.imageUrls === 'any' && profile.contentParts !== 'never') return undefined;
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
  request: GenerationRequest,
  thinks: boolean,
  { sampling }: ChatProfile,
): object {
  if (sampling === 'omit' || (sampling === 'omit_when_thinking' && thinks)) return {};
  return {
    temperature: request.temperature,
    top_p: request.topP,
    frequency_penalty: request.frequencyPenalty,
    presence_penalty: request.presencePenalty,
  };
}

/** What the upstream has no switch for is said in the prompt; JSON mode needs the word there. */
function withFormat(request: GenerationRequest, profile: ChatProfile): GenerationRequest {
  if (!request.json) return request;
  const { jsonMode, jsonSchema } = profile;
  const isTold =
    request.schema === undefined ? jsonMode === 'send' && saysJson(request) : jsonSchema === 'send';
  return isTold ? request : withInstruction(request);
}

function writeJsonMode({ json, schema }: GenerationRequest, profile: ChatProfile): object {
  if (!json) return {};
  if (schema !== undefined && profile.jsonSchema !== 'prompt') {
    return { response_format: { type: 'json_schema', json_schema: schema } };
  }
  return profile.jsonMode === 'omit' ? {} : { response_format: { type: 'json_object' } };
}

/** Without these, vLLM's template would close the last turn and have the model begin another. */
function writeContinuation(turns: readonly Turn[], profile: ChatProfile): object {
  if (profile.prefill !== 'continue_final_message' || !isContinued(turns)) return {};
  return { continue_final_message: true, add_generation_prompt: false };
}

/** Usage is always asked for: it is what the customer pays. */
function writeStream(call: UpstreamCall, profile: ChatProfile): object {
  if (!call.stream) return {};
  if (profile.streamOptions === 'omit') return { stream: true };
  return { stream: true, stream_options: { include_usage: true } };
}
