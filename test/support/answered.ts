// One request of any format, whole or streamed, and its answer in one shape.

import { type AnswerContent, readAnswerContent, usageIn } from './answer.ts';
import { type Caller, type EveryFormat, generate, generateStream } from './client.ts';

type Json = Readonly<Record<string, unknown>>;

export type Answered = {
  readonly status: number;
  readonly headers: Headers;
  readonly said: AnswerContent;
  /** The stop sequence that a Messages answer names. */
  readonly sequence: unknown;
  /** With the bill in it. */
  readonly usage: Json;
  /** The last event that has the end of the bill; the body of a whole answer. */
  readonly last: Json;
};

const NOTHING: AnswerContent = { reasoning: '', text: '', calls: [], reason: undefined };

export async function ask(
  caller: Caller,
  format: EveryFormat,
  stream: boolean,
  model: string,
  more: Json = {},
): Promise<Answered> {
  if (!stream) {
    const { status, headers, json } = await generate(caller, format, model, more);
    const said = status === 200 ? readAnswerContent(format, JSON.stringify(json)) : NOTHING;
    const usage = (json['usage'] ?? {}) as Json;
    return { status, headers, said, sequence: json['stop_sequence'] ?? null, usage, last: json };
  }
  const { status, headers, events } = await generateStream(caller, format, model, more);
  const all = events.flatMap(({ json }): Json[] => (json === undefined ? [] : [json]));
  const usage = all.map(usageIn).findLast(Boolean) ?? {};
  const said = readAnswerContent(format, events.map(({ data }) => `data: ${data}\n\n`).join(''));
  const deltas = all.map((json) => (json['delta'] ?? {}) as Json);
  const sequence = deltas.map((delta) => delta['stop_sequence']).findLast(Boolean) ?? null;
  return {
    status,
    headers,
    said,
    sequence,
    usage,
    last: (format === 'chat' ? all.at(-1) : usage) ?? {},
  };
}
