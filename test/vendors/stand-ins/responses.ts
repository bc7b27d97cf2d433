// The Responses endpoint in stateless use: OpenAI, Azure, xAI, OpenRouter and vLLM.
//
// Refuses: unknown members; sampling, `stop` and penalties (xAI takes temperature and top_p, and
// refuses metadata and stream_options); efforts that a model does not have; fewer than 16 output
// tokens; functions and items of a wrong shape (responses-body.ts); a request for JSON without that word.
// At OpenAI, messages have a phase that must return, and a prompt cache is found by its key alone.
// Thinking comes as encrypted items where `include` asks for them, with a summary only on request; from
// servers of open models (`local`) as text in the item, and a request to encrypt it is refused. xAI
// reports an exact cost.
// From: types of openai 7.59.0 and LiteLLM 1.110.2 (28 November 2026); docs.x.ai best practices and
// the xAI provider 5.0.12 of the AI SDK; reports of continue 10373 and warp 14867 for xAI without credit, as
// 429 or 403; Azure's efforts from LiteLLM's price map.

import { checkFunctions, OPENAI_FAULTS, openai, unknownUrl } from './openai-errors.ts';
import { responseOf, streamResponse } from './responses-answer.ts';
import { askOf, checkItems, itemsOf, type ResponsesBody, textIn } from './responses-body.ts';
import { effortsOf, type ResponsesSeller, TAKEN } from './responses-sellers.ts';
import { countsOf, decide, fresh, provoke, readPrefix, THOUGHTS } from './script.ts';
import { Refusal, type Seen, type Vendor } from './server.ts';

/** xAI's envelope has a code and a text. */
function refusalFor(seller: ResponsesSeller, refusal: Refusal): Refusal {
  if (seller !== 'xai') return refusal;
  const { error } = refusal.body as { readonly error: { readonly message: string } };
  const code = 'Client specified an invalid argument';
  return new Refusal(refusal.status, { code, error: error.message }, refusal.headers);
}

const SPENT = 'Your team has either used all available credits or reached its monthly limit.';
const XAI_FAULTS: typeof OPENAI_FAULTS = {
  ...OPENAI_FAULTS,
  402: () => openai(SPENT, { status: 429 }),
};

/** Encrypted reasoning that was given out, with the model that it belongs to. */
const owners = new Map<string, string>();

function check(seller: ResponsesSeller, body: ResponsesBody): void {
  const unknown = Object.keys(body).find((name) => !TAKEN[seller].has(name));
  if (unknown !== undefined) {
    const text = `Unsupported parameter: '${unknown}' is not supported with this model.`;
    throw openai(text, { param: unknown, code: 'unknown_parameter' });
  }
  const efforts = effortsOf(seller, body.model);
  const effort = body.reasoning?.effort;
  if (effort != null && !efforts.includes(effort)) {
    const text = `'${effort}' is not supported with the '${body.model}' model. Supported values are: ${efforts.join(', ')}.`;
    throw openai(text, { param: 'reasoning.effort', code: 'unsupported_value' });
  }
  const least = seller === 'openai' || seller === 'azure' ? 16 : 1;
  if (body.max_output_tokens != null && body.max_output_tokens < least) {
    const text = `Expected a value >= ${least}, but got ${body.max_output_tokens} instead.`;
    throw openai(text, { param: 'max_output_tokens', code: 'integer_below_min_value' });
  }
  checkFunctions((body.tools ?? []).filter((tool) => tool.type === 'function'));
  if (typeof body.tool_choice === 'object' && body.tool_choice.name === undefined) {
    throw openai("Missing required parameter: 'tool_choice.name'.", { param: 'tool_choice.name' });
  }
  const format = body.text?.format;
  const named = format?.name !== undefined && format.schema !== undefined;
  if (format?.type === 'json_schema' && !named) {
    throw openai("Missing required parameter: 'text.format.name'.", { param: 'text.format.name' });
  }
  const said = `${JSON.stringify(body.input)} ${body.instructions ?? ''}`;
  if (format?.type === 'json_object' && !/json/i.test(said)) {
    throw openai("Response input messages must contain the word 'json'.", { param: 'input' });
  }
  if (seller === 'local' && body.include !== undefined && body.include.length > 0) {
    throw openai('include: reasoning.encrypted_content is not supported', { param: 'include' });
  }
  checkItems(body, seller === 'local' ? undefined : (content) => owners.get(content));
}

function noteItems(body: ResponsesBody, seen: Seen): void {
  for (const { type, content, phase, encrypted_content: encrypted } of itemsOf(body)) {
    // Texts of open models may return joined.
    const texts = textIn(content).match(THOUGHTS) ?? [];
    if (type === 'reasoning') seen.returned.push(...(encrypted == null ? texts : [encrypted]));
    if (phase != null) seen.returned.push(`phase ${phase}`);
    const parts = typeof content === 'string' ? [] : (content ?? []);
    seen.images += parts.filter((part) => part.type === 'input_image').length;
  }
}

/** The vendor that `seller` names. */
export function responses(seller: ResponsesSeller): Vendor {
  return (seen) => {
    const body = seen.body as ResponsesBody;
    if (!seen.path.endsWith('/responses')) throw unknownUrl(seen.path);
    const { authorization = '', 'api-key': apiKey } = seen.headers;
    const known = seller === 'azure' ? apiKey !== undefined : authorization.startsWith('Bearer ');
    try {
      if (!known) throw openai('No API key was sent.', { status: 401, code: 'invalid_api_key' });
      seen.thought = body.reasoning?.effort !== 'none';
      const ask = askOf(body, seen.thought);
      provoke(seen, ask.last, seller === 'xai' ? XAI_FAULTS : OPENAI_FAULTS);
      check(seller, body);
      noteItems(body, seen);
      const keepsPhases = seller === 'openai' || seller === 'azure';
      const turn = decide(ask);
      const prompt = JSON.stringify([body.tools, body.instructions, body.input]);
      const { prompt_cache_key: cacheKey } = body;
      const isLost = cacheKey === undefined && (seller === 'openai' || seller === 'azure');
      // Without the key, requests reach other machines; a mark of its own is one that knows nothing.
      const cache = isLost ? fresh(seen.mark) : `${seen.mark}${cacheKey}`;
      const counts = countsOf(seen, ask, turn, () => readPrefix(cache, prompt));
      const response = responseOf(body, turn, counts, seller);
      for (const item of response.output) {
        if (item.type === 'message' && keepsPhases) seen.given.push(`phase ${item.phase}`);
        if (item.type !== 'reasoning') continue;
        const { encrypted_content: encrypted, content = [] } = item;
        if (encrypted !== undefined) owners.set(encrypted, body.model);
        seen.given.push(encrypted ?? textIn(content));
      }
      if (body.stream !== true) return { whole: response };
      return { events: streamResponse(response, turn) };
    } catch (error) {
      throw error instanceof Refusal ? refusalFor(seller, error) : error;
    }
  };
}
