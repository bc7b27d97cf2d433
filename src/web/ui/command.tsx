// Goes to a page, a request, a key, an account, a model or the documents by what is typed. Opened by
// Ctrl K or ⌘ K, and from the navigation.

import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { t } from '../text/t.ts';
import { withQuery } from './api.ts';
import { ComboboxField } from './combobox.tsx';
import { Dialog } from './dialog.tsx';
import type { SelectOption } from './field.tsx';
import type { PageEntry } from './page.ts';
import { may } from './permission.ts';
import { type ListRecord, useResource } from './resource.ts';

const isOperator = APP_PREFIX === '/operator';

const PAUSE_MS = 200;

/** A value that is no path of the application searches the documents. */
const SEARCH = isOperator ? '/operator/docs/search' : '/docs/search';

export function Command({
  pages,
  onClose,
}: {
  readonly pages: readonly PageEntry[];
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const [typed, setTyped] = useState('');
  // A key is a secret, which must not be in an address.
  const text = /\bsk-/.test(typed) ? '' : typed.trim();
  const records = useRecords(text);
  const options: readonly SelectOption[] = [
    ...pages
      .filter(({ group, needs }) => group !== undefined && may(needs))
      .map(({ path, title }) => ({ value: path, label: title })),
    ...idsIn(text),
    ...records,
    ...(text === ''
      ? []
      : [{ value: withQuery('', { q: text }), label: `${t('Documentation')}: ${text}` }]),
  ];
  return (
    <Dialog title={t('Go to')} onClose={onClose}>
      <div class="command">
        <ComboboxField
          label={t('A page, a name or an id')}
          value=""
          options={options}
          onType={setTyped}
          onChange={(value) => {
            onClose();
            if (value.startsWith('/')) navigate(value);
            else window.location.assign(`${SEARCH}${value}`);
          }}
        />
      </div>
    </Dialog>
  );
}

/** What an id names, whether or not it exists: its page says so. */
function idsIn(id: string): readonly SelectOption[] {
  if (/^req_\w+$/.test(id)) return [{ value: `/requests/${id}`, label: `${t('Request')} ${id}` }];
  if (/^key_\w+$/.test(id)) {
    const query = isOperator ? { key: id } : { q: id, state: 'all' };
    return [{ value: withQuery('/keys', query), label: `${t('Key')} ${id}` }];
  }
  return [];
}

type Named = { readonly slug: string; readonly name: string };
type Kept = { readonly id: string; readonly name: string | null; readonly masked: string };
type Account = { readonly id: string; readonly email: string | null };

/** Models, and the customer's keys or the accounts that the operator means. */
function useRecords(typed: string): readonly SelectOption[] {
  const text = usePause(typed);
  const models = useResource<ListRecord<Named>>('/model-names').data.value?.data ?? [];
  const keys = useResource<ListRecord<Kept>>(isOperator ? undefined : '/keys').data.value?.data;
  const asked = isOperator && text.length > 1 ? withQuery('/accounts', { text }) : undefined;
  const accounts = useResource<ListRecord<Account>>(asked).data.value?.data;
  return [
    ...models.map(({ slug, name }) => ({
      value: `/models/${slug}`,
      label: `${name} · ${slug} · ${t('Model')}`,
    })),
    ...(keys ?? []).map(({ name, masked }) => ({
      value: withQuery('/keys', { q: name ?? masked }),
      label: `${name ?? ''} ${masked} · ${t('Key')}`,
    })),
    ...(accounts ?? []).map(({ id, email }) => ({
      value: `/accounts/${id}`,
      label: `${email ?? ''} ${id} · ${t('Account')}`,
    })),
  ];
}

/** The text once it has not changed for a moment. */
function usePause(text: string): string {
  const [settled, setSettled] = useState('');
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
