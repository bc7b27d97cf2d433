// Turns a client's list of messages into turns that every upstream takes: one system prompt, each
// tool result right behind its call, no call without a result. Both formats' `parse` call it.
// It must never lose a text, and never rewrite turns that an answer has already followed: prompt
// prefixes are cached upstream, byte by byte.

import type { TextPart, ToolTurn, Turn } from '../core/generation.ts';

/** Stands in a tool result, which can only be text, for an image that a user turn carries on. */
export const TOOL_IMAGE_MARK = '[An image of this result follows in the next user message.]';

const UNANSWERED = 'This tool call was not answered.';
const UNMATCHED = 'Result of a tool call that does not precede it in this conversation:';

/** What has come since an assistant turn with tool calls, until anything but a result ends it. */
type Exchange = {
  readonly ids: readonly string[];
  /** How many calls of each id have no result yet: some upstreams number every call alike. */
  readonly unanswered: Map<string, number>;
  readonly results: ToolTurn[];
  readonly unmatched: string[];
};

/**
 * The system prompt and the turns of a conversation. System entries at the head join the prompt; a
 * later one stays where it is, but never between a call and its results. A result without a call
 * becomes user text; a call without a result gets one that says so, except at the very end. When the
 * list is continued by an assistant turn, the turns that it gave before stay as they were.
 */
export function assembleTurns(entries: readonly Turn[]): { system: string; turns: Turn[] } {
  const turns: Turn[] = [];
  const head: string[] = [];
  /** Texts for the front of the next user turn; without one they become a user turn. */
  let leading: string[] = [];
  let exchange: Exchange | undefined;

  const closeExchange = (): void => {
    if (exchange === undefined) return;
    turns.push(...exchange.results, ...missingResults(exchange));
    leading.push(...exchange.unmatched);
    exchange = undefined;
  };
  const flushLeading = (): void => {
    if (leading.length > 0) turns.push({ role: 'user', parts: leading.map(textPart) });
    leading = [];
  };

  for (const entry of resultsFirst(entries)) {
    switch (entry.role) {
      case 'system': {
        if (entry.text === '') break;
        closeExchange();
        if (leading.length > 0) leading.push(entry.text);
        else if (turns.length === 0) head.push(entry.text);
        else turns.push(entry);
        break;
      }
      case 'user':
        closeExchange();
        turns.push({ ...entry, parts: [...leading.map(textPart), ...entry.parts] });
        leading = [];
        break;
      case 'assistant':
        closeExchange();
        flushLeading();
        turns.push(entry);
        if (entry.toolCalls.length > 0) exchange = openExchange(entry.toolCalls);
        break;
      case 'tool':
        if (exchange === undefined) leading.push(unmatchedText(entry));
        else if (takeOne(exchange.unanswered, entry.toolCallId)) exchange.results.push(entry);
        else exchange.unmatched.push(unmatchedText(entry));
        break;
    }
  }
  if (exchange !== undefined && !isUntouched(exchange)) closeExchange();
  flushLeading();
  return { system: head.join('\n\n'), turns };
}

/**
 * The same entries, of those behind an assistant turn with tool calls the results first: clients put
 * a picture, or a word of their own, between one result and the next.
 */
function resultsFirst(entries: readonly Turn[]): Turn[] {
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

/** Nothing follows the calls: the conversation ends with them, and they may stay open. */
function isUntouched(exchange: Exchange): boolean {
  return exchange.results.length === 0 && exchange.unmatched.length === 0;
}

/** In the order of the calls; of calls with the same id the first ones count as answered. */
function missingResults({ ids, unanswered }: Exchange): ToolTurn[] {
  const missing = ids.toReversed().filter((id) => takeOne(unanswered, id));
  return missing.reverse().map((toolCallId) => {
    return { role: 'tool', toolCallId, text: UNANSWERED, isError: true };
  });
}

function unmatchedText(turn: ToolTurn): string {
  return `${UNMATCHED}\n${turn.text}`;
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
