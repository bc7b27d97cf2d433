// What a request was given: a claim on the limits and a hold on money, obtained together and ended
// together, exactly once. Claim first (it costs nothing), then hold; a refused hold gives the
// claim back, so a refusal consumes nothing anywhere.

import { withTimeout } from '../async/timeout.ts';
import { type ErrorCode, GatewayError } from '../core/error.ts';
import type { Outcome, Receipt, Usage } from '../core/generation.ts';
import {
  add,
  formatTokens,
  formatUsd,
  larger,
  type Micro,
  smaller,
  subtract,
  type Tokens,
  ZERO,
} from '../core/money.ts';
import type { OutcomeDecision } from '../core/outcome.ts';
import { type LimitView, lowerIncident } from '../core/plan.ts';
import { affordableOutput, chargeServed, SLICE_TOKENS } from '../core/price.ts';
import type { Candidate } from '../core/route.ts';
import { decideUsage, NO_USAGE } from '../core/usage.ts';
import type { HoldResult, ReleaseCommand, Settlement } from '../ledger/contract.ts';
import { LedgerSilent } from '../ledger/error.ts';
import type { Claim } from '../limits/contract.ts';
import { type AttemptEntry, type AttemptLog, createAttemptLog } from './attempt-log.ts';
import { type Cover, createCover } from './funded-output.ts';
import type { Slot } from './lifetime.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import { type Money, mayWait, moneyFor, refusedHold } from './money.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';

export type Grant = {
  readonly limits: LimitView;
  /** How much output is paid for. Its bound is what the upstream is told. */
  readonly cover: Cover;
  /** The history of the attempts so far; written by the pipeline, kept with the usage record. */
  readonly attempts: AttemptLog;
  readonly slot: Slot;
  /**
   * Charges what `decision` says for what `served` has made; nothing where nobody served. Later calls
   * change nothing and return what the first one did.
   */
  readonly end: (decision: OutcomeDecision, served?: MeteredAttempt) => Promise<Ended>;
};

/** What the client is told, and what was booked. */
export type Ended = { readonly receipt: Receipt; readonly settlement: Settlement };

const UNUSED: Usage = { ...NO_USAGE, basis: 'reported' };

/**
 * How long a refusal waits for a second look where a request that has just ended may change it.
 * Clients repeat at once what they have given up, and on another connection: the new request can
 * arrive before the event that they have left the old one.
 */
const SECOND_LOOK_MS = 10;

type Look = 'first' | 'last';

const PASSING_REFUSALS: readonly ErrorCode[] = [
  'concurrency_limit_exceeded',
  'insufficient_balance',
];

/** Throws the refusal of a limit (429), of the balance (402), or of a ledger that is down (503). */
export async function obtainGrant(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
): Promise<Grant> {
  try {
    return await tryGrant(dependencies, checked, 'first');
  } catch (error) {
    if (!(error instanceof GatewayError) || !PASSING_REFUSALS.includes(error.code)) throw error;
    await Bun.sleep(SECOND_LOOK_MS);
    return tryGrant(dependencies, checked, 'last');
  }
}

async function tryGrant(
  dependencies: GenerateDependencies,
  asked: CheckedRequest,
  look: Look,
): Promise<Grant> {
  const claim = await claimLimits(dependencies, asked);
  const checked = { ...asked, outputBound: claim.outputBound };
  const money = moneyFor(checked);
  const { available } = await holdMoney(dependencies, checked, { claim, money, look });
  return createGrant(dependencies, checked, claim, { ...money, available });
}

function createGrant(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
  claim: Claim,
  { amount, excess, available }: Money & { readonly available: Micro },
): Grant {
  const { clock, ledger, booking } = dependencies;
  const { call, facts, plan, price, promptTokens } = checked;
  /** What the account could pay at most: the hold, and what is available beside it. */
  const payable = add(available, amount);
  const outputBound = boundByBalance(checked, payable);
  const lowered = outputBound < checked.outputBound;
  const { requestId } = call;
  const hold = { requestId, price, promptTokens, amount, excess, outputBound, lowered };
  const cover = createCover({ ledger, ...hold });
  const attempts = createAttemptLog({ ...dependencies, promptTokens });
  let ended: Promise<Ended> | undefined;

  // A bill is told when it is booked, and a ledger that cannot write tries again. Where that takes too
  // long for a server that is alone with its books, the answer is not lost with the disk: its receipt
  // says what will be booked, at most `most`, and the balance as it will be then.
  const booked = async (
    settled: Promise<Settlement>,
    charge: Micro,
    most: Micro,
  ): Promise<Settlement> => {
    if (booking.kind === 'awaited') return settled;
    const settlement = await withTimeout(
      booking.timeoutMs,
      settled.catch(() => undefined),
    );
    if (settlement !== undefined) return settlement;
    const debited = smaller(charge, most);
    return { debited, loss: subtract(charge, debited), available: subtract(payable, debited) };
  };

  const settle = async (
    { outcome, charge: rule }: OutcomeDecision,
    { candidate, meter, unread }: MeteredAttempt,
  ): Promise<Ended> => {
    const usage = decideUsage({
      reported: rule === 'counted' ? undefined : meter.reported(),
      estimate: () => meter.estimate(promptTokens),
      unread: unread(),
      contextWindow: candidate.model.contextWindow,
      outputBound: candidate.maxOutputTokens,
    });
    // The slot first: it is memory, and the account's next request may be waiting for it.
    claim.settle(usage.inputTokens + usage.outputTokens);
    const { model, upstream } = candidate;
    const charge = chargeServed(usage, price, candidate.price);
    const served = { model: model.slug, upstream: upstream.id, price: candidate.price };
    const withinHold = rule !== 'reported';
    const rawUsage = meter.raw();
    const command = endOfRequest(checked, attempts.records, outcome, usage, clock());
    const settled = ledger.settle({
      ...command,
      ...(rawUsage === undefined ? {} : { rawUsage }),
      charge,
      withinHold,
      served,
    });
    const settlement = await booked(settled, charge, withinHold ? cover.held() : payable);
    const final = isForfeited(settlement, charge) ? 'gateway_failed' : outcome;
    return { receipt: receiptOf(checked, command, settlement, final, candidate), settlement };
  };

  const release = async (outcome: Outcome): Promise<Ended> => {
    claim.settle(0);
    const command = endOfRequest(checked, attempts.records, outcome, UNUSED, clock());
    const settlement = await booked(ledger.release(command), ZERO, payable);
    return { receipt: receiptOf(checked, command, settlement, outcome), settlement };
  };

  return {
    limits: claim.view,
    cover,
    attempts,
    slot: { accountId: facts.accountId, most: plan.concurrentRequests, free: claim.freeSlot },
    end(decision, served) {
      const free = served === undefined || decision.charge === 'nothing';
      ended ??= free ? release(decision.outcome) : settle(decision, served);
      return ended;
    },
  };
}

