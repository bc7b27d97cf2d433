// The commands as they cross from a server's thread to the ledger's: each layout describes one
// for both ends (`fields.ts`). `answers.ts` has those of the answers.

import type { Usage } from '../core/generation.ts';
import { ZERO } from '../core/money.ts';
import { detailMembers, readDetails } from '../core/usage-details.ts';
import type {
  CheckpointCommand,
  CommandTypes,
  ExtendCommand,
  HoldCommand,
  LedgerRequest,
  ReleaseCommand,
  Served,
  SettleCommand,
} from './contract.ts';
import type { Fields, Layout } from './fields.ts';

/** A batch. */
export function commands(
  fields: Fields,
  given: readonly LedgerRequest[],
): readonly LedgerRequest[] {
  return fields.list(given, request);
}

function request(fields: Fields, given: LedgerRequest): LedgerRequest {
  const name = fields.name(given.name);
  // The layout is that of the named command.
  const layout = COMMANDS[name] as Layout<LedgerRequest['command']>;
  return { name, command: fields.part(given.command, layout) } as LedgerRequest;
}

const name = <Value extends string>(fields: Fields, given: Value): Value => fields.name(given);
const copy = (fields: Fields, given: string): string => fields.copy(given);
const text = (fields: Fields, given: string): string => fields.text(given);
/** For commands that no request sends. */
const json = <Value>(fields: Fields, given: Value): Value => fields.json(given);

function hold(fields: Fields, given: HoldCommand): HoldCommand {
  return {
    // The ledger keeps it, and the user below, while the hold is open.
    requestId: fields.copy(given.requestId),
    accountId: fields.name(given.accountId),
    keyId: fields.name(given.keyId),
    family: fields.optional(given.family, name),
    format: fields.name(given.format),
    stream: fields.flag(given.stream),
    endUser: fields.optional(given.endUser, copy),
    model: fields.name(given.model),
    price: fields.price(given.price),
    amount: fields.integer(given.amount),
    excess: fields.integer(given.excess ?? ZERO),
    hidden: fields.integer(given.hidden ?? ZERO),
    promptTokens: fields.number(given.promptTokens),
    outputBound: fields.number(given.outputBound),
    boot: fields.optional(given.boot, name),
    nowMs: fields.number(given.nowMs),
  };
}

function extend(fields: Fields, given: ExtendCommand): ExtendCommand {
  return {
    requestId: fields.text(given.requestId),
    amount: fields.integer(given.amount),
    excess: fields.integer(given.excess ?? ZERO),
  };
}

function checkpoint(fields: Fields, given: CheckpointCommand): CheckpointCommand {
  return {
    requestId: fields.text(given.requestId),
    served: fields.part(given.served, served),
    outputTokens: fields.number(given.outputTokens),
    reasoningTokens: fields.number(given.reasoningTokens),
    nowMs: fields.number(given.nowMs),
  };
}

/** A settle, or a release, which charges nothing. */
function end(
  fields: Fields,
  given: ReleaseCommand & Partial<Pick<SettleCommand, 'charge' | 'withinHold'>>,
): SettleCommand {
  return {
    requestId: fields.text(given.requestId),
    served: fields.optional(given.served, served),
    outcome: fields.name(given.outcome),
    failure: fields.optional(given.failure, name),
    usage: fields.part(given.usage, usage),
    rawUsage: fields.optional(given.rawUsage, text),
    attempts: fields.text(given.attempts),
    charge: fields.integer(given.charge ?? ZERO),
    withinHold: fields.flag(given.withinHold ?? false),
    usdPerMillion: fields.integer(given.usdPerMillion),
    nowMs: fields.number(given.nowMs),
  };
}

function served(fields: Fields, given: Served): Served {
  return {
    model: fields.name(given.model),
    upstream: fields.name(given.upstream),
    price: fields.price(given.price),
  };
}

function usage(fields: Fields, given: Usage): Usage {
  const counts = {
    inputTokens: fields.number(given.inputTokens),
    cachedInputTokens: fields.number(given.cachedInputTokens),
    cacheWriteTokens: fields.number(given.cacheWriteTokens),
    outputTokens: fields.number(given.outputTokens),
    reasoningTokens: fields.number(given.reasoningTokens),
    basis: fields.name(given.basis),
  };
  const doubt = fields.optional(given.doubt, name);
  const details = fields.text(detailMembers(given));
  if (doubt === undefined && details === '') return counts;
  const detailed = { ...counts, ...readDetails(JSON.parse(`{${details.slice(1)}}`)) };
  return doubt === undefined ? detailed : { ...detailed, doubt };
}

const COMMANDS: { readonly [Name in keyof CommandTypes]: Layout<CommandTypes[Name]> } = {
  hold,
  extend,
  checkpoint,
  settle: end,
  release: end,
  recover: json,
  credit: json,
  redeem: json,
  budget: json,
};
