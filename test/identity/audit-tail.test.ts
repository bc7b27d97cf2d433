// The end of the audit trail as a server reads it, in order.

import { expect, test } from 'bun:test';
import { writeAuditEvent } from '../../src/identity/audit.ts';
import { type AuditTailEvent, createAuditTail } from '../../src/identity/audit-tail.ts';
import type { Database } from '../../src/store/contract.ts';
import { readDatabaseTime } from '../../src/store/database-time.ts';
import { describeOnDatabases } from '../cluster/databases.ts';

function write(database: Database, subject: string): Promise<void> {
  return writeAuditEvent(database, {
    operationId: `op_${subject}`,
    at: 1,
    actor: 'operator',
    action: 'upstream.reset',
    subject,
  });
}

const subjects = (events: readonly AuditTailEvent[]): string[] =>
  events.map(({ subject }) => subject);

describeOnDatabases('the audit trail', 3, (connections) => {
  function open() {
    const [reader, writer, slow] = connections();
    if (reader === undefined || writer === undefined || slow === undefined)
      throw new Error('Three.');
    return { writer, slow, tail: createAuditTail(reader) };
  }

  test('each event is events once, and what was there before is none', async () => {
    const { writer, tail } = open();
    await write(writer, 'before');
    expect((await tail.read()).events).toEqual([]);
    expect((await tail.read()).events).toEqual([]);
    await write(writer, 'one');
    await write(writer, 'two');
    const { events } = await tail.read();
    expect(events.map(({ action, subject }) => [action, subject])).toEqual([
      ['upstream.reset', 'one'],
      ['upstream.reset', 'two'],
    ]);
    expect((await tail.read()).events).toEqual([]);
    await write(writer, 'three');
    expect(subjects((await tail.read()).events)).toEqual(['three']);
  });

  test('a reading says until when it has seen everything', async () => {
    const { writer, tail } = open();
    const before = await readDatabaseTime(writer);
    const { at } = await tail.read();
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(await readDatabaseTime(writer));
  });

  test('one that is written later is not committed before', async () => {
    const { slow, writer, tail } = open();
    await tail.read();
    const written = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const transaction = slow.transaction(async () => {
      await write(slow, 'slow');
      written.resolve();
      await mayCommit.promise;
    });
    await written.promise;
    const quick = write(writer, 'quick');
    expect((await tail.read()).events).toEqual([]);
    mayCommit.resolve();
    await Promise.all([transaction, quick]);
    expect(subjects((await tail.read()).events)).toEqual(['slow', 'quick']);
  });
});
