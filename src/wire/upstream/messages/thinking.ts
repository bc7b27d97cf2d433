// Whether a Messages upstream is asked to think, and how it is told. Called by the request writer.
// What cannot be asked for is left out: a request without thinking is better than a refused one.

import type {
  AssistantTurn,
  GenerationRequest,
  Reasoning,
  Turn,
} from '../../../core/generation.ts';
import type { MessagesProfile } from '../../../core/profile.ts';
import type { UpstreamCall } from '../../format.ts';

type Thinking = {
  /** Whether this request asks for thinking. */
  readonly on: boolean;
  /** The member of the request that says so. */
  readonly thinking?: object;
  /** How deep, where that is said by a word. */
  readonly effort?: string;
};

/** Vendors refuse a smaller budget. */
const BUDGET_MIN = 1_024;

/** What a budget leaves for the answer behind the thinking, where the bound allows it. */
const ANSWER_TOKENS = 1_024;

/** The newest models show nothing of their thinking unless they are asked for a summary. */
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

const UNTOLD: Thinking = { on: false };
const OFF: Thinking = { on: false, thinking: { type: 'disabled' } };

/** `turns` are those that will be written. */
export function decideThinking(
  request: GenerationRequest,
  turns: readonly Turn[],
  call: UpstreamCall,
  profile: MessagesProfile,
): Thinking {
  const { reasoning } = request;
  if (!call.reasons) return UNTOLD;
  if (isForced(request) && profile.forcedChoice === 'without_thinking') {
    // Where the type is the switch, servers think unasked.
    const isUnasked = reasoning === undefined && profile.thinkingSwitch !== 'type';
    return isUnasked || profile.thinkingSwitch === 'none' ? UNTOLD : OFF;
  }
  if (reasoning === undefined) return UNTOLD;
  const depth = reasoning === 'on' || reasoning === 'off' ? {} : { effort: reasoning };
  switch (profile.thinkingSwitch) {
    case 'none':
      return UNTOLD;
    case 'type':
      if (reasoning === 'off') return OFF;
      return { on: true, thinking: { type: 'enabled' }, ...depth };
    case 'adaptive':
      if (reasoning === 'off') return OFF;
      return { on: true, thinking: ADAPTIVE, ...depth };
    case 'budget': {
      const budget = budgetFor(reasoning, call.maxOutputTokens, profile);
      if (budget === undefined || !mayThink(turns, call, profile)) return OFF;
      return { on: true, thinking: { type: 'enabled', budget_tokens: budget } };
    }
  }
}

function isForced({ toolChoice, tools }: GenerationRequest): boolean {
  return tools.length > 0 && (toolChoice?.kind === 'tool' || toolChoice?.kind === 'required');
}

/** The blocks of a turn's thinking that this upstream has signed. */
export function ownThinking(turn: AssistantTurn, call: UpstreamCall) {
  return turn.signed?.upstream === call.upstream ? turn.signed.blocks : [];
}

/** Undefined where there shall be no thinking, or the bound leaves no room for any. */
function budgetFor(
  reasoning: Reasoning,
  maxOutputTokens: number,
  { thinkingBudgets }: MessagesProfile,
): number | undefined {
  if (reasoning === 'off' || maxOutputTokens <= BUDGET_MIN) return undefined;
  // `on` asks for the usual depth, which is what most models call high.
  const wanted = thinkingBudgets[reasoning === 'on' ? 'high' : reasoning];
  return Math.max(BUDGET_MIN, Math.min(wanted, maxOutputTokens - ANSWER_TOKENS));
}

/**
 * Where thinking has a budget, vendors refuse it for an answer that the client has begun, and for a
 * loop of tool calls that did not begin with thinking of their own: it may be another upstream's,
 * be lost, or never have been.
 */
function mayThink(turns: readonly Turn[], call: UpstreamCall, profile: MessagesProfile): boolean {
  if (turns.at(-1)?.role === 'assistant') return false;
  if (profile.thinkingHistory !== 'signed') return true;
  const first = openLoop(turns)[0];
  return first === undefined || ownThinking(first, call).length > 0;
}

/** The assistant turns since the user last said something that was not beside tool results. */
function openLoop(turns: readonly Turn[]): AssistantTurn[] {
  const start = turns.findLastIndex((turn, index) => {
    return turn.role === 'user' && !isBesideResults(turns, index);
  });
  return turns.slice(start + 1).filter((turn) => turn.role === 'assistant');
}

/** Turns of the user in a row become one message, and so do the results before them. */
function isBesideResults(turns: readonly Turn[], index: number): boolean {
  return turns.slice(0, index).findLast((turn) => turn.role !== 'user')?.role === 'tool';
}
