// Stores raised alerts, and what upstreams said, for operators every few seconds. While the database
// fails, alerts wait in memory; the log and the webhook have them at once.

import type { RandomBytes } from '../core/id.ts';
import type { Log } from '../observe/log.ts';
import type { RaisedAlerts } from '../observe/raised-alerts.ts';
import { recordAlerts } from '../operations/alerts.ts';
import { type HeardGroups, recordWords } from '../operations/upstream-words.ts';
import type { Database } from '../store/contract.ts';

export const ALERTS_STORED_EVERY_MS = 2_000;

/** Returns a function that stores what was raised; it never rejects. */
export function createAlertKeeper(dependencies: {
  readonly database: Database;
  readonly raised: RaisedAlerts;
  readonly heard: HeardGroups;
  readonly randomBytes: RandomBytes;
  readonly log: Pick<Log, 'error'>;
}): () => Promise<void> {
  const { database, raised, heard, randomBytes, log } = dependencies;
  const storeWords = async (): Promise<void> => {
    const words = heard.take();
    if (words.length === 0) return;
    try {
      await recordWords(database, words);
    } catch (error) {
      log.error('what upstreams said could not be stored', error);
    }
  };
  return async () => {
    await storeWords();
    if (raised.isEmpty()) return;
    const groups = raised.take();
    try {
      await recordAlerts(database, groups, randomBytes);
    } catch (error) {
      raised.putBack(groups);
      log.error('alerts could not be stored for the console', error);
    }
  };
}
