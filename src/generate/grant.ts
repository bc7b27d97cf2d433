// What a request was given: a claim on the limits and a hold on money, obtained together and ended
// together, exactly once. Claim first (it costs nothing), then hold; a refused hold gives the
// claim back, so a refusal consumes nothing anywhere.

import { GatewayError } from '../core/error.ts';
import type { GenerationRequest, Outcome, Receipt, Usage } from '../core/generation.ts';
import type { Catalog, Model } from '../core/model.ts';
import { formatTokens, formatUsd } from '../core/money.ts';
import { type LimitView, lowerIncident, type Plan } from '../core/plan.ts';
import { affordableOutput, chargeServed, holdAmount, SLICE_TOKENS } from '../core/price.ts';
import type { Candidate } from '../core/route.ts';
import { decideUsage } from '../core/usage.ts';
import type { KeyFacts } from '../identity/authenticate.ts';
import type { HoldResult, ReleaseCommand, Settlement } from '../ledger/command.ts';
import type { Claim } from '../limits/limits.ts';
import type { GenerateDependencies, GenerationCall } from './call.ts';
import type { OutputMeter } from './meter.ts';
import type { AttemptRecord } from './route.ts';

export type Grant = {
  readonly limits: LimitView;
  /** What the upstream is told as the bound on generated tokens. */
  readonly outputBound: number;
  /** The story of the attempts so far; written by the pipeline, kept with the usage record. */
  readonly attempts: AttemptRecord[];
  readonly renew: () => void;
  /** Charges what was produced. Later calls of either kind return the first one's receipt. */
  readonly settle: (candidate: Candidate, meter: OutputMeter, outcome: Outcome) => Promise<Receipt>;
  /** Charges nothing. */
  readonly release: (outcome: Outcome) => Promise<Receipt>;
};

export type GrantOptions = {
  readonly dependencies: GenerateDependencies;
  readonly call: GenerationCall;
  readonly facts: KeyFacts;
  readonly request: GenerationRequest;
  readonly catalog: Catalog;
  readonly plan: Plan;
  readonly model: Model;
  readonly promptTokens: number;
  readonly outputBound: number;
};

const NO_USAGE: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  basis: 'reported',
};

/** Throws the refusal of a limit (429), of the balance (402), or of a ledger that is down (503). */
export async function obtainGrant(options: GrantOptions): Promise<Grant> {
  const { dependencies, call, request, catalog, model, promptTokens } = options;
  const { ledger } = dependencies;
  const claim = claimLimits(options);
  const amount = holdAmount(promptTokens, options.outputBound, model.price, catalog.minimumHold);
  const held = await holdMoney(options, claim, amount);
  const outputBound = boundByBalance(options, held.available + amount);
  const attempts: AttemptRecord[] = [];
  let ended: Promise<Receipt> | undefined;

  const ending = (outcome: Outcome, usage: Usage): ReleaseCommand => ({
    requestId: call.requestId,
    format: call.format.name,
    stream: request.stream,
    outcome,
    usage,
    ...(request.endUser === undefined ? {} : { endUser: request.endUser }),
    attempts,
    startedAtMs: call.startedAt,
    nowMs: dependencies.clock(),
  });

  const receiptOf = (
    { outcome, usage }: ReleaseCommand,
    candidate: Candidate | undefined,
    settlement: Settlement,
  ): Receipt => ({
    modelServed: candidate?.model.slug ?? model.slug,
    fallbackUsed: candidate?.fallback ?? false,
    usage,
    tokensDebited: formatTokens(settlement.debited),
    costUsd: formatUsd(settlement.debited, catalog.usdPerMillion),
    balanceTokens: formatTokens(settlement.available),
    outcome,
  });

  // A ledger that cannot write keeps the command and tries again, so the answer need not be lost
  // with it: its receipt says what will be booked, and the balance as it will be then.
  const expected = (charge: bigint): Settlement => {
    const before = held.available + amount;
    const debited = charge < before ? charge : before;
    return { debited, loss: charge - debited, available: before - debited };
  };

  return {
    limits: claim.view,
    outputBound,
    attempts,
    renew: claim.renew,
    settle(candidate, meter, outcome) {
      ended ??= (async () => {
        const usage = decideUsage({
          reported: meter.reported(),
          estimate: () => meter.estimate(promptTokens),
          contextWindow: candidate.model.contextWindow,
          outputBound,
        });
        // The slot first: it is memory, and the account's next request may be waiting for it.
        claim.settle(usage.inputTokens + usage.outputTokens);
        const command = ending(outcome, usage);
        const charge = chargeServed(usage, model.price, candidate.model.price);
        const { slug, price } = candidate.model;
        const served = { model: slug, upstream: candidate.upstream.id, price };
        const settlement = await ledger
          .settle({ ...command, charge, served })
          .catch(() => expected(charge));
        return receiptOf(command, candidate, settlement);
      })();
      return ended;
    },
    release(outcome) {
      ended ??= (async () => {
        claim.settle(0);
        const command = ending(outcome, NO_USAGE);
        const settlement = await ledger.release(command).catch(() => expected(0n));
        return receiptOf(command, undefined, settlement);
      })();
      return ended;
    },
  };
}

