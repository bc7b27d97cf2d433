// What a request was granted: a claim on the limits and a hold on the balance, obtained together
// (`hold.ts`) and ended together exactly once. Ending it charges what was served and produces the
// receipt.

import type { GatewayError } from '../core/error.ts';
import type { Outcome, Receipt } from '../core/generation.ts';
import {
  add,
  formatTokens,
  formatUsd,
  type Micro,
  smaller,
  subtract,
  ZERO,
} from '../core/money.ts';
import type { ChargeRule, OutcomeDecision } from '../core/outcome.ts';
import { effectiveLimits, incidentOn, type LimitView } from '../core/plan.ts';
import { chargeServed } from '../core/price.ts';
import type { RequestFailure } from '../core/request-failure.ts';
import type { Candidate } from '../core/route.ts';
import type {
  PlacedHold,
  ReleaseCommand,
  SettleCommand,
  Settlement,
  Written,
} from '../ledger/contract.ts';
import { HoldRevoked, LedgerSilent } from '../ledger/error.ts';
import type { Claim } from '../limits/contract.ts';
import { type AttemptEntry, AttemptLog } from './attempt-log.ts';
import { chargedUsage, learn } from './charged-usage.ts';
import { Cover } from './funded-output.ts';
import type { Slot } from './lifetime.ts';
import type { MeteredAttempt } from './metered-attempt.ts';
import { boundByBalance, type Money, revokedHold } from './money.ts';
import type { CheckedRequest, GenerateDependencies } from './pipeline-types.ts';
import { releaseOf, releaseUnconfirmed, UNUSED } from './release.ts';

/** The receipt for the client, the booked amounts, and the history of the attempts. */
export type Ended = {
  readonly receipt: Receipt;
  readonly settlement: Settlement;
  readonly attempts: readonly AttemptEntry[];
};

export class Grant implements Slot {
  /** The remaining limits, this request included. */
  readonly limits: LimitView;
  /** How much output is covered. Its bound is sent to the upstream. */
  readonly cover: Cover;
  /** The attempts so far; written by the pipeline, stored with the usage record. */
  readonly attempts: AttemptLog<MeteredAttempt>;
  /** The account's concurrency slot, and how many of its answers may continue without one. */
  readonly accountId: string;
  readonly most: number;
  readonly #dependencies: GenerateDependencies;
  readonly #checked: CheckedRequest;
  readonly #claim: Claim;
  readonly #written: Written;
  /** The most that the account could pay: the hold plus the available balance. */
  readonly #payable: Micro;
  readonly #money: Money;
  /** The error that prevented the hold from becoming durable. */
  #lostBy: unknown;
  #ended: Promise<Ended> | undefined;

  constructor(
    dependencies: GenerateDependencies,
    checked: CheckedRequest,
    claim: Claim,
    money: Money,
    { available, written, budget }: PlacedHold,
  ) {
    const { amount, excess, price } = money;
    const { clock, ledger } = dependencies;
    const { call, model, plan, promptTokens } = checked;
    this.#dependencies = dependencies;
    this.#checked = checked;
    this.#claim = claim;
    this.#written = written;
    this.#money = money;
    this.#payable = add(available, amount);
    this.limits = claim.view;
    this.accountId = checked.facts.accountId;
    const incident = incidentOn(model, call.serviceState.incidentOf);
    this.most = effectiveLimits(plan, incident).concurrentRequests;
    const left = budget !== undefined && 'left' in budget ? budget.left : available;
    const outputBound = boundByBalance(checked, money, add(amount, smaller(available, left)));
    const lowered = outputBound < checked.outputBound;
    const { requestId } = call;
    this.cover = new Cover({
      ledger,
      requestId,
      price,
      promptTokens,
      amount,
      excess,
      outputBound,
      lowered,
    });
    const { heard } = dependencies;
    this.attempts = new AttemptLog({ clock, promptTokens, requestId, heard });
  }

  /** Undefined once the hold is durable. Rejects if it cannot become durable. */
  untilHeld(): Promise<void> | undefined {
    return this.#written.isDone() ? undefined : this.#written.wait();
  }

  /** Whether the hold became durable. */
  async isHeld(): Promise<boolean> {
    try {
      await this.untilHeld();
      return true;
    } catch {
      return false;
    }
  }

  /** Calls `onLost` if a hold that is still being written fails to become durable. */
  watchHold(onLost: () => void): void {
    const { trace } = this.#checked.call;
    const untilHeld = this.untilHeld();
    if (untilHeld === undefined) trace?.mark('held');
    untilHeld?.then(
      () => trace?.mark('held'),
      (error: unknown) => {
        this.#lostBy = error;
        const { funds } = this.#dependencies;
        if (error instanceof HoldRevoked) funds.contest(this.accountId);
        onLost();
      },
    );
  }

