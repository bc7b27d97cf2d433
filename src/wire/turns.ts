// Normalizes a client's messages into turns that every upstream accepts: one system prompt, each
// tool result directly after its call, no call without a result. It must never lose text, and never
// rewrite turns that an answer has already followed, because upstreams cache prompt prefixes.

import { type GatewayError, invalidRequest } from '../core/error.ts';
import type { SystemTurn, TextPart, ToolTurn, Turn, UserTurn } from '../core/generation.ts';
import { CALLS_MAX, IMAGES_MAX } from './limits.ts';

/** Replaces an image in a tool result, which can only be text; a user turn carries the image. */
export const TOOL_IMAGE_MARK = '[An image of this result follows in the next user message.]';

const UNANSWERED = 'This tool call was not answered.';
const UNMATCHED = 'Result of a tool call that does not precede it in this conversation:';

/** The entries since an assistant turn with tool calls, until anything but a result ends it. */
type Exchange = {
  readonly ids: readonly string[];
  /** The number of calls per id without a result: some upstreams reuse ids. */
  readonly unanswered: Map<string, number>;
  readonly results: ToolTurn[];
  readonly unmatched: TextPart[];
};

/**
 * The system prompt and the turns of a conversation. Leading system entries join the prompt; a
 * later one stays in place, but never between a call and its results. A result without a call
 * becomes user text. A call without a result gets one that says so, except at the very end.
 * Appending an assistant turn to the list leaves the earlier turns unchanged.
 * `field` is the one that refusals name.
 */
export function assembleTurns(entries: readonly Turn[], field = 'messages'): Assembled {
  requireFew(entries, field);
  const assembly = new Assembly();
  for (const entry of resultsFirst(entries)) assembly.add(entry);
  return assembly.end();
}

/** Throws if the writers of an upstream's request would take too long. */
function requireFew(entries: readonly Turn[], field: string): void {
  let images = 0;
  let calls = 0;
  for (const entry of entries) {
    if (entry.role === 'assistant') calls += entry.toolCalls.length;
    if (entry.role !== 'user') continue;
    for (const part of entry.parts) if (part.kind === 'image') images += 1;
  }
  if (images > IMAGES_MAX) throw tooMany(field, images, 'images', IMAGES_MAX);
  if (calls > CALLS_MAX) throw tooMany(field, calls, 'tool calls', CALLS_MAX);
}

function tooMany(field: string, count: number, what: string, most: number): GatewayError {
  return invalidRequest(field, `has ${count} ${what}; at most ${most} are allowed`);
}

type Assembled = { readonly system: string; readonly turns: readonly Turn[] };

class Assembly {
  private system = '';
  private readonly turns: Turn[] = [];
  /** Parts for the start of the next user turn; if there is none, they become one. */
  private leading: TextPart[] = [];
  private exchange: Exchange | undefined;

  add(entry: Turn): void {
    switch (entry.role) {
      case 'system':
        if (entry.text !== '') this.addSystem(entry);
        break;
      case 'user':
        this.closeExchange();
        this.turns.push(this.withLeading(entry));
        break;
      case 'assistant':
        this.closeExchange();
        this.flushLeading();
        this.turns.push(entry);
        if (entry.toolCalls.length > 0) this.exchange = openExchange(entry.toolCalls);
        break;
      case 'tool':
        this.addResult(entry);
        break;
    }
  }

  end(): Assembled {
    if (this.exchange !== undefined && !isUntouched(this.exchange)) this.closeExchange();
    this.flushLeading();
    return { system: this.system, turns: this.turns };
  }

  private addSystem(entry: SystemTurn): void {
    this.closeExchange();
    if (this.leading.length > 0) this.leading.push(textPart(entry.text));
    else if (this.turns.length > 0) this.turns.push(entry);
    else this.system = this.system === '' ? entry.text : `${this.system}\n\n${entry.text}`;
  }

  private addResult(entry: ToolTurn): void {
    const { exchange } = this;
    if (exchange === undefined) this.leading.push(unmatched(entry));
    else if (takeOne(exchange.unanswered, entry.toolCallId)) exchange.results.push(entry);
    else exchange.unmatched.push(unmatched(entry));
  }

  private closeExchange(): void {
    if (this.exchange === undefined) return;
    this.turns.push(...this.exchange.results, ...missingResults(this.exchange));
    this.leading.push(...this.exchange.unmatched);
    this.exchange = undefined;
  }

  private withLeading(entry: UserTurn): UserTurn {
    if (this.leading.length === 0) return entry;
    const parts = [...this.leading, ...entry.parts];
    this.leading = [];
    return { ...entry, parts };
  }

  private flushLeading(): void {
    if (this.leading.length === 0) return;
    this.turns.push({ role: 'user', parts: this.leading });
    this.leading = [];
  }
}

/**
 * Moves results to the front after an assistant turn with tool calls: clients insert images or text
 * of their own between results.
 */
function resultsFirst(entries: readonly Turn[]): readonly Turn[] {
  if (!entries.some(({ role }) => role === 'tool')) return entries;
  const ordered: Turn[] = [];
  let others: Turn[] = [];
  let hasCalls = false;
  for (const entry of entries) {
    if (entry.role === 'assistant') {
      ordered.push(...others, entry);
      others = [];
      hasCalls = entry.toolCalls.length > 0;
    } else if (hasCalls && entry.role !== 'tool') {
      others.push(entry);
    } else {
      ordered.push(entry);
    }
  }
  return [...ordered, ...others];
}

function openExchange(calls: readonly { readonly id: string }[]): Exchange {
  const ids = calls.map((call) => call.id);
  const unanswered = new Map<string, number>();
  for (const id of ids) unanswered.set(id, (unanswered.get(id) ?? 0) + 1);
  return { ids, unanswered, results: [], unmatched: [] };
}

/** Whether the conversation ends with the calls, which may then stay open. */
function isUntouched(exchange: Exchange): boolean {
  return exchange.results.length === 0 && exchange.unmatched.length === 0;
}

/** In the order of the calls; of calls with the same id, the first ones count as answered. */
function missingResults({ ids, unanswered }: Exchange): ToolTurn[] {
  const missing = ids.toReversed().filter((id) => takeOne(unanswered, id));
  return missing.reverse().map(missingResult);
}

/** The result of a call that has none. */
export function missingResult(toolCallId: string): ToolTurn {
  return { role: 'tool', toolCallId, text: UNANSWERED, isError: true };
}

function unmatched(turn: ToolTurn): TextPart {
  return textPart(`${UNMATCHED}\n${turn.text}`);
}

export function textPart(text: string): TextPart {
  return { kind: 'text', text };
}

function takeOne(counts: Map<string, number>, id: string): boolean {
  const count = counts.get(id) ?? 0;
  if (count === 0) return false;
  counts.set(id, count - 1);
  return true;
}
