// What the fields of a request body mean. Their schemas say what they accept; a test holds that each
// field of a schema has its sentence here.

type Texts = Readonly<Record<string, string>>;

const SHARED: Texts = {
  model: 'A slug or alias from `GET /v1/models`.',
  messages: 'The conversation so far.',
  max_tokens: 'Upper bound on generated tokens, thinking included.',
  temperature: "Randomness of the answer. Default: the model's own.",
  top_p: 'Nucleus sampling: the share of probability to draw from.',
  stream: 'Whether to send the answer as server-sent events. Default: false.',
};

export const CHAT_FIELDS: Texts = {
  ...SHARED,
  max_completion_tokens: 'The same as `max_tokens`. It wins where both are present.',
  frequency_penalty: 'Makes repeated tokens less likely.',
  presence_penalty: 'Makes tokens that have occurred less likely.',
  stop: 'Sequences that end the answer.',
  stream_options: '`include_usage: false` removes `usage` from the last event of a stream.',
  response_format: 'Asks for JSON, or for JSON of the schema in `json_schema`.',
  tools: 'Functions that the model may call, and custom tools, whose input is text.',
  tool_choice: 'Which tool the model calls, or which of `tools` it may call.',
  reasoning_effort: 'How much the model thinks. Models without thinking ignore it.',
  thinking: 'Turns thinking on or off, instead of `reasoning_effort`.',
  reasoning:
    '`effort`, or `enabled` and `max_tokens`, where there is no `reasoning_effort`. `exclude: true` leaves thinking out of the answer.',
  verbosity: '`low`, `medium` or `high`: how long the answer should be. Other values are ignored.',
  prompt_cache_key: 'A key of yours for requests that begin alike.',
  user: 'Your own id of an end user.',
  n: 'The number of answers.',
  parallel_tool_calls: 'A hint to the model. Values that are not boolean are ignored.',
};

export const MESSAGES_FIELDS: Texts = {
  ...SHARED,
  system: 'The system prompt.',
  stop_sequences: 'Sequences that end the answer.',
  tools:
    'Tools that the model may call: with a schema, or of a type such as `bash_20250124` that the client runs.',
  tool_choice: 'Which tool the model calls. It must be one of `tools`.',
  thinking:
    'Type `enabled` turns thinking on, `disabled` off. The budget is not applied. Display `omitted` hides its text.',
  metadata: '`user_id` is your own id of an end user, cut at 256 characters.',
  thread: 'Conversations are not kept: a thread to continue is refused.',
  output_config: '`effort` sets how much the model thinks, `format` asks for a schema.',
  output_format: 'An earlier name of `output_config.format`.',
};

export const RESPONSES_FIELDS: Texts = {
  ...SHARED,
  input: 'The conversation so far: a text, or items.',
  instructions: 'The system prompt.',
  max_output_tokens: SHARED['max_tokens'] ?? '',
  tools:
    'Functions that the model may call, custom tools, whose input is text, and namespaces of both. Others are left out.',
  tool_choice: 'Which tool the model calls, or which of `tools` it may call.',
  parallel_tool_calls: 'A hint to the model. Values that are not boolean are ignored.',
  reasoning:
    '`effort` sets how much the model thinks. `summary` shows its thinking, which is left out otherwise.',
  text: '`format` asks for JSON, or for JSON of a schema. `verbosity` sets how long the answer should be.',
  prompt_cache_key: 'A key of yours for requests that begin alike.',
  user: 'Your own id of an end user.',
  previous_response_id: 'Refused: responses are not kept.',
  conversation: 'Refused: conversations are not kept.',
  prompt: 'Refused: prompts are not kept.',
  background: 'Must be false: answers are not kept.',
};
