// The ledger in a thread of its own, as a server has it, held to the contract.

import { join } from 'node:path';
import { createRemoteLedger } from '../../../src/ledger/remote.ts';
import { newDatabase, temporaryDirectory } from '../../support/database.ts';
import { describeLedger } from './contract.ts';
import { overSqlite } from './sqlite.ts';

const directory = temporaryDirectory();

describeLedger('the ledger in its thread', async () => {
  const name = crypto.randomUUID();
  const database = await newDatabase(directory, name);
  const url = `sqlite:${join(directory, `${name}.db`)}`;
  return overSqlite(database, createRemoteLedger({ url, sync: 'normal' }));
});
