// The draft of the catalog's text. Texts, forms and prices change the same draft. It is kept in this
// browser once the server has found no problem in it, so that no typed key is stored.

import { signal } from '@preact/signals';
import type {
  CatalogTextRecord,
  DraftPeriod,
  TextCheckRecord,
} from '../../../dashboard/records/operator-catalog.ts';
import { post } from '../../ui/api.ts';
import { readStoredJson, store } from '../../ui/stored.ts';
import { useChecked } from '../checked.ts';

export type TextDraft = {
  /** The text and the digest of the file when the draft was begun. */
  readonly base: string;
  readonly basedOn: string;
  readonly text: string;
};

const STORED = 'tollgate-catalog-text';

/** Between the last edit and its check. */
const CHECK_AFTER_MS = 300;

export const draft = signal<TextDraft | undefined>(read());

/** The text that edits start from. */
export const textOfDraft = ({ text }: CatalogTextRecord): string => draft.value?.text ?? text;

export function changeText(record: CatalogTextRecord, text: string): void {
  const { base, basedOn } = draft.value ?? { base: record.text, basedOn: record.based_on };
  if (text === base) discardDraft();
  else draft.value = { base, basedOn, text };
}

export function discardDraft(): void {
  draft.value = undefined;
  store(STORED, undefined);
}

/** Adds prices that begin later to the draft, and withdraws others. */
export async function changePrices(
  record: CatalogTextRecord,
  prices: { readonly add?: readonly DraftPeriod[]; readonly withdraw?: readonly Withdrawn[] },
): Promise<void> {
  const body = { ...prices, text: textOfDraft(record) };
  changeText(record, (await post<{ readonly text: string }>('/prices/draft', body)).text);
}

type Withdrawn = { readonly model: string; readonly valid_from: string };

/** The draft with the changes of the file since it was begun. */
export async function mergeDraft({ base, text }: TextDraft): Promise<void> {
  const answer = await post<CatalogTextRecord & { readonly merged: string }>(
    '/catalog/text/merge',
    { base, text },
  );
  draft.value = { base: answer.text, basedOn: answer.based_on, text: answer.merged };
}

const NOTHING: TextDraft = { base: '', basedOn: '', text: '' };

export type DraftCheck = ReturnType<typeof useDraftCheck>;

/** Checks each version of the draft. */
export function useDraftCheck() {
  const isOn = draft.value !== undefined;
  return useChecked(
    draft.value ?? NOTHING,
    async (version) => {
      const check = await post<TextCheckRecord>('/catalog/text/check', { text: version.text });
      if (check.ok && draft.value === version) store(STORED, JSON.stringify(version));
      return check;
    },
    { isOn, afterMs: CHECK_AFTER_MS },
  );
}

function read(): TextDraft | undefined {
  const stored = readStoredJson(STORED);
  if (typeof stored !== 'object' || stored === null) return undefined;
  const { base, basedOn, text } = stored as Partial<TextDraft>;
  const isDraft = [base, basedOn, text].every((each) => typeof each === 'string');
  return isDraft ? (stored as TextDraft) : undefined;
}
