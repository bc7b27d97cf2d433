// Shortens the names of tools that an upstream would refuse, and restores them in its answers.
// Clients use up to 128 characters, with any separators; agents build names from those of servers.
// One refused name fails every request of a conversation.

import { isFailure, type UpstreamFailure } from '../../core/failure.ts';
import type { Answer, GenerationEvent, GenerationRequest } from '../../core/generation.ts';
import type { StreamDecoder, UpstreamCall, UpstreamDialect } from '../format.ts';
import { digest } from './tool-id.ts';

/** OpenAI, DeepSeek, DashScope and Gemini; a server that takes more loses nothing. */
export const CHAT_NAMES = /^[A-Za-z0-9_-]{1,64}$/;
/** Anthropic. */
export const MESSAGES_NAMES = /^[A-Za-z0-9_-]{1,128}$/;

const SHORT_LENGTH_MAX = 64;
/** Some 65 bits: no two of the names in a request are the same. */
const DIGEST_LENGTH = 11;

/** Sends only names that match `taken`. The same name is always shortened in the same way. */
export function withToolNames(dialect: UpstreamDialect, taken: RegExp): UpstreamDialect {
  return new ShortNames(dialect, taken);
}

class ShortNames implements UpstreamDialect {
  readonly #dialect: UpstreamDialect;
  readonly #taken: RegExp;
  /** The client's names by the shortened ones. */
  #given: Map<string, string> | undefined;

  constructor(dialect: UpstreamDialect, taken: RegExp) {
    this.#dialect = dialect;
    this.#taken = taken;
  }

  path(call: UpstreamCall): string {
    return this.#dialect.path(call);
  }

  headers(apiKey: string): Readonly<Record<string, string>> {
    return this.#dialect.headers(apiKey);
  }

  request(request: GenerationRequest, call: UpstreamCall): string | UpstreamFailure {
    return this.#dialect.request(this.#isTaken(request) ? request : this.#shorten(request), call);
  }

  response(body: string): Answer | UpstreamFailure {
    const answer = this.#dialect.response(body);
    if (this.#given === undefined || isFailure(answer)) return answer;
    return { ...answer, toolCalls: answer.toolCalls.map((call) => this.#restore(call)) };
  }

  stream(onEvent: (event: GenerationEvent) => void): StreamDecoder {
    if (this.#given === undefined) return this.#dialect.stream(onEvent);
    return this.#dialect.stream((event) =>
      onEvent(event.kind === 'tool-start' ? this.#restore(event) : event),
    );
  }

  failure(status: number, body: string): UpstreamFailure {
    return this.#dialect.failure(status, body);
  }

  #isTaken({ tools, turns }: GenerationRequest): boolean {
    for (const { name } of tools) if (!this.#taken.test(name)) return false;
    for (const turn of turns) {
      if (turn.role !== 'assistant') continue;
      for (const { name } of turn.toolCalls) if (!this.#taken.test(name)) return false;
    }
    return true;
  }

  #shorten(request: GenerationRequest): GenerationRequest {
    const named = <Named extends { readonly name: string }>(value: Named): Named => ({
      ...value,
      name: this.#short(value.name),
    });
    const { tools, turns, toolChoice } = request;
    return {
      ...request,
      tools: tools.map(named),
      turns: turns.map((turn) =>
        turn.role === 'assistant' ? { ...turn, toolCalls: turn.toolCalls.map(named) } : turn,
      ),
      ...(toolChoice?.kind === 'tool' && { toolChoice: named(toolChoice) }),
    };
  }

  #short(name: string): string {
    if (this.#taken.test(name)) return name;
    const kept = name
      .replace(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, SHORT_LENGTH_MAX - DIGEST_LENGTH - 1);
    const short = `${kept}_${digest(name, DIGEST_LENGTH)}`;
    this.#given ??= new Map();
    this.#given.set(short, name);
    return short;
  }

  #restore<Named extends { readonly name: string }>(value: Named): Named {
    const name = this.#given?.get(value.name);
    return name === undefined ? value : { ...value, name };
  }
}
