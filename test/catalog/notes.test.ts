// Notes between a server and its commands: they are read back as written, and notes of an unknown
// version are ignored.

import { afterAll, expect, test } from 'bun:test';
import {
  type CatalogNote,
  readCatalogNote,
  readReloadRequest,
  writeCatalogNote,
  writeReloadRequest,
} from '../../src/catalog/notes.ts';
import {
  describeOnEachDatabase,
  newDatabase,
  tamper,
  temporaryDirectory,
} from '../support/database.ts';

describeOnEachDatabase('notes of the catalog', async () => {
  const database = await newDatabase(temporaryDirectory());
  afterAll(() => database.close());

  const NOTE: CatalogNote = {
    request: null,
    version: 3,
    digest: 'abc',
    origin: 'file',
    path: '/catalog.toml',
    loaded_at: '2026-11-21T12:00:00Z',
    models: 1,
    upstreams: 2,
    plans: 5,
    warnings: ['one'],
    refused: { at: '2026-11-21T12:01:00Z', problems: ['two'] },
  };

  test('a note is read as it was written, and the next takes its place', async () => {
    expect(await readCatalogNote(database)).toBeUndefined();
    await writeCatalogNote(database, NOTE, 1);
    expect(await readCatalogNote(database)).toEqual(NOTE);
    const next = { ...NOTE, request: 'op_1', refused: null };
    await writeCatalogNote(database, next, 2);
    expect(await readCatalogNote(database)).toEqual(next);
  });

  test('a request for a reload is the last one', async () => {
    expect(await readReloadRequest(database)).toBeUndefined();
    await writeReloadRequest(database, 'op_1', 1);
    await writeReloadRequest(database, 'op_2', 2);
    expect(await readReloadRequest(database)).toBe('op_2');
  });

  test.each(['', '{', '[]', '{"version":1}', JSON.stringify({ ...NOTE, warnings: 'none' })])(
    'the note %p is none',
    async (value) => {
      await tamper(database, `UPDATE server_notes SET value = '${value}' WHERE name = 'catalog'`);
      expect(await readCatalogNote(database)).toBeUndefined();
    },
  );
});
