// What finished answers teach about each placement: how fast it generates, and how far its prompt
// reports are from our count. Both decide charges, so no account can steer them: an account has one
// vote a day, the middle vote counts, and the catalog's value bounds it (decision 0186). In memory
// and by node: an answer is charged by what its node has seen. Pure.

import { DAY_MS } from './calendar.ts';
import { type Affinity, cacheKeyOf, prefixOf } from './conversation.ts';
import type { GenerationRequest, Usage } from './generation.ts';
import type { Model } from './model.ts';
import { putLast } from './recent.ts';

/** Output tokens a second of a model whose catalog entry states none. */
export const USUAL_PACE = 100;

/** The bounds of a pace, as factors of the stated and of the usual one. */
const STATED_SPREAD = 2;
const USUAL_SPREAD = 4;

/** The prompt of a model that has not reported any may be this multiple of our count. */
export const FIRST_FACTOR = 2;

/** What the best attack on an estimate reached; for accounts whose prompts exceeded their reserve. */
export const CAUTIOUS_FACTOR = 16;

/** No report makes a higher ratio usual, so that an absurd one stays absurd. */
const RATIO_MAX = 8;

/** Above the usual ratio; ten requests that a balance can pay still fit beside each other. */
const HEADROOM = 1.1;

/** Fewer output tokens of a day say nothing about a pace. */
const VOTE_TOKENS = 16;

/** A shorter prompt is mostly the template around it, which no ratio describes. */
const PROMPT_MIN = 100;

/** Above this share of estimated ends, an account pays a fast pace, from this many ends on. */
const ESTIMATED_SHARE = 0.2;
const ENDS_MIN = 5;
const FAST_SHARE = 0.9;

/** Votes are sorted again at most this often: each answer changes one. */
const SORT_AGAIN_MS = 1_000;

const ACCOUNTS_MAX = 4_096;
const PREFIXES_MAX = 16_384;
/** The shortest lifetime of a vendor's prompt cache. */
const PREFIX_MS = 5 * 60_000;

/** One account's answers of a day at one placement. */
type Vote = { day: number; output: number; workMs: number; reported: number; counted: number };

/** Where a prompt was sent, and the prompt. */
export type Prompt = {
  readonly accountId: string;
  readonly upstream: string;
  readonly request: GenerationRequest;
  readonly affinity: Affinity;
};

export type Learned = ReturnType<typeof createLearned>;

/** `clock` returns Unix milliseconds. */
export function createLearned(clock: () => number) {
  const placements = new Map<string, Map<string, Votes>>();
  const accounts = new Map<string, Standing>();
  const prefixes = new Map<string, Prefix>();

  const votesOf = (model: string, upstream: string): Votes | undefined =>
    placements.get(model)?.get(upstream);

  const standingOf = (accountId: string): Standing => {
    const day = dayOf(clock());
    const known = accounts.get(accountId);
    const standing = known ?? { day, ends: 0, estimated: 0, cautiousUntil: 0 };
    if (standing.day !== day) Object.assign(standing, { day, ends: 0, estimated: 0 });
    if (known === undefined) putLast(accounts, accountId, standing, ACCOUNTS_MAX);
    return standing;
  };

  const isCautious = (accountId: string): boolean =>
    (accounts.get(accountId)?.cautiousUntil ?? 0) > clock();

  return {
    /**
     * Counts the vote of an answer that came to its report: the usage as reported, before any bound,
     * our count of its prompt, and the time from the request to its end.
     */
    finished(
      model: string,
      upstream: string,
      accountId: string,
      usage: Usage,
      counted: number,
      workMs: number,
    ): void {
      const ofModel = placements.get(model) ?? new Map<string, Votes>();
      placements.set(model, ofModel);
      const votes = ofModel.get(upstream) ?? new Votes();
      ofModel.set(upstream, votes);
      votes.add(accountId, usage, counted, workMs, clock());
    },

    /** Keeps what an upstream has in its cache after it has read a prompt. */
    cached(prompt: Prompt, { cachedInputTokens, cacheWriteTokens }: Usage): void {
      const tokens = cachedInputTokens + cacheWriteTokens;
      const turns = prompt.request.turns.length;
      const prefix = { tokens, turns, hash: hashOf(prompt, turns), at: clock() };
      putLast(prefixes, conversationOf(prompt), prefix, PREFIXES_MAX);
    },

    /** Counts the end of a request that was charged, and whether by an estimate of unseen work. */
    ended(accountId: string, isEstimated: boolean): void {
      const standing = standingOf(accountId);
      standing.ends += 1;
      if (isEstimated) standing.estimated += 1;
    },

    /** The account's prompt cost more than was reserved for it: cautious until the next day ends. */
    overran(accountId: string): void {
      standingOf(accountId).cautiousUntil = (dayOf(clock()) + 2) * DAY_MS;
    },

    /** Output tokens a second, a whole number. */
    pace(
      { slug, tokensPerSecond: stated }: PacedModel,
      upstream: string,
      accountId: string,
    ): number {
      const { ends, estimated } = standingOf(accountId);
      const isOften = ends >= ENDS_MIN && estimated > ends * ESTIMATED_SHARE;
      const usual = stated ?? USUAL_PACE;
      const spread = stated === undefined ? USUAL_SPREAD : STATED_SPREAD;
      const paces = votesOf(slug, upstream)?.paces(clock()) ?? [];
      const learned = quantileOf(paces, isOften ? FAST_SHARE : 0.5) ?? usual;
      return Math.max(1, Math.round(Math.min(Math.max(learned, usual / spread), usual * spread)));
    },

    /** The usual report of a prompt in percent of our count; 100 of a short one, and at first. */
    ratioPercent(model: string, upstream: string, counted: number): number {
      if (counted < PROMPT_MIN) return 100;
      const ratios = votesOf(model, upstream)?.ratios(clock()) ?? [];
      return Math.round(100 * (quantileOf(ratios, 0.5) ?? 1));
    },

    /**
     * The multiple of our count that is reserved for a prompt of the account. A report above it is
     * not believed.
     */
    reserveFactor(model: string, accountId: string): number {
      if (isCautious(accountId)) return CAUTIOUS_FACTOR;
      const votes = placements.get(model);
      if (votes === undefined) return FIRST_FACTOR;
      let most = 1;
      for (const each of votes.values()) most = Math.max(most, each.highRatio(clock()));
      return Math.min(most * HEADROOM, CAUTIOUS_FACTOR);
    },

    /** Tokens of the conversation's prompt that its upstream has in its cache; 0: none known. */
    cachedTokens(prompt: Prompt): number {
      const known = prefixes.get(conversationOf(prompt));
      if (known === undefined || clock() - known.at >= PREFIX_MS) return 0;
      // A caller may edit earlier turns, which the cache then does not have.
      return hashOf(prompt, known.turns) === known.hash ? known.tokens : 0;
    },
  };
}

