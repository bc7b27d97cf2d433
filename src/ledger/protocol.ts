// Encodes the commands between a thread and the ledger's: one text per batch, in which each command
// is a list of values. Copying a text is cheaper than cloning objects member by member. Each end of
// a connection has one codec.

import type { ClientFormatName } from '../core/admit.ts';
import { assert } from '../core/assert.ts';
import type { Outcome, Usage, UsageDoubt } from '../core/generation.ts';
import { micro, tokenCount, usdRate } from '../core/money.ts';
import type { Price } from '../core/price.ts';
import { priceTexts, readPrice } from '../core/price-terms.ts';
import type { RequestFailure } from '../core/request-failure.ts';
import { detailMembers, readDetails } from '../core/usage-details.ts';
import type {
  CheckpointCommand,
  ExtendCommand,
  HoldCommand,
  LedgerRequest,
  ReleaseCommand,
  Served,
  SettleCommand,
} from './contract.ts';
import { boxInteger, type Integer, integer, unbox } from './integers.ts';

/** The version of a price, or all of it where it is sent first. */
type PriceValue = string | ReturnType<typeof priceTexts>;

type ServedValues = readonly [model: string, upstream: string, price: PriceValue];
type HoldValues = readonly [
  name: 'hold',
  requestId: string,
  accountId: string,
  keyId: string,
  format: ClientFormatName,
  stream: boolean,
  endUser: string | null,
  model: string,
  price: PriceValue,
  amount: Integer,
  excess: Integer,
  hidden: Integer,
  promptTokens: number,
  outputBound: number,
  boot: string | null,
  nowMs: number,
  family?: string,
];
type ExtendValues = readonly [name: 'extend', requestId: string, amount: Integer, excess: Integer];

type CheckpointValues = readonly [
  name: 'checkpoint',
  requestId: string,
  outputTokens: number,
  reasoningTokens: number,
  nowMs: number,
  ...served: ServedValues,
];

type EndValues = readonly [
  name: 'settle' | 'release',
  requestId: string,
  charge: Integer,
  withinHold: boolean,
  outcome: Outcome,
  failure: RequestFailure | null,
  input: number,
  cachedInput: number,
  cacheWrite: number,
  output: number,
  reasoning: number,
  basis: Usage['basis'],
  doubt: UsageDoubt | null,
  rawUsage: string | null,
  attempts: string,
  usdPerMillion: Integer,
  nowMs: number,
  details: string,
  ...served: ServedValues | readonly [],
];

/** A command that no request sends: its only integer, and the rest as JSON. */
type RareValues = readonly [
  name: 'recover' | 'credit' | 'redeem' | 'budget',
  integer: Integer,
  rest: string,
];

type CommandValues = HoldValues | ExtendValues | CheckpointValues | EndValues | RareValues;

/** The sending end. */
export class CommandEncoder {
  /** The versions that the other end knows. */
  readonly #prices = new Set<string>();

  encode(batch: readonly LedgerRequest[]): string {
    return JSON.stringify(batch.map((request) => this.#values(request)));
  }

  #values({ name, command }: LedgerRequest): CommandValues {
    switch (name) {
      case 'hold':
        return this.#hold(command);
      case 'extend':
        return [name, command.requestId, integer(command.amount), integer(command.excess ?? 0n)];
      case 'checkpoint': {
        const { requestId, outputTokens, reasoningTokens, nowMs, served } = command;
        return [name, requestId, outputTokens, reasoningTokens, nowMs, ...this.#served(served)];
      }
      case 'settle':
      case 'release':
        return this.#end(name, command);
      case 'recover':
        return [name, integer(command.usdPerMillion), restOf(command, 'usdPerMillion')];
      case 'credit':
        return [name, integer(command.amount), restOf(command, 'amount')];
      case 'redeem':
        return [name, 0, JSON.stringify(command)];
      case 'budget':
        return [name, 0, JSON.stringify(command, boxInteger)];
    }
  }

  #hold(command: HoldCommand): HoldValues {
    return [
      'hold',
      command.requestId,
      command.accountId,
      command.keyId,
      command.format,
      command.stream,
      command.endUser ?? null,
      command.model,
      this.#price(command.price),
      integer(command.amount),
      integer(command.excess ?? 0n),
      integer(command.hidden ?? 0n),
      command.promptTokens,
      command.outputBound,
      command.boot ?? null,
      command.nowMs,
      ...(command.family === undefined ? ([] as const) : ([command.family] as const)),
    ];
  }

  #end(name: EndValues[0], command: ReleaseCommand & Partial<SettleCommand>): EndValues {
    const { usage, served } = command;
    return [
      name,
      command.requestId,
      integer(command.charge ?? 0n),
      command.withinHold ?? false,
      command.outcome,
      command.failure ?? null,
      usage.inputTokens,
      usage.cachedInputTokens,
      usage.cacheWriteTokens,
      usage.outputTokens,
      usage.reasoningTokens,
      usage.basis,
      usage.doubt ?? null,
      command.rawUsage ?? null,
      command.attempts,
      integer(command.usdPerMillion),
      command.nowMs,
      detailMembers(usage),
      ...(served === undefined ? ([] as const) : this.#served(served)),
    ];
  }

  #served({ model, upstream, price }: Served): ServedValues {
    return [model, upstream, this.#price(price)];
  }

  /** Sends the rates of a version once. */
  #price(price: Price): PriceValue {
    const { version } = price;
    if (this.#prices.has(version)) return version;
    this.#prices.add(version);
    return priceTexts(price);
  }
}

/** The receiving end. */
export class CommandDecoder {
  readonly #prices = new Map<string, Price>();

