// Reads answers of every format, streamed and whole, as a client does. Shares no code with the
// gateway's own parsers, because it judges them.

export const FORMATS = ['chat', 'messages', 'responses'] as const;
export type Format = (typeof FORMATS)[number];

export type Content = {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly { readonly name: string; readonly json: string }[];
};

export type ReceivedAnswer = Content & {
  readonly status: number;
  readonly requestId: string;
  /** In service tokens, as text; absent where the answer had no bill. */
  readonly debited: string | undefined;
  /** Whether the client received the answer to its end. */
  readonly complete: boolean;
};

export type Caller = {
  readonly url: string;
  readonly key: string;
  /** Replaces the default in tests. */
  readonly answerMs?: number;
};

export type Question = {
  readonly format: Format;
  readonly model: string;
  readonly stream: boolean;
};

type Json = Readonly<Record<string, unknown>>;
type Call = { name: string; json: string };
type Draft = { text: string; reasoning: string; calls: Call[]; debited?: string; ended: boolean };

const PATHS: Readonly<Record<Format, string>> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};

/** So large that the gateway reads a stream from the upstream for a whole answer, too. */
const MAX_TOKENS = 8_000;

const MESSAGES = { max_tokens: MAX_TOKENS, messages: [{ role: 'user', content: 'Hello?' }] };
const QUESTIONS: Readonly<Record<Format, object>> = {
  chat: MESSAGES,
  messages: MESSAGES,
  responses: { max_output_tokens: MAX_TOKENS, input: 'Hello?', reasoning: { summary: 'auto' } },
};

const ANSWER_MS = 30_000;

/**
 * Throws where the connection breaks, or the time is up, before the status; later the answer is not
 * complete.
 */
export async function ask(
  { url, key, answerMs = ANSWER_MS }: Caller,
  { format, model, stream }: Question,
): Promise<ReceivedAnswer> {
  const response = await fetch(`${url}${PATHS[format]}`, {
    method: 'POST',
    // One of the process environment is for upstreams.
    proxy: false,
    signal: AbortSignal.timeout(answerMs),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, ...QUESTIONS[format] }),
  });
  const { status, headers } = response;
  const body = await response.text().catch(() => undefined);
  const draft: Draft = { text: '', reasoning: '', calls: [], ended: false };
  if (body !== undefined && status === 200) read(draft, format, body, stream);
  const { ended, ...content } = draft;
  return {
    ...content,
    debited: content.debited,
    status,
    requestId: headers.get('x-request-id') ?? '',
    complete: body !== undefined && (ended || status !== 200),
  };
}

type Read = (draft: Draft, json: Json) => void;
const READERS: Readonly<Record<Format, { readonly whole: Read; readonly event: Read }>> = {
  chat: { whole: readChunk, event: readChunk },
  messages: { whole: readMessage, event: readEvent },
  responses: { whole: readResponse, event: readItemEvent },
};

function read(draft: Draft, format: Format, body: string, stream: boolean): void {
  const { whole, event } = READERS[format];
  if (!stream) {
    whole(draft, JSON.parse(body));
    draft.ended = true;
    return;
  }
  for (const line of body.split('\n')) {
    if (!line.startsWith('data: ')) continue;
    const data = line.slice('data: '.length);
    if (data === '[DONE]') draft.ended = true;
    else event(draft, JSON.parse(data));
  }
}

/** A whole answer is one chunk with a `message` for a delta. */
function readChunk(draft: Draft, chunk: Json): void {
  const [choice] = list(chunk['choices']);
  const delta = object(choice?.['delta'] ?? choice?.['message']);
  draft.text += text(delta['content']);
  draft.reasoning += text(delta['reasoning_content']);
  for (const [position, piece] of list(delta['tool_calls']).entries()) {
    const called = object(piece['function']);
    const call = callAt(draft, Number(piece['index'] ?? position));
    call.name += text(called['name']);
    call.json += text(called['arguments']);
  }
  bill(draft, object(chunk['usage']));
}

function readMessage(draft: Draft, message: Json): void {
  for (const block of list(message['content'])) startBlock(draft, block, true);
  bill(draft, object(message['usage']));
}

function readEvent(draft: Draft, event: Json): void {
  const delta = object(event['delta']);
  if (event['type'] === 'content_block_start') {
    startBlock(draft, object(event['content_block']), false);
  }
  draft.text += text(delta['text']);
  draft.reasoning += text(delta['thinking']);
  const last = draft.calls.at(-1);
  if (last !== undefined) last.json += text(delta['partial_json']);
  if (event['type'] === 'message_delta') bill(draft, object(event['usage']));
  if (event['type'] === 'message_stop') draft.ended = true;
}

function startBlock(draft: Draft, block: Json, isWhole: boolean): void {
  draft.text += text(block['text']);
  draft.reasoning += text(block['thinking']);
  if (block['type'] !== 'tool_use') return;
  const json = isWhole ? JSON.stringify(block['input']) : '';
  draft.calls.push({ name: text(block['name']), json });
}

function readResponse(draft: Draft, response: Json): void {
  for (const item of list(response['output'])) {
    for (const part of list(item['content'])) draft.text += text(part['text']);
    for (const part of list(item['summary'])) draft.reasoning += text(part['text']);
    if (item['type'] === 'function_call') readCall(draft, item);
  }
  bill(draft, object(response['usage']));
}

function readItemEvent(draft: Draft, event: Json): void {
  switch (event['type']) {
    case 'response.output_text.delta':
      draft.text += text(event['delta']);
      break;
    case 'response.reasoning_summary_text.delta':
      draft.reasoning += text(event['delta']);
      break;
    case 'response.function_call_arguments.done':
      readCall(draft, event);
      break;
    case 'response.completed':
    case 'response.incomplete':
      bill(draft, object(object(event['response'])['usage']));
      draft.ended = true;
  }
}

function readCall(draft: Draft, call: Json): void {
  draft.calls.push({ name: text(call['name']), json: text(call['arguments']) });
}

function bill(draft: Draft, usage: Json): void {
  const debited = usage['svc_tokens_debited'];
  if (typeof debited === 'string') draft.debited = debited;
}

function callAt(draft: Draft, index: number): Call {
  const call = draft.calls[index] ?? { name: '', json: '' };
  draft.calls[index] = call;
  return call;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const object = (value: unknown): Json =>
  typeof value === 'object' && value ? (value as Json) : {};
const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value : []);