function claimLimits(options: GrantOptions): Claim {
  const { dependencies, facts, plan, model, promptTokens, outputBound } = options;
  const result = dependencies.limits.claim({
    accountId: facts.accountId,
    model: model.slug,
    plan,
    incident: lowerIncident(model.incidentLimits, dependencies.incidentOf(model.slug)),
    promptTokens,
    outputBound,
  });
  if (result.kind === 'claimed') return result.claim;
  throw new GatewayError(result.code, {
    retryAfterSeconds: result.retryAfterSeconds,
    limits: result.view,
  });
}

async function holdMoney(options: GrantOptions, claim: Claim, amount: bigint): Promise<HoldResult> {
  const { dependencies, call, facts, model, promptTokens, outputBound } = options;
  let result: HoldResult;
  try {
    result = await dependencies.ledger.hold({
      requestId: call.requestId,
      accountId: facts.accountId,
      keyId: facts.keyId,
      model: model.slug,
      price: model.price,
      amount,
      promptTokens,
      outputBound,
      nowMs: call.startedAt,
    });
  } catch {
    claim.cancel();
    // The disk may have taken the hold without confirming it; then it must not stay open.
    releaseUnconfirmed(options);
    throw new GatewayError('provider_unavailable', {
      message: 'The service cannot reserve money at the moment. Retry with back-off.',
    });
  }
  if (result.ok) return result;
  claim.cancel();
  throw new GatewayError('insufficient_balance', {
    message: `The available balance is ${formatTokens(result.available)} service tokens, and this request has to reserve ${formatTokens(amount)}. Top up the account, or lower max_tokens.`,
    limits: claim.view,
  });
}

function releaseUnconfirmed({ dependencies, call, request }: GrantOptions): void {
  const { requestId, startedAt } = call;
  dependencies.ledger
    .release({
      requestId,
      format: call.format.name,
      stream: request.stream,
      outcome: 'gateway_failed',
      usage: NO_USAGE,
      attempts: [],
      startedAtMs: startedAt,
      nowMs: dependencies.clock(),
    })
    // No hold was taken, or the ledger keeps the release and tries again: nobody waits for it.
    .catch(() => {});
}

/** A bound above the first slice is lowered to what the whole available balance could pay. */
function boundByBalance(options: GrantOptions, available: bigint): number {
  const { outputBound, promptTokens, model } = options;
  if (outputBound <= SLICE_TOKENS) return outputBound;
  const affordable = affordableOutput(available, promptTokens, model.price);
  return Math.min(outputBound, Math.max(SLICE_TOKENS, affordable));
}
