// The ledger in its own thread, as a server runs it, passes the contract.

import { createRemoteLedger } from '../../../src/ledger/remote.ts';
import { newDatabase, temporaryDirectory, urlOf } from '../../support/database.ts';
import { describeLedger } from './contract.ts';
import { overSqlite } from './sqlite.ts';

const directory = temporaryDirectory();

describeLedger('the ledger in its thread', async () => {
  const database = await newDatabase(directory);
  return overSqlite(database, createRemoteLedger({ url: urlOf(database), sync: 'normal' }));
});