/** Whether a recovery had ended the hold before, and charged nothing: nothing was delivered then. */
function isForfeited({ debited, loss }: Settlement, charge: Micro): boolean {
  return charge > ZERO && debited === ZERO && loss === ZERO;
}

/** Throws the refusal of a limit (429). */
export async function claimLimits(
  dependencies: Pick<GenerateDependencies, 'limits'>,
  checked: Omit<CheckedRequest, 'price'>,
): Promise<Claim> {
  const { call, facts, plan, model, promptTokens, outputBound } = checked;
  const result = await dependencies.limits.claim({
    requestId: call.requestId,
    startedAt: call.startedAt,
    accountId: facts.accountId,
    model: model.slug,
    plan,
    incident: lowerIncident(model.incidentLimits, call.operator.incidentOf(model.slug)),
    promptTokens,
    outputBound,
  });
  if (result.kind === 'claimed') return result.claim;
  throw new GatewayError(result.code, {
    ...(result.message === undefined ? {} : { message: result.message }),
    retryAfterSeconds: result.retryAfterSeconds,
    limits: result.view,
  });
}

async function holdMoney(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
  { claim, money, look }: { claim: Claim; money: Money; look: Look },
): Promise<HoldResult> {
  const { call, facts, request, model, price, promptTokens, outputBound } = checked;
  let result: HoldResult;
  try {
    result = await dependencies.ledger.hold({
      requestId: call.requestId,
      accountId: facts.accountId,
      keyId: facts.keyId,
      format: call.format.name,
      stream: request.stream,
      ...(request.endUser === undefined ? {} : { endUser: request.endUser }),
      model: model.slug,
      price,
      ...money,
      promptTokens,
      outputBound,
      nowMs: call.startedAt,
    });
  } catch (error) {
    if (error instanceof LedgerSilent) releaseUnconfirmed(dependencies, checked);
    await claim.cancel();
    throw new GatewayError('provider_unavailable', {
      message: 'The service cannot reserve money at the moment. Retry with back-off.',
    });
  }
  if (result.ok) return result;
  dependencies.funds.doubt(facts.accountId);
  // A request without the balance for it uses up one of the minute; one that may wait does not.
  const isOver = look === 'last' && !mayWait(result);
  const limits = await claim.cancel(isOver ? 'request' : undefined);
  throw refusedHold(result, money, limits);
}

/**
 * The ledger may have written a hold without confirming it; then the hold must not stay open. Any
 * other failure has written nothing: a release for each would fill the ledger while its disk fails.
 */
function releaseUnconfirmed(dependencies: GenerateDependencies, checked: CheckedRequest): void {
  const { clock, ledger } = dependencies;
  ledger
    .release(endOfRequest(checked, [], 'gateway_failed', UNUSED, clock()))
    // No hold was taken, or the ledger keeps the release and tries again: nobody waits for it.
    .catch(() => {});
}

/** A bound above the first slice is lowered to what the account could pay. */
function boundByBalance(checked: CheckedRequest, payable: Micro): Tokens {
  const { outputBound, promptTokens, price } = checked;
  if (outputBound <= SLICE_TOKENS) return outputBound;
  return smaller(outputBound, larger(SLICE_TOKENS, affordableOutput(payable, promptTokens, price)));
}

/** What the ledger is told of a request that has ended. */
function endOfRequest(
  { call, catalog }: CheckedRequest,
  attempts: readonly AttemptEntry[],
  outcome: Outcome,
  usage: Usage,
  nowMs: number,
): ReleaseCommand {
  return {
    requestId: call.requestId,
    outcome,
    usage,
    attempts,
    usdPerMillion: catalog.usdPerMillion,
    nowMs,
  };
}

/** `candidate` is who served; absent where nobody did. */
function receiptOf(
  { catalog, model }: CheckedRequest,
  { usage }: ReleaseCommand,
  settlement: Settlement,
  outcome: Outcome,
  candidate?: Candidate,
): Receipt {
  return {
    modelServed: candidate?.model.slug ?? model.slug,
    fallbackUsed: candidate?.fallback ?? false,
    usage,
    tokensDebited: formatTokens(settlement.debited),
    costUsd: formatUsd(settlement.debited, catalog.usdPerMillion),
    balanceTokens: formatTokens(settlement.available),
    outcome,
  };
}