  /** The error of a request whose hold was revoked; undefined for any other. */
  refusal(): GatewayError | undefined {
    if (!(this.#lostBy instanceof HoldRevoked)) return undefined;
    return revokedHold(this.#lostBy.final, this.#money, this.limits);
  }

  /** Frees the concurrency slot before the request ends. */
  free(): void {
    this.#claim.freeSlot();
  }

  /**
   * Charges `served` by the rule of `decision`, or nothing if no attempt served. Idempotent: later
   * calls return the first result.
   */
  end(
    decision: OutcomeDecision,
    served?: MeteredAttempt,
    failure?: RequestFailure,
  ): Promise<Ended> {
    const book = (): Promise<Ended> =>
      served === undefined || decision.charge === 'nothing'
        ? this.#release(decision.outcome, failure)
        : this.#settle(decision.outcome, decision.charge, served, failure);
    // A client may leave before its hold is on disk. A bill for a hold that is lost alerts operators.
    this.#ended ??=
      this.#lostBy === undefined && this.#written.isDone()
        ? book()
        : this.isHeld().then(() =>
            this.#lostBy === undefined ? book() : this.#forget(decision.outcome),
          );
    return this.#ended;
  }

  async #settle(
    outcome: Outcome,
    rule: Exclude<ChargeRule, 'nothing'>,
    attempt: MeteredAttempt,
    failure: RequestFailure | undefined,
  ): Promise<Ended> {
    const { candidate, meter } = attempt;
    const { price } = this.#checked;
    const { learned } = this.#dependencies;
    const usage = chargedUsage(
      learned,
      this.#checked,
      rule,
      attempt,
      this.attempts.silent(),
      this.#money.promptFactor,
    );
    learn(learned, this.#checked, attempt, usage);
    // Free the slot first: it is in memory, and the account's next request may be waiting for it.
    this.#claim.settle(usage.inputTokens + usage.outputTokens);
    const { model, upstream } = candidate;
    const charge = chargeServed(usage, price, candidate.price);
    const withinHold = rule !== 'reported';
    const { records } = this.attempts;
    const { call, catalog } = this.#checked;
    const command: SettleCommand = {
      requestId: call.requestId,
      served: { model: model.slug, upstream: upstream.id, price: candidate.price },
      outcome,
      failure,
      usage,
      rawUsage: meter.raw(),
      attempts: JSON.stringify(records),
      charge,
      withinHold,
      usdPerMillion: catalog.usdPerMillion,
      nowMs: this.#dependencies.clock(),
    };
    let settlement: Settlement;
    try {
      settlement = await this.#dependencies.ledger.settle(command);
    } catch (error) {
      settlement = this.#expected(error, charge, withinHold ? this.cover.held() : this.#payable);
    }
    const final = isForfeited(settlement, charge) ? 'gateway_failed' : outcome;
    return this.#endedOf(command, records, settlement, final, candidate);
  }

  async #release(outcome: Outcome, failure: RequestFailure | undefined): Promise<Ended> {
    this.#claim.settle(0);
    const { records } = this.attempts;
    const { clock, ledger } = this.#dependencies;
    const command = { ...releaseOf(this.#checked, records, outcome, clock()), failure };
    let settlement: Settlement;
    try {
      settlement = await ledger.release(command);
    } catch (error) {
      settlement = this.#expected(error, ZERO, this.#payable);
    }
    return this.#endedOf(command, records, settlement, outcome);
  }

  /** Ends a request that has no hold: nothing to release, nothing used. */
  async #forget(outcome: Outcome): Promise<Ended> {
    const revoked = this.#lostBy instanceof HoldRevoked ? this.#lostBy.final : undefined;
    if (this.#lostBy instanceof LedgerSilent || revoked?.ok === true) {
      releaseUnconfirmed(this.#dependencies, this.#checked);
    }
    await this.#claim.cancel(revoked === undefined ? undefined : 'request');
    const available = revoked?.available ?? this.#payable;
    const settlement = { debited: ZERO, loss: ZERO, available };
    return this.#endedOf({ usage: UNUSED }, this.attempts.records, settlement, outcome);
  }

  /**
   * The ledger retries failed writes. On a single node, if that takes too long, the answer is
   * delivered all the same: its receipt states the charge that will be booked, at most `most`, and
   * the resulting balance. Throws `error` if another node may end the hold.
   */
  #expected(error: unknown, charge: Micro, most: Micro): Settlement {
    if (this.#dependencies.booking === 'awaited') throw error;
    const debited = smaller(charge, most);
    const available = subtract(this.#payable, debited);
    return { debited, loss: subtract(charge, debited), available };
  }

  /** `candidate` is the one that served; absent if none did. */
  #endedOf(
    { usage }: Pick<ReleaseCommand, 'usage'>,
    attempts: readonly AttemptEntry[],
    settlement: Settlement,
    outcome: Outcome,
    candidate?: Candidate,
  ): Ended {
    const { catalog, model } = this.#checked;
    const receipt = {
      modelServed: candidate?.model.slug ?? model.slug,
      fallbackUsed: candidate !== undefined && candidate.fallback !== 'none',
      usage,
      tokensDebited: formatTokens(settlement.debited),
      costUsd: formatUsd(settlement.debited, catalog.usdPerMillion),
      balanceTokens: formatTokens(settlement.available),
      outcome,
    };
    return { receipt, settlement, attempts };
  }
}

/**
 * Whether recovery already ended the hold without a charge, as it does when nothing was delivered.
 */
function isForfeited({ debited, loss }: Settlement, charge: Micro): boolean {
  return charge > ZERO && debited === ZERO && loss === ZERO;
}
