// The in-process ledger passes the contract.

import { createLedger } from '../../../src/ledger/ledger.ts';
import { newDatabase, temporaryDirectory } from '../../support/database.ts';
import { describeLedger } from './contract.ts';
import { overSqlite } from './sqlite.ts';

const directory = temporaryDirectory();

describeLedger('the ledger in this process', async () => {
  const database = await newDatabase(directory);
  return overSqlite(database, createLedger({ database }));
});