/** `tokens` are those of the first `turns` turns of a conversation. */
type Prefix = {
  readonly tokens: number;
  readonly turns: number;
  readonly hash: bigint;
  readonly at: number;
};

function conversationOf({ upstream, affinity }: Prompt): string {
  return `${cacheKeyOf(affinity)} ${upstream}`;
}

function hashOf({ accountId, upstream, request }: Prompt, turns: number): bigint {
  return prefixOf(`${accountId} ${upstream}`, request, turns);
}

type PacedModel = Pick<Model, 'slug' | 'tokensPerSecond'>;

type Standing = { day: number; ends: number; estimated: number; cautiousUntil: number };

function dayOf(nowMs: number): number {
  return Math.floor(nowMs / DAY_MS);
}

/** The votes on one placement. */
class Votes {
  readonly #byAccount = new Map<string, Vote>();
  #paces: readonly number[] = [];
  #ratios: readonly number[] = [];
  #isStale = false;
  #sortedAt = 0;

  add(accountId: string, usage: Usage, counted: number, workMs: number, nowMs: number): void {
    const day = dayOf(nowMs);
    let vote = this.#byAccount.get(accountId);
    if (vote?.day !== day) {
      vote = { day, output: 0, workMs: 0, reported: 0, counted: 0 };
      putLast(this.#byAccount, accountId, vote, ACCOUNTS_MAX);
    }
    vote.output += usage.outputTokens;
    vote.workMs += workMs;
    if (counted >= PROMPT_MIN) {
      vote.reported += usage.inputTokens;
      vote.counted += counted;
    }
    this.#isStale = true;
  }

  /** Tokens a second, in ascending order. */
  paces(nowMs: number): readonly number[] {
    this.#sort(nowMs);
    return this.#paces;
  }

  /** Reported prompts in multiples of our count, in ascending order. */
  ratios(nowMs: number): readonly number[] {
    this.#sort(nowMs);
    return this.#ratios;
  }

  /** The ratio that nine of ten accounts do not exceed. */
  highRatio(nowMs: number): number {
    return quantileOf(this.ratios(nowMs), FAST_SHARE) ?? FIRST_FACTOR;
  }

  #sort(nowMs: number): void {
    if (!this.#isStale || nowMs - this.#sortedAt < SORT_AGAIN_MS) return;
    const votes = [...this.#byAccount.values()];
    this.#paces = votes
      .filter(({ output, workMs }) => output >= VOTE_TOKENS && workMs > 0)
      .map(({ output, workMs }) => (1_000 * output) / workMs)
      .sort((a, b) => a - b);
    this.#ratios = votes
      .filter(({ counted, reported }) => counted > 0 && reported > 0)
      .map(({ counted, reported }) => Math.min(reported / counted, RATIO_MAX))
      .sort((a, b) => a - b);
    this.#isStale = false;
    this.#sortedAt = nowMs;
  }
}

/** The nearest rank of ascending numbers; undefined if there are none. */
function quantileOf(sorted: readonly number[], share: number): number | undefined {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
}
