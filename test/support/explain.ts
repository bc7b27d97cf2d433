// The explanation of a request as the operator reads it, for tests of money.

import type { Gateway } from './gateway.ts';
import { waitUntil } from './upstream.ts';

export type Story = Readonly<Record<string, unknown>> & {
  readonly hold: Readonly<Record<string, unknown>>;
  readonly request: Readonly<Record<string, unknown>> | null;
  readonly usage: Readonly<Record<string, unknown>> | null;
  readonly booked: Readonly<Record<string, unknown>> | null;
  readonly attempts: readonly Readonly<Record<string, unknown>>[];
};

/** What `tollgate explain` says of a request, once the request has ended. */
export async function explain(gateway: Gateway, requestId: string | null): Promise<Story> {
  let story: Story | undefined;
  await waitUntil(async () => {
    story = (await gateway.run('explain', String(requestId))) as Story;
    return story.request !== null;
  });
  if (story === undefined) throw new Error('no story');
  return story;
}
