// Invitations and blocks leave the tables when their term is over; open ones stay.

import { expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { createBlocks } from '../../../src/identity/blocks.ts';
import { createInvites } from '../../../src/identity/sign-in/invites.ts';
import { describeOnEachDatabase, newDatabase, temporaryDirectory } from '../../support/database.ts';

const DAY_MS = 86_400_000;

const SELECT = sql`select value from blocks`;

describeOnEachDatabase('a sweep', () => {
  const directory = temporaryDirectory();
  const actor = 'test';
  const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));

  test('removes invitations 90 days after their end', async () => {
    await using database = await newDatabase(directory);
    let nowMs = Date.UTC(2026, 0, 1);
    const invites = createInvites({ database, clock: () => nowMs, randomBytes });
    const short = await invites.create({ email: 'a@example.org' }, actor);
    const revoked = await invites.create({ expiresAt: nowMs + 400 * DAY_MS }, actor);
    const long = await invites.create({ expiresAt: nowMs + 400 * DAY_MS }, actor);
    nowMs += 20 * DAY_MS;
    await invites.revoke(revoked.invite.id, actor);
    const ids = async () => (await invites.list()).map(({ id }) => id).toSorted();
    await invites.sweep();
    expect(await ids()).toEqual([short, revoked, long].map(({ invite }) => invite.id).toSorted());
    nowMs += 85 * DAY_MS;
    await invites.sweep();
    expect(await ids()).toEqual([revoked, long].map(({ invite }) => invite.id).toSorted());
    nowMs += 6 * DAY_MS;
    await invites.sweep();
    expect(await ids()).toEqual([long.invite.id]);
  });

  test('removes blocks at their end', async () => {
    await using database = await newDatabase(directory);
    let nowMs = Date.UTC(2026, 0, 1);
    const blocks = createBlocks({ database, clock: () => nowMs, randomBytes });
    await blocks.add('network', '192.0.2.0/24', { reason: 'scans', forMs: DAY_MS }, actor);
    await blocks.add('network', '198.51.100.0/24', { reason: 'scans' }, actor);
    const values = async () =>
      (await database.rows<{ value: string }>(SELECT)).map(({ value }) => value).toSorted();
    await blocks.sweep();
    expect(await values()).toEqual(['192.0.2.0/24', '198.51.100.0/24']);
    nowMs += DAY_MS;
    await blocks.sweep();
    expect(await values()).toEqual(['198.51.100.0/24']);
  });
});
