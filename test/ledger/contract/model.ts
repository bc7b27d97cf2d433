// The ledger as one page of arithmetic: the answer and the effect of any sequence of commands. It
// has no database, no batches, and only two small sums as prices.

import { micro } from '../../../src/core/money.ts';

export type Step =
  | { kind: 'credit'; id: string; account: string; amount: bigint; as: CreditKind }
  | { kind: 'hold'; id: string; account: string; amount: bigint; beyond?: Beyond }
  | { kind: 'extend'; id: string; amount: bigint; excess?: bigint }
  | { kind: 'checkpoint'; id: string; output: number; cheap: boolean }
  | { kind: 'settle'; id: string; charge: bigint; withinHold: boolean }
  | { kind: 'release'; id: string }
  | { kind: 'recover'; live: readonly string[]; phase: 'ended' | 'expired' }
  | { kind: 'redeem'; code: string; account: string };

/** What a hold may cost beyond its amount: of its prompt, and of output that stays hidden. */
export type Beyond = { readonly excess: bigint; readonly hidden: bigint };

export type CreditKind = 'credit' | 'grant' | 'adjustment';

/** A code that was made before the first step. */
export type ModelCode = {
  readonly code: string;
  readonly amount: bigint;
  readonly state: CodeState;
};
export type CodeState = 'open' | 'expired' | 'revoked';

type ModelHold = {
  readonly account: string;
  readonly first: bigint;
  amount: bigint;
  worst: bigint;
  output: number;
  /** Undefined until the first checkpoint. */
  cheap?: boolean;
  end?: { readonly phase: string; readonly debited: bigint; readonly loss: bigint };
};

/** Of every hold of these tests: 100 tokens at 0.15, or at a tenth of that, in 10⁻⁶ service token. */
const PROMPT = 100;

/** In tenths of hundredths of a unit, rounded half up at the end. */
function cost(output: number, cheap: boolean): bigint {
  const [input, out] = cheap ? [15, 60] : [150, 600];
  return BigInt(Math.floor((PROMPT * input + output * out + 500) / 1_000));
}

/** Above it, an account gets what its balance covers in the worst case, and nothing else. */
const UNPAID_MAX = 100_000_000_000n;

/** What the worst cases of an account without debts may lack beside the largest of them. */
const ALLOWANCE = 10_000_000_000n;

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, each) => sum + each, 0n);
const most = (a: bigint, b: bigint) => (a > b ? a : b);
const least = (a: bigint, b: bigint) => (a < b ? a : b);

