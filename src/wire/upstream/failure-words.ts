// The codes and phrases by which upstream errors are classified, by server. Texts are matched only
// where they are not the caller's (`callers-words.ts`).

/** Codes and phrases for "the prompt does not fit", by server. */
export const CONTEXT_WORDS = new RegExp(
  [
    'context_length_exceeded|exceed_context_size_error|tokens_limit_reached',
    'maximum context length|prompt (?:is )?too long',
    'context (?:window|length|size) (?:is )?exceed',
    "exceed(?:s|ed)? (?:the |this |available |maximum |max |model'?s? )*context",
    // vLLM, SGLang.
    "context length is only|maximum model length|longer than the model'?s context length",
    // Text Generation Inference, and Together before it.
    'inputs`? tokens \\+ `?max_new_tokens|inputs`? must have less than',
    // LM Studio.
    'greater than the context length|keep the first \\d+ tokens',
    // Bedrock; xAI; Gemini; Cohere.
    'input is too long for requested model|maximum prompt length',
    'exceeds the maximum number of tokens allowed|tokens in the prompt cannot exceed',
    // Moonshot; DashScope; Volcengine; Z.ai, in English and in Chinese.
    'exceeded model token limit|range of input length|input length \\d+ exceeds',
    'prompt exceeds max length|prompt ?超长|上下文.{0,6}超',
  ].join('|'),
  'gi',
);

export const RATE_WORDS = /rate_limit|rate limit|too many requests/gi;

export const OVERLOAD_WORDS =
  /overloaded|at capacity|insufficient_system_resource|temporarily unavailable/gi;

const HARD_LIMIT = 'billing[ _]hard[ _]limit';

/** Our balance is empty, which some vendors report as a rate limit: the last two are xAI and Google. */
export const QUOTA_WORDS = new RegExp(
  [
    `insufficient[_ ]quota|insufficient[_ ]balance|${HARD_LIMIT}|exceeded_current_quota`,
    'used all available credits|credits are depleted',
  ].join('|'),
  'gi',
);

/** A refused key, account or host of ours: Gemini, xAI, DashScope, Groq and OpenAI, with 400. */
export const CREDENTIAL_WORDS = new RegExp(
  [
    'api key (?:not (?:valid|found)|expired)|incorrect api key|invalid api key|arrearage',
    'organization[ _](?:has been )?restricted|user location is not supported',
    HARD_LIMIT,
  ].join('|'),
  'gi',
);

/** A prompt refused for its content, which OpenRouter reports with 403. */
export const FLAGGED_WORDS = /requires moderation|input was flagged|flagged (?:for|by) /gi;

/**
 * An unknown model name of our catalog, reported with 400 by DeepSeek, OpenRouter, Mistral, Z.ai.
 */
export const MODEL_WORDS =
  /model_not_found|model[_ ]not[_ ]exist|not a valid model|invalid[_ ]model|unknown model/gi;

/** Thinking that was given back is refused: by Anthropic; by Responses servers; by Gemini. */
export const THINKING_WORDS = new RegExp(
  [
    'invalid `?signature`? in `?thinking|bound to a different conversation',
    'blocks .{0,40}cannot be modified|expected `?thinking`? or',
    'invalid_encrypted_content|encrypted content .{0,80}could not be (?:verified|decrypted)',
    'without its required following item|item with id .{1,100} not found',
    "of type '?reasoning'? was provided",
    'missing a thought_signature|thought[ _]signature is not valid|corrupted thought signature',
  ].join('|'),
  'gi',
);
