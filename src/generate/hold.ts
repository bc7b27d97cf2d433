// Obtains a request's claim on the limits, then its hold on the balance. The claim comes first
// because it is free. If the hold is refused, the claim is returned, so a refusal consumes nothing.

import type { Awaitable } from '../async/awaitable.ts';
import { type ErrorCode, GatewayError } from '../core/error.ts';
import { add } from '../core/money.ts';
import { incidentOn } from '../core/plan.ts';
import type { HoldCommand, PlacedHold, Written } from '../ledger/contract.ts';
import { HoldRevoked, LedgerSilent } from '../ledger/error.ts';
import type { Claim, ClaimResult } from '../limits/contract.ts';
import { SECOND_LOOK_MS } from './entrance.ts';
import { Grant } from './grant.ts';
import { type Money, mayWait, moneyFor, refusedHold } from './money.ts';
import type { CheckedRequest, GenerateDependencies, KeyedCall } from './pipeline-types.ts';
import { releaseUnconfirmed } from './release.ts';

type Look = 'first' | 'last';

const PASSING_REFUSALS: readonly ErrorCode[] = [
  'concurrency_limit_exceeded',
  'insufficient_balance',
];

/** Throws the refusal of a limit (429), of the balance (402), or of an unavailable ledger (503). */
export function obtainGrant(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
): Promise<Grant> {
  return tryGrant(dependencies, checked, 'first').catch((error: unknown) =>
    tryAgain(dependencies, checked, error),
  );
}

async function tryAgain(
  dependencies: GenerateDependencies,
  checked: CheckedRequest,
  first: unknown,
): Promise<Grant> {
  const { facts, plan } = checked;
  try {
    if (!(first instanceof GatewayError) || !PASSING_REFUSALS.includes(first.code)) throw first;
    await Bun.sleep(SECOND_LOOK_MS);
    return await tryGrant(dependencies, checked, 'last');
  } catch (error) {
    if (error instanceof GatewayError && error.status === 429) {
      await dependencies.entrance.countLimited(facts.accountId, plan);
    }
    throw error;
  }
}

async function tryGrant(
  dependencies: GenerateDependencies,
  asked: CheckedRequest,
  look: Look,
): Promise<Grant> {
  const claim = await claimLimits(dependencies, asked);
  if (asked.call.keyed !== undefined) await claimKey(asked.call.keyed, claim);
  const { outputBound } = claim;
  const checked = outputBound === asked.outputBound ? asked : { ...asked, outputBound };
  const money = moneyFor(checked, dependencies.learned);
  let hold: PlacedHold;
  try {
    hold = await dependencies.ledger.hold(holdCommand(checked, money));
    if (isDoubtful(dependencies, checked, money, hold)) hold = await onDisk(hold);
  } catch (error) {
    if (error instanceof LedgerSilent) releaseUnconfirmed(dependencies, checked);
    await claim.cancel();
    throw new GatewayError('provider_unavailable', {
      message: 'The service cannot reserve money at the moment. Retry with back-off.',
    });
  }
  if (hold.ok) {
    checked.call.trace?.mark('hold');
    return new Grant(dependencies, checked, claim, money, hold);
  }
  if (hold.budget === undefined) dependencies.funds.doubt(checked.facts.accountId);
  // A request refused for its balance counts against the minute; one that may be retried here does
  // not.
  const isFinal = look === 'last' || hold.budget !== undefined;
  const isOver = isFinal && !mayWait(hold, money);
  throw refusedHold(hold, money, await claim.cancel(isOver ? 'request' : undefined));
}

/**
 * Whether to wait for the commit of a granted hold before the upstream is called, because another
 * node may have spent the money (decision 0159).
 */
function isDoubtful(
  { booking, funds }: GenerateDependencies,
  { facts }: CheckedRequest,
  { amount, excess, hidden }: Money,
  { ok, available, budget }: PlacedHold,
): boolean {
  if (booking !== 'awaited' || !ok) return false;
  const isScarce = available < add(add(amount, excess), hidden);
  return isScarce || budget !== undefined || funds.isContested(facts.accountId);
}

const ON_DISK: Written = { isDone: () => true, wait: () => Promise.resolve() };

/** The answer that is on disk. Rejects if none is. */
async function onDisk(hold: PlacedHold): Promise<PlacedHold> {
  try {
    await hold.written.wait();
    return hold;
  } catch (error) {
    if (!(error instanceof HoldRevoked)) throw error;
    return { ...error.final, written: ON_DISK };
  }
}

async function claimKey(keyed: KeyedCall, claim: Claim): Promise<void> {
  try {
    await keyed.claim();
  } catch (error) {
    // A repeat uses a request of the minute.
    await claim.cancel(error instanceof GatewayError ? 'request' : undefined);
    throw error;
  }
}

/** Throws the refusal of a limit (429). */
export function claimLimits(
  dependencies: Pick<GenerateDependencies, 'limits'>,
  checked: Omit<CheckedRequest, 'price'>,
): Awaitable<Claim> {
  const { call, facts, plan, model, promptTokens, outputBound } = checked;
  const result = dependencies.limits.claim({
    requestId: call.requestId,
    startedAt: call.startedAt,
    accountId: facts.accountId,
    model: model.slug,
    plan,
    incident: incidentOn(model, call.serviceState.incidentOf),
    promptTokens,
    outputBound,
  });
  return result instanceof Promise ? result.then(requireClaim) : requireClaim(result);
}

function requireClaim(result: ClaimResult): Claim {
  if (result.kind === 'claimed') return result.claim;
  throw new GatewayError(result.code, {
    ...(result.message === undefined ? {} : { message: result.message }),
    retryAfterSeconds: result.retryAfterSeconds,
    limits: result.view,
  });
}

function holdCommand(checked: CheckedRequest, { amount, excess, hidden }: Money): HoldCommand {
  const { call, facts, request, model, price, promptTokens, outputBound } = checked;
  return {
    requestId: call.requestId,
    accountId: facts.accountId,
    keyId: facts.keyId,
    family: facts.family,
    format: call.format.name,
    stream: request.stream,
    endUser: request.endUser,
    model: model.slug,
    price,
    amount,
    excess,
    hidden,
    promptTokens,
    outputBound,
    nowMs: call.startedAt,
  };
}
