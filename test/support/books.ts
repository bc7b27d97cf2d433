// Reads the ledger of a gateway under test in this process: a command for each read would take most
// of a table's time. Returns what `tollgate explain` prints.

import { micro } from '../../src/core/money.ts';
import { explain } from '../../src/ledger/explain.ts';
import { explanation } from '../../src/operations/explanation.ts';
import { openDatabase } from '../../src/store/database.ts';
import type { Story } from './explain.ts';
import type { Gateway } from './gateway.ts';
import { waitUntil } from './upstream.ts';

export type Books = {
  /** The story of a request, once it has ended; undefined for one that was refused. */
  readonly story: (requestId: string | null) => Promise<Story | undefined>;
  readonly close: () => Promise<void>;
};

export function openBooks(gateway: Gateway): Books {
  const database = openDatabase({ url: `sqlite:${gateway.databasePath}`, sync: 'normal' });
  return {
    async story(requestId) {
      let story = await explain(database, String(requestId));
      if (story === undefined) return undefined;
      await waitUntil(async () => {
        story = await explain(database, String(requestId));
        return story?.record !== undefined;
      });
      return explanation(story, { minimumHold: micro(0n) }) as Story;
    },
    close: () => database.close(),
  };
}
