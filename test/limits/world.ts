// A world for limits under test: two clocks, the live requests, and a history of admissions and
// usage, as the ledger's. A gateway in it claims and ends.

import type { Awaitable } from '../../src/async/awaitable.ts';
import { tokenCount } from '../../src/core/money.ts';
import type { IncidentLimits, Plan } from '../../src/core/plan.ts';
import type {
  AccountLimits,
  Claim,
  ClaimRequest,
  ClaimResult,
  LimitsDependencies,
  PastAdmission,
} from '../../src/limits/contract.ts';

/** Any implementation of the contract. */
export type OpenLimits = (dependencies: LimitsDependencies) => Awaitable<AccountLimits>;

export type Asked = {
  readonly account?: string;
  readonly model?: string;
  readonly plan?: Plan;
  readonly incident?: IncidentLimits | undefined;
  readonly prompt?: number;
  readonly bound?: number;
  /** How long ago the request started. */
  readonly lagMs?: number;
};

/** A claim, and everything that can happen to the request that made it. */
export type Running = {
  readonly request: ClaimRequest;
  readonly tokens: number;
  readonly claim: Claim;
  /** Ends it as a gateway does: the claim first, then the books. */
  readonly settle: (usedTokens: number) => void;
  readonly cancel: Claim['cancel'];
  /** No node is left that would end it. */
  readonly lose: () => void;
};

export const PLAN: Plan = {
  slug: 'test',
  name: 'Test',
  requestsPerMinute: 3,
  tokensPerMinute: 10_000,
  concurrentRequests: 2,
  maxContext: 128_000,
  maxApiKeys: 5,
  models: ['*'],
};

/** Half a minute before the end of a month. */
export const MONTH_END = Date.UTC(2026, 10, 30, 23, 59, 30);

/** Saturday noon: the next midnight is exactly half a day away. */
export const NOON = Date.UTC(2026, 10, 21, 12);

const SLICE = 4_096;

export async function createWorld(open: OpenLimits, beginsAt = NOON) {
  let elapsedMs = 0;
  let skewMs = 0;
  let bornMs = 0;
  let requests = 0;
  const live = new Set<string>();
  const running = new Set<Running>();
  const admitted: PastAdmission[] = [];
  const records: { accountId: string; startedAt: number; tokens: number }[] = [];
  const timeMs = (): number => beginsAt + elapsedMs + skewMs;
  // A process has a monotonic clock of its own, which begins anywhere and has fractions.
  const nowMs = (): number => elapsedMs - bornMs + 0.25;
  const dependencies: LimitsDependencies = {
    clock: timeMs,
    monotonic: nowMs,
    isLive: (requestId) => live.has(requestId),
    history: {
      admittedSince: (sinceMs) =>
        admitted
          .filter(({ startedAt }) => startedAt >= sinceMs)
          .toSorted((left, right) => right.startedAt - left.startedAt),
      mark: () => records.length,
      usedBefore: (accountId, { fromMs, untilMs }, mark) =>
        records
          .slice(0, mark)
          .filter((each) => each.accountId === accountId)
          .filter(({ startedAt }) => fromMs <= startedAt && startedAt < untilMs)
          .reduce((sum, { tokens }) => sum + tokens, 0),
    },
  };
  let limits = await open(dependencies);

  function record(each: Running, tokens: number): void {
    const { accountId, startedAt, requestId } = each.request;
    records.push({ accountId, startedAt, tokens });
    live.delete(requestId);
    running.delete(each);
  }

  function begin(request: ClaimRequest, claim: Claim): Running {
    const tokens = request.promptTokens + Math.min(request.outputBound, SLICE);
    const hold = { ...request, tokens };
    live.add(request.requestId);
    admitted.push(hold);
    const each: Running = {
      request,
      tokens,
      claim,
      settle(usedTokens) {
        claim.settle(usedTokens);
        record(each, usedTokens);
      },
      cancel(keeps) {
        live.delete(request.requestId);
        running.delete(each);
        admitted.splice(admitted.indexOf(hold), 1);
        return claim.cancel(keeps);
      },
      lose: () => void live.delete(request.requestId),
    };
    running.add(each);
    return each;
  }

  function requestOf(asked: Asked): ClaimRequest {
    requests += 1;
    return {
      requestId: `req_${requests}`,
      startedAt: timeMs() - (asked.lagMs ?? 0),
      accountId: asked.account ?? 'acct_1',
      model: asked.model ?? 'swift',
      plan: asked.plan ?? PLAN,
      incident: asked.incident,
      promptTokens: tokenCount(asked.prompt ?? 10),
      outputBound: tokenCount(asked.bound ?? 10),
    };
  }

  const ask = async (
    asked: Asked = {},
  ): Promise<{ request: ClaimRequest; result: ClaimResult; started: Running | undefined }> => {
    const request = requestOf(asked);
    const result = await limits.claim(request);
    if (result.kind !== 'claimed') return { request, result, started: undefined };
    const fitted = { ...request, outputBound: result.claim.outputBound };
    return { request, result, started: begin(fitted, result.claim) };
  };

  return {
    limits: () => limits,
    ask,
    nowMs,
    timeMs,
    running,
    /** Claims, and fails where it is refused. */
    async claimed(asked: Asked = {}): Promise<Running> {
      const { result, started } = await ask(asked);
      if (started !== undefined) return started;
      throw new Error(result.kind === 'refused' ? `refused: ${result.code}` : result.kind);
    },
    /** The code and the wait of a refusal. */
    async refusal(asked: Asked = {}): Promise<readonly [string, number]> {
      const { result } = await ask(asked);
      return result.kind === 'refused' ? [result.code, result.retryAfterSeconds] : ['claimed', 0];
    },
    usage: (account = 'acct_1', plan = PLAN) => limits.usage(account, plan),
    /** Time passes, on both clocks. */
    wait(ms: number): void {
      elapsedMs += ms;
    },
    /** The wall clock is set: this far from the true time. */
    setWall(aheadMs: number): void {
      skewMs = aheadMs;
    },
    /** The process dies; the next one recovers what it left, charging `recovered` of each. */
    async restart(recovered: (each: Running) => number = ({ tokens }) => tokens): Promise<void> {
      for (const each of [...running]) record(each, recovered(each));
      bornMs = elapsedMs;
      limits = await open(dependencies);
    },
  };
}

export type World = Awaited<ReturnType<typeof createWorld>>;
