// Several connections of one migrated database, for tests of nodes.

import { afterAll, beforeAll } from 'bun:test';
import type { Database, Dialect } from '../../src/store/contract.ts';
import {
  connectAgain,
  describeOnEachDatabase,
  newDatabase,
  temporaryDirectory,
  testDialect,
} from '../support/database.ts';

/** The first database of a process starts a server; laws over many of them take long, too. */
export const START_MS = 60_000;

/** A group of tests on each kind of database, with `count` connections, which are closed at its end. */
export function describeOnDatabases(
  name: string,
  count: number,
  body: (connections: () => readonly Database[], dialect: Dialect) => void,
): void {
  describeOnEachDatabase(name, () => {
    const directory = temporaryDirectory();
    let databases: readonly Database[] = [];

    beforeAll(async () => {
      const first = await newDatabase(directory);
      const others = Array.from({ length: count - 1 }, () => connectAgain(first));
      databases = [first, ...others];
    }, START_MS);
    // The first one last: another test takes its database up then.
    afterAll(async () => {
      for (const database of databases.toReversed()) await database.close();
    });

    body(() => databases, testDialect());
  });
}
