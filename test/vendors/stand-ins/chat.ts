// A vendor of the chat format: the rules differ, reading and writing are shared.

import { askOf, type ChatBody, forcedTool, partsOf, prefillOf, toolNames } from './chat-body.ts';
import {
  type Call,
  callsOf,
  countsOf,
  decide,
  fresh,
  pieces,
  provoke,
  readPrefix,
  slowWords,
  type Turn,
  textOf,
  thoughtsOf,
} from './script.ts';
import { type Answer, type Counts, type Json, Refusal, type Seen, type Vendor } from './server.ts';
import type { ThinkingForm } from './thinking-forms.ts';

export type ChatRules = {
  /** The answer to another path than `/chat/completions`. */
  readonly unknownPath: (path: string) => Refusal;
  readonly faults: Readonly<Record<string, () => Refusal>>;
  /** Throws the vendor's refusal. */
  readonly check: (body: ChatBody, seen: Seen) => void;
  readonly thinks: (body: ChatBody) => boolean;
  readonly usage: (counts: Counts) => Json;
  /** Absent: the vendor shows no thinking on this endpoint and takes none back. */
  readonly thinking?: ThinkingForm | ((body: ChatBody) => ThinkingForm | undefined);
  /** The beginning of the answer in the vendor's form; by default the last assistant turn. */
  readonly prefill?: (body: ChatBody) => string;
  /** The tool that the vendor forces; by default the one of `tool_choice`. */
  readonly forced?: (body: ChatBody) => string | undefined;
  /** Whether `tool_choice` is not read at all. */
  readonly ignoresChoice?: boolean;
  /** Whether usage is reported in a stream without a request for it. */
  readonly usageUnasked?: boolean;
  /** Whether a call's arguments come in one piece. */
  readonly wholeCalls?: (body: ChatBody) => boolean;
  /** Members beside a call, such as a signature. */
  readonly besideCall?: (call: Call, index: number, seen: Seen) => Json;
  /** The finish reason of an answer that the vendor's filter stopped. */
  readonly filtered?: string;
  readonly credential?: (headers: Seen['headers']) => boolean;
  readonly callId?: () => string;
  /** What runs before the first chunk. */
  readonly before?: (body: ChatBody, turn: Turn) => Promise<void>;
  /** Chunks before all others. */
  readonly opening?: readonly Json[];
};

/** The usage of OpenAI's chat format, with what a vendor adds. */
export function usual(counts: Counts, details: Json = {}): Json {
  return {
    prompt_tokens: counts.prompt,
    completion_tokens: counts.output,
    total_tokens: counts.prompt + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cached, ...details },
    completion_tokens_details: { reasoning_tokens: counts.thinking },
  };
}

const BEARER = (headers: Seen['headers']) =>
  headers['authorization']?.startsWith('Bearer ') === true;

/** The vendor of these rules. */
export function chatVendor(rules: ChatRules): Vendor {
  return async (seen) => {
    const body = seen.body as ChatBody;
    if (!seen.path.endsWith('/chat/completions')) throw rules.unknownPath(seen.path);
    if (!(rules.credential ?? BEARER)(seen.headers)) {
      throw rules.faults['401']?.() ?? new Refusal(401, '');
    }
    const read = askOf(body, rules.thinks(body), (rules.prefill ?? prefillOf)(body));
    const forced = (rules.forced ?? forcedTool)(body);
    const ask = { ...read, forced, forbidden: read.forbidden && rules.ignoresChoice !== true };
    provoke(seen, ask.last, rules.faults);
    rules.check(body, seen);
    const form = typeof rules.thinking === 'function' ? rules.thinking(body) : rules.thinking;
    const earlier = body.messages.filter((turn) => turn.role === 'assistant');
    if (form !== undefined) seen.returned.push(...earlier.flatMap((turn) => form.returned(turn)));
    seen.images = partsOf(body, 'image_url').length;
    const turn = decide(ask, rules.callId);
    seen.thought = ask.thinks;
    const prompt = JSON.stringify([body.tools, body.messages]);
    const counts = countsOf(seen, ask, turn, () => readPrefix(seen.mark, prompt));
    await rules.before?.(body, turn);
    return write(rules, body, turn, form, rules.usage(counts), seen);
  };
}

function write(
  rules: ChatRules,
  body: ChatBody,
  turn: Turn,
  form: ThinkingForm | undefined,
  usage: Json,
  seen: Seen,
): Answer {
  const base = { id: fresh('chatcmpl-'), created: 1, model: body.model };
  const thought = thoughtsOf(turn).join('\n');
  const text = textOf(turn);
  const calls = callsOf(turn).map((call, index) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: call.json },
    ...rules.besideCall?.(call, index, seen),
  }));
  const shows = form !== undefined && thought !== '';
  if (shows) seen.given.push(form.identify?.(thought) ?? thought);
  const reason = calls.length > 0 ? 'tool_calls' : 'stop';
  const finish = turn.filtered ? (rules.filtered ?? 'content_filter') : reason;
  if (body.stream !== true) {
    const message = {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(shows ? form.whole(thought, text) : {}),
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const choices = [{ index: 0, message, finish_reason: finish }];
    return { whole: { ...base, object: 'chat.completion', choices, usage } };
  }

  const frame = (fields: Json): string => {
    return `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', ...fields })}\n\n`;
  };
  const chunk = (delta: Json, finish_reason: string | null = null): string => {
    return frame({ choices: [{ index: 0, delta, finish_reason }] });
  };
  async function* events(): AsyncGenerator<string> {
    for (const fields of rules.opening ?? []) yield frame(fields);
    yield chunk({ role: 'assistant', content: '' });
    yield ': keep-alive\n\n';
    if (shows) for (const delta of form.deltas(thought)) yield chunk(delta);
    for await (const word of slowWords(turn)) yield chunk({ content: word });
    for (const piece of pieces(text)) yield chunk({ content: piece });
    for (const [index, call] of calls.entries()) {
      if (rules.wholeCalls?.(body) === true) {
        yield chunk({ tool_calls: [{ index, ...call }] });
        continue;
      }
      yield chunk({
        tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }],
      });
      for (const piece of pieces(call.function.arguments)) {
        yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
      }
    }
    yield chunk({}, finish);
    if (rules.usageUnasked === true || body.stream_options?.include_usage === true) {
      yield frame({ choices: [], usage });
    }
    yield 'data: [DONE]\n\n';
  }
  return { events: events() };
}

/** Throws `refusal` for the first tool whose name does not have this shape. */
export function checkNames(
  body: ChatBody,
  shape: RegExp,
  refusal: (name: string, index: number) => Refusal,
): void {
  for (const [index, name] of toolNames(body).entries()) {
    if (!shape.test(name)) throw refusal(name, index);
  }
}

/** Throws `refusal` for a request with images, at a model that reads text alone. */
export function checkTextOnly(body: ChatBody, refusal: () => Refusal): void {
  if (partsOf(body, 'image_url').length > 0) throw refusal();
}

/** The stop sequences of a request. */
export function stopsOf({ stop }: ChatBody): readonly string[] {
  return typeof stop === 'string' ? [stop] : (stop ?? []);
}

/** Whether a tool is forced. */
export function forces(body: ChatBody): boolean {
  return forcedTool(body) !== undefined;
}

/** Throws `refusal` where the vendor wants the word in a request for JSON without a schema. */
export function checkJsonWord(body: ChatBody, refusal: () => Refusal): void {
  const wants = body.response_format?.type === 'json_object';
  if (wants && !/json/i.test(JSON.stringify(body.messages))) throw refusal();
}
