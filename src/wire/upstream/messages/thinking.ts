// Decides whether and how a Messages upstream is asked to think. Unsupported settings are omitted:
// a request without thinking is better than a refused one.

import type {
  AssistantTurn,
  GenerationRequest,
  Reasoning,
  Turn,
} from '../../../core/generation.ts';
import type { MessagesProfile } from '../../../core/profile.ts';
import { isForced } from '../../../core/tool-instruction.ts';
import type { UpstreamCall } from '../../format.ts';
import { ownThinking } from '../turn-pieces.ts';

type Thinking = {
  /** Whether this request turns thinking on. */
  readonly on: boolean;
  /** The request member that says so. */
  readonly thinking?: object;
  /** The depth, if it is set by a word. */
  readonly effort?: string;
};

/** Vendors refuse a smaller budget. */
const BUDGET_MIN = 1_024;

/** Tokens left for the answer after the thinking, if the bound allows it. */
const ANSWER_TOKENS = 1_024;

/** The newest models show their thinking only if a summary is requested. */
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

/** Requires the beta of that name; the two belong together on every turn of a conversation. */
const BINDING = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const BOUND = { ...ADAPTIVE, ...BINDING };
/** Shows nothing, as without the member. */
const UNSEEN = { type: 'adaptive', ...BINDING };
export const BINDING_BETA = 'thinking-binding-controls-2026-08-01';

const UNTOLD: Thinking = { on: false };
const OFF: Thinking = { on: false, thinking: { type: 'disabled' } };
const BETWEEN_TOOLS: Thinking = { on: true, thinking: { type: 'between_tools' } };

/** `turns` are those that will be written. */
export function decideThinking(
  request: GenerationRequest,
  turns: readonly Turn[],
  call: UpstreamCall,
  profile: MessagesProfile,
): Thinking {
  const { reasoning } = request;
  if (!call.reasons) return UNTOLD;
  if (isForced(request)) {
    if (profile.forcedChoice === 'disable_thinking') return OFF;
    if (profile.forcedChoice === 'without_thinking') {
      // With this switch, servers think by default.
      const isUnasked = reasoning === undefined && profile.thinkingSwitch !== 'type';
      return isUnasked || profile.thinkingSwitch === 'none' ? UNTOLD : OFF;
    }
  }
  const adaptive = profile.thinkingBinding === 'drop_block' ? BOUND : ADAPTIVE;
  if (reasoning === undefined) {
    return adaptive === BOUND ? { on: true, thinking: adaptive } : UNTOLD;
  }
  const depth = effortOf(reasoning, profile);
  switch (profile.thinkingSwitch) {
    case 'none':
      return UNTOLD;
    case 'type':
      if (reasoning === 'off') return OFF;
      return { on: true, thinking: { type: 'enabled' }, ...depth };
    case 'adaptive':
      if (reasoning === 'off') return thinkingOff(profile);
      return { on: true, thinking: adaptive, ...depth };
    case 'budget': {
      const budget = budgetFor(reasoning, call.maxOutputTokens, profile);
      if (budget === undefined || !mayThink(turns, call, profile)) return OFF;
      return { on: true, thinking: { type: 'enabled', budget_tokens: budget } };
    }
  }
}

/** A model that always thinks gets no switch, and its lowest depth. */
function thinkingOff(profile: MessagesProfile): Thinking {
  switch (profile.thinkingOff) {
    case 'send':
      return OFF;
    case 'lowest':
      return {
        on: true,
        ...(profile.thinkingBinding === 'drop_block' && { thinking: UNSEEN }),
        ...effortOf('off', profile),
      };
    case 'between_tools':
      return BETWEEN_TOOLS;
  }
}

function effortOf(reasoning: Reasoning, { effortWords }: MessagesProfile): { effort?: string } {
  const word = reasoning === 'on' ? '' : effortWords[reasoning];
  return word === '' ? {} : { effort: word };
}

/** Undefined if thinking is off, or the bound leaves no room for it. */
function budgetFor(
  reasoning: Reasoning,
  maxOutputTokens: number,
  { thinkingBudgets }: MessagesProfile,
): number | undefined {
  if (reasoning === 'off' || maxOutputTokens <= BUDGET_MIN) return undefined;
  // `on` requests the normal depth, which most models call high.
  const wanted = thinkingBudgets[reasoning === 'on' ? 'high' : reasoning];
  return Math.max(BUDGET_MIN, Math.min(wanted, maxOutputTokens - ANSWER_TOKENS));
}

/**
 * With a thinking budget, vendors refuse thinking for an answer that the client has begun, and for
 * a loop of tool calls that did not begin with their own thinking: that may be another upstream's,
 * lost, or absent.
 */
function mayThink(turns: readonly Turn[], call: UpstreamCall, profile: MessagesProfile): boolean {
  if (turns.at(-1)?.role === 'assistant') return false;
  if (profile.thinkingHistory !== 'signed') return true;
  const first = openLoop(turns)[0];
  return first === undefined || ownThinking(first, call).length > 0;
}

/** The assistant turns since the last user message that was more than tool results. */
function openLoop(turns: readonly Turn[]): AssistantTurn[] {
  const start = turns.findLastIndex((turn, index) => {
    return turn.role === 'user' && !isBesideResults(turns, index);
  });
  return turns.slice(start + 1).filter((turn) => turn.role === 'assistant');
}

/** Consecutive user turns become one message, including the results before them. */
function isBesideResults(turns: readonly Turn[], index: number): boolean {
  return turns.slice(0, index).findLast((turn) => turn.role !== 'user')?.role === 'tool';
}