  decode(text: string): LedgerRequest[] {
    const batch: readonly CommandValues[] = JSON.parse(text);
    return batch.map((values) => this.#request(values));
  }

  #request(values: CommandValues): LedgerRequest {
    switch (values[0]) {
      case 'hold':
        return { name: 'hold', command: this.#hold(values) };
      case 'extend':
        return { name: 'extend', command: extendOf(values) };
      case 'checkpoint':
        return { name: 'checkpoint', command: this.#checkpoint(values) };
      case 'settle':
        return { name: 'settle', command: this.#settle(values) };
      case 'release':
        return { name: 'release', command: this.#settle(values) };
      case 'recover': {
        const usdPerMillion = usdRate(BigInt(values[1]));
        return { name: 'recover', command: { ...JSON.parse(values[2]), usdPerMillion } };
      }
      case 'credit': {
        const amount = micro(BigInt(values[1]));
        return { name: 'credit', command: { ...JSON.parse(values[2]), amount } };
      }
      case 'redeem':
        return { name: 'redeem', command: JSON.parse(values[2]) };
      case 'budget':
        return { name: 'budget', command: JSON.parse(values[2], unbox) };
    }
  }

  #hold(values: HoldValues): HoldCommand {
    const [, requestId, accountId, keyId, format, stream, endUser, model, price, ...rest] = values;
    const [amount, excess, hidden, promptTokens, outputBound, boot, nowMs, family] = rest;
    return {
      requestId,
      accountId,
      keyId,
      format,
      stream,
      endUser: endUser ?? undefined,
      model,
      price: this.#price(price),
      amount: micro(BigInt(amount)),
      excess: micro(BigInt(excess)),
      hidden: micro(BigInt(hidden)),
      promptTokens: tokenCount(promptTokens),
      outputBound: tokenCount(outputBound),
      boot: boot ?? undefined,
      nowMs,
      family,
    };
  }

  #checkpoint(values: CheckpointValues): CheckpointCommand {
    const [, requestId, outputTokens, reasoningTokens, nowMs, ...served] = values;
    return { requestId, outputTokens, reasoningTokens, nowMs, served: this.#served(served) };
  }

  #settle(values: EndValues): SettleCommand {
    const [, requestId, charge, withinHold, outcome, failure, ...counts] = values;
    const [inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, ...rest] = counts;
    const [reasoningTokens, basis, doubt, rawUsage, attempts, usdPerMillion, nowMs, details] = rest;
    const served = values.slice(18) as unknown as ServedValues | readonly [];
    return {
      requestId,
      charge: micro(BigInt(charge)),
      withinHold,
      outcome,
      failure: failure ?? undefined,
      usage: {
        inputTokens,
        cachedInputTokens,
        cacheWriteTokens,
        outputTokens,
        reasoningTokens,
        basis,
        ...(doubt !== null && { doubt }),
        ...(details !== '' && readDetails(JSON.parse(`{${details.slice(1)}}`))),
      },
      rawUsage: rawUsage ?? undefined,
      attempts,
      usdPerMillion: usdRate(BigInt(usdPerMillion)),
      nowMs,
      served: served.length === 0 ? undefined : this.#served(served),
    };
  }

  #served([model, upstream, price]: ServedValues): Served {
    return { model, upstream, price: this.#price(price) };
  }

  #price(value: PriceValue): Price {
    if (typeof value === 'string') {
      const known = this.#prices.get(value);
      assert(known !== undefined, `the meaning of price version ${value} came before`);
      return known;
    }
    const price = readPrice(value);
    this.#prices.set(price.version, price);
    return price;
  }
}

function extendOf([, requestId, amount, excess]: ExtendValues): ExtendCommand {
  return { requestId, amount: micro(BigInt(amount)), excess: micro(BigInt(excess)) };
}

/** A command without its integer. */
function restOf<Command extends object>(command: Command, but: keyof Command): string {
  return JSON.stringify(command, (name, value: unknown) => (name === but ? undefined : value));
}
