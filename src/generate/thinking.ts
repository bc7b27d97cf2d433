// Decides when thinking is stored and when it is restored, for the pipeline and count_tokens.
// Reasoning models refuse a tool turn without the thinking that led to it, and many clients drop
// it. No client can know the form that an upstream has signed.

import type { Awaitable } from '../async/awaitable.ts';
import { withTimeout } from '../async/timeout.ts';
import type {
  AssistantTurn,
  FinishReason,
  GenerationEvent,
  GenerationRequest,
  ThinkingBlock,
  Turn,
} from '../core/generation.ts';
import type { Catalog, Model } from '../core/model.ts';
import type { UpstreamProfile } from '../core/profile.ts';
import type { Candidate } from '../core/route.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import { LookupBudget, lookupsOf, precedingDigests } from '../reasoning/lookup.ts';
import type { ReasoningStore } from '../reasoning/reasoning.ts';
import { isWholeJson } from '../wire/tool-input.ts';

/** In UTF-16 units, as much as a request body could carry. Longer thinking is not stored either. */
const RESTORED_LENGTH_MAX = 2_097_152;
const THINKING_LENGTH_MAX = 262_144;

/** Pieces joined at once. One string per token would use too much memory. */
const PIECES_MAX = 64;

/** The forms in which a model's upstreams accept earlier thinking. */
type Forms = { readonly text: boolean; readonly signed: boolean };

/** The key of a lookup in the store. */
type ThinkingQuery = {
  readonly facts: Pick<KeyFacts, 'accountId'>;
  readonly request: GenerationRequest;
  readonly catalog: Catalog;
  readonly model: Model;
};

/** The store; absent if it is disabled. */
type Dependencies = { readonly reasoning: ReasoningStore | undefined };

/**
 * Restores the thinking that the client dropped in turns with tool calls, as far as an upstream
 * accepts it. Text that the client did send stays, since it may have been edited. The last turns
 * come first, because upstreams insist on those. `claim` may refuse the lookups before the first one.
 */
export function restoreThinking(
  { reasoning: store }: Dependencies,
  query: ThinkingQuery,
  claim: (lookups: number) => void = () => {},
): Awaitable<GenerationRequest> {
  const { request, catalog, model } = query;
  if (store === undefined || !request.turns.some(hasCalls)) return request;
  const forms = formsTaken(request, catalog, model);
  return forms === undefined ? request : restoreFrom(store, query, forms, claim);
}

async function restoreFrom(
  store: ReasoningStore,
  { facts, request }: ThinkingQuery,
  forms: Forms,
  claim: (lookups: number) => void,
): Promise<GenerationRequest> {
  claim(lookupsOf(request.turns.filter((turn) => lacksThinking(turn, forms))));
  const { accountId } = facts;
  const preceding = precedingDigests(request);
  const budget = new LookupBudget();
  const turns = [...request.turns];
  let room = RESTORED_LENGTH_MAX;
  let isRefused = false;
  for (let at = turns.length - 1; at >= 0 && room > 0; at -= 1) {
    const turn = turns[at];
    if (turn === undefined || !lacksThinking(turn, forms)) continue;
    const { toolCalls } = turn;
    const found = await store.find({
      accountId,
      toolCalls,
      preceding: () => preceding(at),
      budget,
    });
    if (found === undefined) continue;
    const { reasoning, signed } = found;
    room -= reasoning.length + signedLength(signed?.blocks ?? []);
    turns[at] = {
      ...turn,
      reasoning: reasoning.startsWith(turn.reasoning) ? reasoning : turn.reasoning,
      ...(signed === undefined || isRefused ? {} : { signed }),
    };
    // What its upstream has refused once, it would refuse on every later turn.
    isRefused ||= signed?.restarts === true;
  }
  return { ...request, turns };
}

function signedLength(blocks: readonly ThinkingBlock[]): number {
  return blocks.reduce((sum, block) => sum + JSON.stringify(block).length, 0);
}

type ServingAttempt = {
  readonly candidate: Pick<Candidate, 'upstream' | 'upstreamModel'>;
  readonly droppedThinking?: () => boolean;
};

export type ThinkingRecorder = {
  readonly push: (event: GenerationEvent) => void;
  /**
   * Stores the thinking of the answer that has passed, if it is complete and led to a tool call.
   */
  readonly keep: (attempt: ServingAttempt) => Awaitable<void>;
};

/** How long an answer waits for its thinking to be stored. A stalled database stores it later. */
const KEEP_MS = 1_000;

