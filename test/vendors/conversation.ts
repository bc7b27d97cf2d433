// A client's conversation in any format. It returns every assistant turn as it came, with all of its
// thinking, as the formats want it.

import { type AnswerContent, readAnswerContent } from '../support/answer.ts';
import { type Caller, type EveryFormat, PATHS, post } from '../support/client.ts';
import { answerTurns } from './assistant-turn.ts';
import type { Json } from './stand-ins/server.ts';

export type Tool = { readonly name: string; readonly schema?: Json };

export type Options = {
  readonly stream?: boolean;
  readonly tools?: readonly Tool[];
  /** A tool's name, `any` or `none`. */
  readonly force?: string;
  /** Members of the request's body. */
  readonly more?: Json;
  readonly signal?: AbortSignal;
};

export type Reply = {
  readonly status: number;
  readonly text: string;
  readonly said: AnswerContent;
  /** The thinking, text and calls as the client returns them. */
  readonly turns: readonly Json[];
};

/** The answer was not a 200; the message has the status and the error. */
export class Unserved extends Error {
  readonly status: number;
  readonly error: Json;

  constructor(status: number, text: string) {
    const error = errorIn(text);
    super(`${status} ${error['code']}: ${error['message']}`);
    this.status = status;
    this.error = error;
  }
}

function errorIn(text: string): Json {
  return text.startsWith('{') ? ((JSON.parse(text) as Json)['error'] as Json) : {};
}

function withoutThinking({ reasoning_content: _, content, ...turn }: Json): Json | undefined {
  if (turn['type'] === 'reasoning') return undefined;
  if (content === undefined) return turn;
  if (!Array.isArray(content)) return { ...turn, content };
  return { ...turn, content: content.filter(({ type }) => type !== 'thinking') };
}

export class Conversation {
  readonly format: EveryFormat;
  readonly #caller: Caller;
  readonly #model: string;
  readonly #turns: Json[] = [];
  #system: readonly Json[] | undefined;
  #keepsThinking = true;

  constructor(format: EveryFormat, caller: Caller, model: string) {
    this.format = format;
    this.#caller = caller;
    this.#model = model;
  }

  /** Sets the system prompt, with the cache mark that agents set in the Messages format. */
  system(text: string): this {
    if (this.format !== 'messages') this.#turns.unshift({ role: 'system', content: text });
    else this.#system = [{ type: 'text', text, cache_control: { type: 'ephemeral' } }];
    return this;
  }

  /** Drops the thinking of every turn with calls, as many clients do. */
  loseThinking(): this {
    this.#keepsThinking = false;
    return this;
  }

  /** Adds a user turn: a text, or parts of the format. */
  user(content: string | readonly Json[]): this {
    this.#turns.push({ role: 'user', content });
    return this;
  }

  /** Adds the beginning of the answer. */
  begin(content: string): this {
    this.#turns.push({ role: 'assistant', content });
    return this;
  }

  /** Adds the last answer and the results of its calls. */
  returnResults({ said, turns }: Reply, text = '{"degrees":21}'): this {
    const kept = this.#keepsThinking
      ? turns
      : turns.flatMap<Json>((turn) => withoutThinking(turn) ?? []);
    this.#turns.push(...kept);
    if (this.format !== 'messages') {
      for (const { id } of said.calls) {
        this.#turns.push(
          this.format === 'chat'
            ? { role: 'tool', tool_call_id: id, content: text }
            : { type: 'function_call_output', call_id: id, output: text },
        );
      }
      return this;
    }
    const results = said.calls.map(({ id }) => {
      return { type: 'tool_result', tool_use_id: id, content: text };
    });
    this.#turns.push({ role: 'user', content: results });
    return this;
  }

  /** Adds the last answer. */
  keep({ turns }: Reply): this {
    this.#turns.push(...turns);
    return this;
  }

  /** Sends the request and returns the response unread. */
  async open({ stream = false, tools, force, more, signal }: Options = {}): Promise<Response> {
    const body = {
      model: this.#model,
      [this.format === 'responses' ? 'input' : 'messages']: this.#turns,
      stream,
      ...(this.format === 'messages' ? { max_tokens: 8_000 } : {}),
      ...(this.#system === undefined ? {} : { system: this.#system }),
      ...(tools === undefined ? {} : { tools: tools.map((tool) => this.#toolOf(tool)) }),
      ...(force === undefined ? {} : { tool_choice: this.#choiceOf(force) }),
      ...more,
    };
    const init = signal === undefined ? {} : { signal };
    return post(this.#caller, PATHS[this.format], body, init);
  }

  /** Sends the request and reads the answer; throws `Unserved` for another status than 200. */
  async send(options: Options = {}): Promise<Reply> {
    const response = await this.open(options);
    const text = await response.text();
    if (response.status !== 200) throw new Unserved(response.status, text);
    const said = readAnswerContent(this.format, text);
    return { status: response.status, text, said, turns: answerTurns(this.format, text) };
  }

  #toolOf({ name, schema }: Tool): Json {
    const description = 'Looks something up.';
    if (this.format === 'messages') {
      return { name, description, input_schema: schema ?? { type: 'object' } };
    }
    const parameters = schema === undefined ? {} : { parameters: schema };
    const declared = { name, description, ...parameters };
    if (this.format === 'responses') return { type: 'function', ...declared };
    return { type: 'function', function: declared };
  }

  #choiceOf(force: string): unknown {
    if (this.format === 'messages') {
      return ['any', 'none'].includes(force) ? { type: force } : { type: 'tool', name: force };
    }
    if (force === 'none') return force;
    if (force === 'any') return 'required';
    if (this.format === 'responses') return { type: 'function', name: force };
    return { type: 'function', function: { name: force } };
  }
}
