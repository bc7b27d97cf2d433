// The catalog's text in the console: a draft of it is checked, tested, compared with the file and
// published. Forms and price drafts change the text of the draft. Literal keys never leave the server.

import { Type } from '@sinclair/typebox';
import { CATALOG_KINDS } from '../../catalog/entries.ts';
import { catalogDigest } from '../../catalog/live.ts';
import type { FoundCatalog } from '../../catalog/source.ts';
import { mergedText } from '../../catalog/text-difference.ts';
import { accountsByPlan } from '../../identity/accounts.ts';
import { auditChange } from '../../identity/audit.ts';
import {
  type CheckedText,
  checkText,
  publishCheckedText,
  shownText,
} from '../../operations/catalog-text.ts';
import { previousText } from '../../operations/publish-catalog.ts';
import { trialCandidates } from '../../operations/upstreams.ts';
import type { MachineDependencies } from '../dependencies.ts';
import { TEXT_BODY_BYTES_MAX } from '../edge/body.ts';
import { notFound } from '../edge/error.ts';
import { type OperatorRoutes, oneOf, sessionRoute, stepUpRoute, viewRoute } from '../edge/route.ts';
import type {
  CatalogTextRecord,
  PublishedRecord,
  TextCheckRecord,
  UpstreamTestRecord,
} from '../records/operator-catalog.ts';
import { catalogFileRecord, takeUp } from './catalog-file.ts';
import { editedText, entryRecord } from './catalog-forms.ts';
import { changeOf } from './dependencies.ts';

const TEXT = Type.String();
const NAME = Type.String({ minLength: 1, maxLength: 128 });

const ENTRY = {
  text: TEXT,
  kind: oneOf(CATALOG_KINDS),
  /** Null for a new entry. */
  id: Type.Union([NAME, Type.Null()]),
};

export function catalogTextRoutes(dependencies: MachineDependencies): OperatorRoutes {
  const { machine, clock } = dependencies;

  const check = (text: string, found = machine.findCatalog()) =>
    checkDraft(dependencies, text, found);

  return [
    viewRoute({
      path: '/catalog/text',
      handle: () => textRecord(dependencies),
    }),
    sessionRoute({
      method: 'POST',
      path: '/catalog/text/check',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'prices.preview',
      body: { text: TEXT },
      handle: async ({ body: { text } }): Promise<TextCheckRecord> =>
        checkRecord(await check(text)),
    }),
    sessionRoute({
      method: 'POST',
      path: '/catalog/text/merge',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'prices.preview',
      body: { base: TEXT, text: TEXT },
      handle({ body: { base, text } }): CatalogTextRecord & { readonly merged: string } {
        const record = textRecord(dependencies);
        return { ...record, merged: mergedText(base, record.text, text) };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/catalog/text/test',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'service.manage',
      body: { text: TEXT, upstream: NAME, model: Type.String({ maxLength: 256 }) },
      async handle({ body: { text, upstream, model }, actor }): Promise<UpstreamTestRecord> {
        const { problems, result } = await check(text);
        if (result === undefined) return { problems, results: [] };
        // Outside of the running server's health, so that a draft never affects customers.
        const place = { upstream, model: model || undefined };
        const [candidate] = trialCandidates(result.catalog, place, clock());
        if (candidate === undefined) throw notFound('upstream');
        const results = await machine.trial(candidate);
        const change = changeOf(dependencies, actor);
        await change.database.transaction(() =>
          auditChange(change, 'upstream.tested', upstream, {
            base_url: candidate.upstream.dialect === 'demo' ? null : candidate.upstream.baseUrl,
            succeeded: results.filter(({ ok }) => ok).length,
            failed: results.filter(({ ok }) => !ok).length,
          }),
        );
        return { problems, results };
      },
    }),
    stepUpRoute({
      method: 'POST',
      path: '/catalog/text/publish',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'service.manage',
      body: { text: TEXT, based_on: Type.String({ maxLength: 64 }) },
      async handle({ body: { text, based_on }, actor }): Promise<PublishedRecord> {
        const found = machine.findCatalog();
        const checked = await check(text, found);
        const { result } = checked;
        const seen = { ...checked, ...(result && { result: { ...result, basedOn: based_on } }) };
        const change = changeOf(dependencies, actor);
        return takeUp(dependencies, await publishCheckedText(change, found, seen));
      },
    }),
    sessionRoute({
      method: 'POST',
      path: '/catalog/entry',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'view',
      body: ENTRY,
      handle: ({ body: { text, kind, id } }) => entryRecord(text, kind, id),
    }),
    sessionRoute({
      method: 'POST',
      path: '/catalog/entry/edit',
      bodyBytesMax: TEXT_BODY_BYTES_MAX,
      permission: 'service.manage',
      body: {
        ...ENTRY,
        /** Null where the entry goes. */
        entry: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()]),
      },
      handle: ({ body: { text, kind, id, entry } }) => editedText(text, kind, id, entry),
    }),
  ];
}

/** `found` is the file with which the draft is compared. */
export async function checkDraft(
  { machine, clock, store, catalog }: MachineDependencies,
  text: string,
  found: FoundCatalog,
): Promise<CheckedText> {
  const accounts = new Map(await accountsByPlan(store.database));
  const facts = { nowMs: clock(), active: catalog(), reserved: machine.settings, accounts };
  return checkText(found, text, facts);
}

function textRecord(dependencies: MachineDependencies): CatalogTextRecord {
  const found = dependencies.machine.findCatalog();
  const previous = previousText(found);
  return {
    text: shownText(found.text),
    based_on: catalogDigest(found.text),
    previous: previous === undefined ? null : orNull(() => shownText(previous)),
    file: catalogFileRecord(dependencies),
  };
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

function checkRecord({ result, basedOn, changes, ...rest }: CheckedText): TextCheckRecord {
  const summary = changes.map((change) => change.summary);
  return { ok: result !== undefined, based_on: basedOn, ...rest, summary };
}
