// Shows a new key once, to copy, with snippets for the tools that use it.

import { useState } from 'preact/hooks';
import type { ConnectionRecord } from '../../../records/key.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { Button, CopyButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Alert, Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { Time } from '../../ui/text.tsx';
import type { ShownKey } from './actions.tsx';
import { Snippets } from './snippets-view.tsx';

/** Asks for confirmation before closing, because the key cannot be shown again. */
export function ShownKeyDialog({
  created,
  replaced,
  worksUntil,
  onClose,
}: ShownKey & { readonly onClose: () => void }) {
  const connection = useResource<ConnectionRecord>('/connection');
  const [asked, setAsked] = useState(false);
  return (
    <Dialog
      title={replaced === undefined ? t('Your new API key') : t('Your replacement key')}
      wide
      onClose={() => (asked ? onClose() : setAsked(true))}
    >
      <p>
        {replaced !== undefined &&
          (worksUntil === undefined
            ? rich('It replaces {replaced}, which no longer works.', {
                replaced: <code>{replaced}</code>,
              })
            : rich('It replaces {replaced}, which works until {at}.', {
                replaced: <code>{replaced}</code>,
                at: <Time at={worksUntil} />,
              }))}{' '}
        {rich(
          'Copy it now and store it in a secret manager. <strong>It is not shown again</strong>: the server stores only a hash of it.',
          { strong: (text) => <strong>{text}</strong> },
        )}
      </p>
      <div class="secret">
        <code>{created.key}</code>
        <CopyButton text={created.key} label={t('Copy key')} kind="primary">
          {t('Copy key')}
        </CopyButton>
      </div>
      <Loaded resource={connection}>
        {(data) => <Snippets connection={data} apiKey={created.key} />}
      </Loaded>
      {asked && (
        <div role="alert">
          <Alert tone="warning" title={t('Close without saving the key?')}>
            {t("You can't see this key again after closing. If you lose it, rotate it.")}
          </Alert>
        </div>
      )}
      <div class="actions">
        <Button kind={asked ? 'danger' : 'primary'} onClick={onClose}>
          {asked ? t('Close anyway') : t('Done, I’ve saved it')}
        </Button>
      </div>
    </Dialog>
  );
}
