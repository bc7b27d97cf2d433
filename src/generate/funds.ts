// What this process remembers of the money of accounts: those without a balance are refused before
// their prompts are counted, which costs CPU time that they do not pay for, and those whose early
// answer a commit has revoked get none again. Only the hold decides whether the balance covers a
// request.

import type { Awaitable } from '../async/awaitable.ts';
import { GatewayError } from '../core/error.ts';
import { formatTokens, type Micro } from '../core/money.ts';
import type { Books } from '../ledger/books.ts';

/** Above this many accounts the set is cleared and accounts are looked up again. */
const ACCOUNTS_MAX = 20_000;

export type Funds = ReturnType<typeof createFunds>;

export function createFunds({ balance }: Pick<Books, 'balance'>) {
  /** Accounts that had a balance at the last ledger read and are not in doubt since. */
  const funded = new Set<string>();
  const contested = new Set<string>();

  async function lookUp(accountId: string, minimum: Micro): Promise<void> {
    const { posted, available } = await balance(accountId).catch(() => {
      throw new GatewayError('provider_unavailable', {
        message: 'The service cannot read balances at the moment. Retry with back-off.',
      });
    });
    if (posted < minimum) {
      throw new GatewayError('insufficient_balance', {
        message: `The available balance is ${formatTokens(available)} service tokens, and this request has to reserve at least ${formatTokens(minimum)}. Top up the account.`,
      });
    }
    if (funded.size >= ACCOUNTS_MAX) funded.clear();
    funded.add(accountId);
  }

  return {
    /**
     * Throws `insufficient_balance` if the whole balance is below `minimum`, the least that a
     * request reserves. Reads the ledger unless the account is known to have more. Throws
     * `provider_unavailable` if that read fails.
     */
    require: (accountId: string, minimum: Micro): Awaitable<void> =>
      funded.has(accountId) ? undefined : lookUp(accountId, minimum),
    /** Marks the account as low on balance, so its next request reads the ledger. */
    doubt: (accountId: string): void => void funded.delete(accountId),
    /** Marks the account of a hold that was revoked (`ledger/error.ts`). */
    contest(accountId: string): void {
      if (contested.size >= ACCOUNTS_MAX) contested.clear();
      contested.add(accountId);
    },
    isContested: (accountId: string): boolean => contested.has(accountId),
  };
}
