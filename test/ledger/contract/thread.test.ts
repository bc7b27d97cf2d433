// The ledger in its own thread, as a server runs it, passes the contract.

import { createRemoteLedger } from '../../../src/ledger/remote.ts';
import { newDatabase, temporaryDirectory, urlOf } from '../../support/database.ts';
import { describeLedger } from './contract.ts';
import { overSqlite } from './sqlite.ts';

const directory = temporaryDirectory();

// Each run starts a thread, which is a way to the same ledger.
const LAW_SHARE = 0.2;

describeLedger(
  'the ledger in its thread',
  async () => {
    const database = await newDatabase(directory);
    return overSqlite(database, createRemoteLedger({ url: urlOf(database), sync: 'normal' }));
  },
  LAW_SHARE,
);
