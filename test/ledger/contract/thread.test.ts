// The ledger in a thread of its own, as a server has it, held to the contract.

import { createRemoteLedger } from '../../../src/ledger/remote.ts';
import { newDatabase, temporaryDirectory, urlOf } from '../../support/database.ts';
import { describeLedger } from './contract.ts';
import { overSqlite } from './sqlite.ts';

const directory = temporaryDirectory();

describeLedger('the ledger in its thread', async () => {
  const database = await newDatabase(directory);
  return overSqlite(database, createRemoteLedger({ url: urlOf(database), sync: 'normal' }));
});
