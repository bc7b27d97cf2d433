// Reads what an error says into three fields, of any shape: an object of OpenAI's or
// Anthropic's form, a text, a list of FastAPI's, or a web page. Still with the caller's words.

import type { UpstreamSaid } from '../../core/failure.ts';
import { isObject } from '../../core/json.ts';
import type { WroteWords } from './callers-words.ts';
import { toList, toObject } from './narrow.ts';

/** What is examined further; messages are shown much shorter. */
const LENGTH_MAX = 2_000;

/** How errors without a parameter of their own name one: OpenAI's form, Anthropic's, LiteLLM's. */
const PARAMETER_WORDS =
  /(?:unsupported|unknown|unrecognized|invalid) (?:parameter|argument)s?:? ['"`]?([a-z_.]{4,40})['"`]?|^((?:max_tokens|thinking|temperature|top_p|tools|tool_choice|stop_sequences|output_config)[a-z_.]{0,40}): /gi;

/** The fields of a parsed error, or of a text. A parameter may also be named by the message, if not by the caller. */
export function readSaid(error: unknown, wrote: WroteWords): UpstreamSaid {
  const said = fieldsOf(error);
  if (said.message === undefined || said.param !== undefined) return said;
  for (const [words, listed, first] of said.message.matchAll(PARAMETER_WORDS)) {
    const param = listed ?? first;
    if (param !== undefined && !wrote(words)) return { ...said, param };
  }
  return said;
}

function fieldsOf(error: unknown): UpstreamSaid {
  // FastAPI lists what it rejects, with the value beside it.
  const first = Array.isArray(error) ? error[0] : error;
  if (typeof first === 'string') return { message: textOf(first) };
  const fields = toObject(first);
  const { code, type, param, loc, message, msg, detail, errors, error: text } = fields;
  const nested = [detail, errors].find((value) => isObject(value) || Array.isArray(value));
  if (nested !== undefined && message === undefined) return fieldsOf(nested);
  return {
    // A number repeats the status.
    code: [code, type, fields['status']].map(textOf).find((word) => /[^\d.]/.test(word ?? '')),
    // `{"loc": ["body", "max_tokens"]}` is the parameter `max_tokens`.
    param:
      textOf(param) ??
      textOf(
        toList(loc)
          .filter((part) => part !== 'body')
          .join('.'),
      ),
    message: [message, msg, detail, text, fields['status_msg']].map(textOf).find(Boolean),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value.slice(0, LENGTH_MAX) : undefined;
}
