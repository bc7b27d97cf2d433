// One command for the ledger, as plain data: what queues hold, threads post and the writer takes.

import type { Ledger } from './contract.ts';

type RequestName = Exclude<keyof Ledger, 'pending' | 'close'>;

export type LedgerRequest = {
  [Name in RequestName]: { readonly name: Name; readonly command: Parameters<Ledger[Name]>[0] };
}[RequestName];
