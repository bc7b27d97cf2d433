// Creates many accounts in this process, as the command line would: a command for each takes most
// of a test's time.

import { createContext } from '../../src/cli/context.ts';
import { openAccounts } from '../../src/cli/open-operations.ts';
import { createId } from '../../src/core/id.ts';
import { micro } from '../../src/core/money.ts';
import type { Gateway, TestAccount } from './gateway.ts';

/** `credit` is in service tokens. */
export async function createAccounts(
  gateway: Gateway,
  count: number,
  { plan, credit }: { readonly plan: string; readonly credit: number },
): Promise<TestAccount[]> {
  const environment = { DATABASE_URL: `sqlite:${gateway.databasePath}` };
  const context = createContext(environment, gateway.directory);
  const { accounts, keys, ledger } = await openAccounts(context);
  const made: TestAccount[] = [];
  for (let index = 0; index < count; index += 1) {
    const email = `${crypto.randomUUID()}@example.com`;
    const { id } = await accounts.create({ email, plan, emailVerified: true }, 'operator');
    await ledger.credit({
      creditId: createId('cred_', context.randomBytes),
      accountId: id,
      kind: 'credit',
      amount: micro(BigInt(credit * 1_000_000)),
      reason: 'for a test',
      nowMs: Date.now(),
    });
    const { key } = await keys.create({ accountId: id, name: null }, 'operator');
    made.push({ url: gateway.url, id, email, key });
  }
  await context.close();
  return made;
}
