// The ledger as one page of arithmetic: what any sequence of commands must answer and leave behind.

export type Step =
  | {
      readonly kind: 'credit';
      readonly account: string;
      readonly amount: bigint;
      readonly id: string;
    }
  | {
      readonly kind: 'hold';
      readonly account: string;
      readonly amount: bigint;
      readonly id: string;
    }
  | { readonly kind: 'settle'; readonly charge: bigint; readonly id: string }
  | { readonly kind: 'release'; readonly id: string };

type ModelHold = { account: string; amount: bigint; end?: { debited: bigint; loss: bigint } };

export function createModel() {
  const posted = new Map<string, bigint>();
  const holds = new Map<string, ModelHold>();
  const credits = new Set<string>();

  const held = (account: string) =>
    [...holds.values()]
      .filter((hold) => hold.account === account && hold.end === undefined)
      .reduce((sum, hold) => sum + hold.amount, 0n);
  const available = (account: string) => (posted.get(account) ?? 0n) - held(account);

  function end(id: string, charge: bigint): string {
    const hold = holds.get(id);
    if (hold === undefined) return 'rejected';
    if (hold.end === undefined) {
      hold.end = { debited: 0n, loss: 0n };
      const most = available(hold.account);
      const debited = charge < most ? charge : most;
      hold.end = { debited, loss: charge - debited };
      posted.set(hold.account, (posted.get(hold.account) ?? 0n) - debited);
    }
    const { debited, loss } = hold.end;
    return `debited ${debited} lost ${loss} available ${available(hold.account)}`;
  }

  function run(step: Step): string {
    switch (step.kind) {
      case 'credit': {
        const applied = !credits.has(step.id);
        if (applied) posted.set(step.account, (posted.get(step.account) ?? 0n) + step.amount);
        credits.add(step.id);
        return `applied ${applied} available ${available(step.account)}`;
      }
      case 'hold': {
        if (available(step.account) < step.amount) {
          return `ok false available ${available(step.account)}`;
        }
        if (holds.has(step.id)) return 'rejected';
        holds.set(step.id, { account: step.account, amount: step.amount });
        return `ok true available ${available(step.account)}`;
      }
      case 'settle':
        return end(step.id, step.charge);
      case 'release':
        return end(step.id, 0n);
    }
  }

  const balance = (account: string) => ({
    posted: posted.get(account) ?? 0n,
    held: held(account),
    available: available(account),
  });

  return { run, balance };
}