const NO_RECORDER: ThinkingRecorder = { push: () => {}, keep: () => {} };

/** Follows one answer: pass it every event, then call `keep`. */
export function recordThinking(
  { reasoning: store }: Dependencies,
  { facts, request, catalog, model }: ThinkingQuery,
): ThinkingRecorder {
  if (store === undefined || request.tools.length === 0) return NO_RECORDER;
  const forms = formsTaken(request, catalog, model);
  if (forms === undefined) return NO_RECORDER;
  const thinking = createGrowingText();
  const callArguments = createGrowingText();
  let call: { readonly id: string; readonly name: string } | undefined;
  let blocks: readonly ThinkingBlock[] | undefined;
  let finish: FinishReason | undefined;
  return {
    push(event) {
      if (event.kind === 'reasoning-delta') {
        if (thinking.length() <= THINKING_LENGTH_MAX) thinking.add(event.text);
      } else if (event.kind === 'tool-start') {
        if (event.index === 0) call = event;
      } else if (event.kind === 'tool-delta') {
        if (event.index === 0) callArguments.add(event.json);
      } else if (event.kind === 'finish') {
        blocks = event.thinking;
        finish = event.reason;
      }
    },
    async keep(attempt) {
      if (call === undefined || finish === undefined) return;
      if (thinking.length() > THINKING_LENGTH_MAX) return;
      const written = callArguments.text();
      // A truncated call cannot be answered, so this turn will not come back.
      if (finish === 'length' && !isWholeJson(written)) return;
      const reasoning = thinking.text();
      const restarts = attempt.droppedThinking?.() === true;
      const signed =
        blocks?.length || restarts
          ? {
              upstream: attempt.candidate.upstream.id,
              model: attempt.candidate.upstreamModel,
              blocks: blocks ?? [],
              ...(restarts && { restarts: true as const }),
            }
          : undefined;
      if (signed === undefined && (reasoning === '' || !forms.text)) return;
      const toolCalls = [{ id: call.id, name: call.name, arguments: written }];
      const preceding = (): string => precedingDigests(request)(request.turns.length);
      const budget = new LookupBudget();
      const turn = { accountId: facts.accountId, toolCalls, preceding, budget };
      const kept = store.keep(turn, { reasoning, ...(signed === undefined ? {} : { signed }) });
      await withTimeout(KEEP_MS, kept);
    },
  };
}

function hasCalls(turn: Turn): turn is AssistantTurn {
  return turn.role === 'assistant' && turn.toolCalls.length > 0;
}

/** No client returns what an upstream has signed, so signed thinking is always missing. */
function lacksThinking(turn: Turn, forms: Forms): turn is AssistantTurn {
  return hasCalls(turn) && (forms.signed || turn.reasoning === '' || turn.lacksLate === true);
}

/**
 * Undefined if earlier thinking is of no use: the model does not reason, or no upstream accepts it
 * back. Models that always think need it although the client has turned thinking off.
 */
function formsTaken(request: GenerationRequest, catalog: Catalog, model: Model): Forms | undefined {
  const fallbacks = model.fallbacks.flatMap((slug) => catalog.resolve(slug) ?? []);
  const profiles = [model, ...fallbacks]
    .filter((each) => each.features.has('reasoning'))
    .flatMap((each) => each.servedBy.map(({ profile }) => profile))
    .filter(({ thinkingOff }) => request.reasoning !== 'off' || thinkingOff !== 'send');
  const text = profiles.some(takesText);
  const signed = profiles.some(takesSigned);
  return text || signed ? { text, signed } : undefined;
}

function takesText(profile: UpstreamProfile): boolean {
  if (profile.dialect === 'chat') return profile.reasoningField !== 'none';
  if (profile.dialect === 'messages') return profile.thinkingHistory === 'any';
  return profile.reasoningHistory === 'text';
}

function takesSigned(profile: UpstreamProfile): boolean {
  if (profile.dialect === 'messages') return profile.thinkingHistory !== 'none';
  if (profile.dialect === 'responses') return profile.reasoningHistory === 'encrypted';
  return profile.callSignature !== '' || profile.reasoningField === 'details';
}

function createGrowingText() {
  let whole = '';
  let pieces: string[] = [];
  let length = 0;
  const join = (): string => {
    whole += pieces.join('');
    pieces = [];
    return whole;
  };
  return {
    add(piece: string): void {
      length += piece.length;
      if (pieces.push(piece) === PIECES_MAX) join();
    },
    length: () => length,
    text: join,
  };
}
