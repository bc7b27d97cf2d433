// Turns a client's list of messages into turns that every upstream takes: one system prompt, each
// tool result right behind its call, no call without a result. Both formats' `parse` call it.
// It must never lose a text, and never rewrite turns that an answer has already followed: prompt
// prefixes are cached upstream, byte by byte.

import type { TextPart, ToolTurn, Turn, UserTurn } from '../core/generation.ts';

export type Entry = Turn | { readonly role: 'system'; readonly text: string };

const UNANSWERED = 'This tool call was not answered.';
const UNMATCHED = 'Result of a tool call that does not precede it in this conversation:';

/** What has come since an assistant turn with tool calls, until a user or assistant turn ends it. */
type Exchange = {
  /** Ids of calls without a result yet. Not a set: some upstreams number every call alike. */
  readonly openIds: string[];
  readonly results: ToolTurn[];
  readonly systemTexts: string[];
  readonly unmatched: string[];
};

/**
 * The system prompt and the turns of a conversation. System entries at the head join the prompt;
 * a later one is folded into its neighbour, and never becomes a user turn between a call and its
 * results. A result without a call becomes user text; a call without a result gets one that says
 * so, except at the very end. When the list is continued by an assistant turn, the turns that it
 * gave before stay as they were.
 */
export function assembleTurns(entries: readonly Entry[]): { system: string; turns: Turn[] } {
  const turns: Turn[] = [];
  const head: string[] = [];
  /** Texts for the front of the next user turn; without one they become a user turn. */
  let leading: string[] = [];
  let exchange: Exchange | undefined;

  const closeExchange = (): void => {
    if (exchange === undefined) return;
    turns.push(...closedResults(exchange));
    leading.push(...exchange.unmatched);
    exchange = undefined;
  };
  const flushLeading = (): void => {
    if (leading.length > 0) turns.push({ role: 'user', parts: leading.map(textPart) });
    leading = [];
  };

  for (const entry of entries) {
    switch (entry.role) {
      case 'system': {
        if (entry.text === '') break;
        const last = turns.at(-1);
        if (exchange !== undefined) exchange.systemTexts.push(entry.text);
        else if (leading.length > 0) leading.push(entry.text);
        else if (last === undefined) head.push(entry.text);
        else if (last.role === 'user') turns[turns.length - 1] = withText(last, entry.text);
        else leading.push(entry.text);
        break;
      }
      case 'user':
        closeExchange();
        turns.push({ role: 'user', parts: [...leading.map(textPart), ...entry.parts] });
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
        else if (takeOut(exchange.openIds, entry.toolCallId)) exchange.results.push(entry);
        else exchange.unmatched.push(unmatchedText(entry));
        break;
    }
  }
  if (exchange !== undefined && !isUntouched(exchange)) closeExchange();
  flushLeading();
  return { system: head.join('\n\n'), turns };
}

function openExchange(calls: readonly { readonly id: string }[]): Exchange {
  return { openIds: calls.map((call) => call.id), results: [], systemTexts: [], unmatched: [] };
}

/** Nothing follows the calls: the conversation ends with them, and they may stay open. */
function isUntouched(exchange: Exchange): boolean {
  return (
    exchange.results.length === 0 &&
    exchange.systemTexts.length === 0 &&
    exchange.unmatched.length === 0
  );
}

function closedResults(exchange: Exchange): ToolTurn[] {
  const missing = exchange.openIds.map(
    (toolCallId): ToolTurn => ({ role: 'tool', toolCallId, text: UNANSWERED, isError: true }),
  );
  const results = [...exchange.results, ...missing];
  const last = results.pop();
  if (last === undefined) return results;
  return [...results, { ...last, text: joined([last.text, ...exchange.systemTexts]) }];
}

function withText(turn: UserTurn, text: string): UserTurn {
  const last = turn.parts.at(-1);
  if (last?.kind !== 'text') return { role: 'user', parts: [...turn.parts, textPart(text)] };
  return { role: 'user', parts: [...turn.parts.slice(0, -1), textPart(joined([last.text, text]))] };
}

function unmatchedText(turn: ToolTurn): string {
  return `${UNMATCHED}\n${turn.text}`;
}

function textPart(text: string): TextPart {
  return { kind: 'text', text };
}

function joined(texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join('\n\n');
}

function takeOut(ids: string[], id: string): boolean {
  const index = ids.indexOf(id);
  if (index === -1) return false;
  ids.splice(index, 1);
  return true;
}