export function createModel(codes: readonly ModelCode[] = []) {
  const posted = new Map<string, bigint>();
  const holds = new Map<string, ModelHold>();
  const unpaid = new Map<string, bigint>();
  const credits = new Map<string, string>();
  const redeemed = new Map<string, string>();

  const held = (account: string) =>
    [...holds.values()]
      .filter((hold) => hold.account === account && hold.end === undefined)
      .reduce((sum, hold) => sum + hold.amount, 0n);
  /**
   * Whether all worst cases but the largest are covered, but for the allowance; of an account with
   * debts, all of them.
   */
  function covers(account: string, id: string, worst: bigint): boolean {
    const others = [...holds]
      .filter(([other, hold]) => hold.account === account && !hold.end && other !== id)
      .map(([, hold]) => hold.worst);
    const all = [...others, worst];
    const owed = unpaid.get(account) ?? 0n;
    const isStrict = owed > UNPAID_MAX || (owed > 0n && others.length > 0);
    const lack = isStrict ? 0n : all.reduce(most, 0n) + ALLOWANCE;
    return sumOf(all) - lack <= (posted.get(account) ?? 0n);
  }

  const available = (account: string) => (posted.get(account) ?? 0n) - held(account);
  const move = (account: string, amount: bigint) =>
    posted.set(account, (posted.get(account) ?? 0n) + amount);

  /** A credit first pays what was left unpaid. */
  function pay(account: string, amount: bigint): void {
    move(account, amount);
    unpaid.set(account, most(0n, (unpaid.get(account) ?? 0n) - most(0n, amount)));
  }

  function credit({ id, account, amount, as }: Extract<Step, { kind: 'credit' }>): string {
    const facts = `${account} ${amount} ${as}`;
    const before = credits.get(id);
    if (before === facts) return `applied false available ${available(account)}`;
    const refused = amount === 0n || (as !== 'adjustment' && amount < 0n);
    if (before !== undefined || refused || available(account) + amount < 0n) return 'refused';
    credits.set(id, facts);
    pay(account, amount);
    return `applied true available ${available(account)}`;
  }

  function hold({ id, account, amount, beyond }: Extract<Step, { kind: 'hold' }>): string {
    const found = holds.get(id);
    if (found !== undefined) {
      const same = found.account === account && found.amount >= amount;
      if (found.end !== undefined || !same) return 'refused';
      return `ok true available ${available(account)}`;
    }
    const { excess, hidden } = beyond ?? { excess: 0n, hidden: 0n };
    const worst = amount + excess + least(hidden, available(account) - amount);
    const ok = available(account) >= amount && covers(account, id, worst);
    if (ok) holds.set(id, { account, first: amount, amount, worst, output: 0 });
    return `ok ${ok} available ${available(account)}`;
  }

  function extend({ id, amount, excess = 0n }: Extract<Step, { kind: 'extend' }>): string {
    const found = holds.get(id);
    if (found === undefined || found.end !== undefined) return 'refused';
    const more = amount - found.amount;
    const worst = most(found.worst, amount + excess);
    const ok = more <= 0n || (available(found.account) >= more && covers(found.account, id, worst));
    if (ok && more > 0n) Object.assign(found, { amount, worst });
    return `ok ${ok} available ${available(found.account)}`;
  }

  function end(id: string, charge: bigint, phase: string, withinHold: boolean): string {
    const found = holds.get(id);
    if (found === undefined) return 'refused';
    if (found.end === undefined) {
      const payable = withinHold ? found.amount : available(found.account) + found.amount;
      const debited = least(charge, payable);
      found.end = { phase, debited, loss: charge - debited };
      move(found.account, -debited);
      unpaid.set(found.account, (unpaid.get(found.account) ?? 0n) + charge - debited);
    }
    const { debited, loss } = found.end;
    return `debited ${debited} lost ${loss} available ${available(found.account)}`;
  }

  function recover({ live, phase }: Extract<Step, { kind: 'recover' }>): string {
    const lost = [...holds].filter(([id, one]) => one.end === undefined && !live.includes(id));
    const ended = lost.map(([id, { output, cheap }]) => {
      const ending = cheap === undefined ? 'released' : 'settled';
      const charge = cheap === undefined ? 0n : cost(output, cheap);
      end(id, charge, phase === 'expired' ? phase : ending, true);
      return `${id} ${holds.get(id)?.end?.debited}`;
    });
    return `recovered ${ended.sort().join(', ')}`;
  }

  function redeem({ code, account }: Extract<Step, { kind: 'redeem' }>): string {
    const found = codes.find((known) => known.code === code);
    if (found === undefined) return 'unknown';
    const before = redeemed.get(code);
    if (before !== undefined && before !== account) return 'used';
    if (before === undefined && found.state !== 'open') return found.state;
    if (before === undefined) pay(account, found.amount);
    redeemed.set(code, account);
    return `redeemed ${found.amount} available ${available(account)}`;
  }

  function run(step: Step): string {
    switch (step.kind) {
      case 'credit':
        return credit(step);
      case 'hold':
        return hold(step);
      case 'extend':
        return extend(step);
      case 'settle':
        return end(step.id, step.charge, 'settled', step.withinHold);
      case 'release':
        return end(step.id, 0n, 'released', true);
      case 'recover':
        return recover(step);
      case 'redeem':
        return redeem(step);
      case 'checkpoint': {
        const found = holds.get(step.id);
        if (found === undefined || found.end !== undefined) return 'refused';
        found.cheap = step.cheap;
        found.output = Math.max(found.output, step.output);
        return 'done';
      }
    }
  }

  return {
    run,
    balance: (account: string) => ({
      posted: micro(posted.get(account) ?? 0n),
      held: micro(held(account)),
      available: micro(available(account)),
    }),
    /** How each hold stands: its phase once it has ended, and what it reserves or took. */
    holds: (): ReadonlyMap<string, string> =>
      new Map(
        [...holds].map(([id, { amount, cheap, end: ended }]) => {
          if (ended !== undefined) {
            return [id, `${ended.phase} debited ${ended.debited} lost ${ended.loss}`];
          }
          return [id, `${cheap === undefined ? 'held' : 'delivering'} ${amount}`];
        }),
      ),
  };
}
