// Creates a key, and shows it once with snippets that use it.

import { useState } from 'preact/hooks';
import type { ConnectionRecord } from '../../../dashboard/records/key.ts';
import { type ShownKey, ShownKeyDialog } from '../../shared/keys/actions.tsx';
import { CreateKeyDialog } from '../../shared/keys/create.tsx';
import { t } from '../../text/t.ts';
import { Button, type ButtonProps } from '../../ui/button.tsx';
import type { DialogProps } from '../../ui/collection.tsx';
import { Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { isFrozen } from '../../ui/session.ts';
import { Snippets } from './snippets-view.tsx';

/** `onCreated` reloads what the page shows. */
export function CreateKeyButton({
  onCreated,
  ...look
}: Pick<ButtonProps, 'kind'> & { readonly onCreated: () => unknown }) {
  const [open, setOpen] = useState<ShownKey | 'create' | undefined>(undefined);
  const close = () => setOpen(undefined);
  const onShown = (shown: ShownKey): void => {
    setOpen(shown);
    void onCreated();
  };
  return (
    <>
      <Button {...look} disabled={isFrozen.value} onClick={() => setOpen('create')}>
        {t('Create key')}
      </Button>
      {open === 'create' && <CreateDialog onShown={onShown} onClose={close} />}
      {open !== undefined && open !== 'create' && <ShownOwnKey shown={open} onClose={close} />}
    </>
  );
}

/** By number of hours. */
const SPANS = [
  { value: '168', label: t('In 7 days') },
  { value: '720', label: t('In 30 days') },
  { value: '2160', label: t('In 90 days') },
  { value: '8760', label: t('In 1 year') },
] as const;

export function CreateDialog({
  onShown,
  onClose,
}: Pick<DialogProps<ShownKey>, 'onShown' | 'onClose'>) {
  return (
    <CreateKeyDialog
      title={t('New API key')}
      path="/keys"
      name={{
        hint: t('For example, the machine or project that uses it. You can change it later.'),
        placeholder: t('laptop'),
      }}
      until={{ hint: t('Expiring keys are safer.'), spans: SPANS }}
      onCreated={onShown}
      onClose={onClose}
    />
  );
}

/** A key that is shown once, with snippets that use it. */
export function ShownOwnKey(props: { readonly shown: ShownKey; readonly onClose: () => void }) {
  const connection = useResource<ConnectionRecord>('/connection');
  const use = (
    <Loaded resource={connection}>
      {(data) => <Snippets connection={data} apiKey={props.shown.key} />}
    </Loaded>
  );
  return <ShownKeyDialog audience="account" use={use} {...props} />;
}
