// Shows a new key once, to copy, with snippets for the tools that use it.

import { useState } from 'preact/hooks';
import type { ConnectionRecord } from '../../../records/key.ts';
import { Alert, Button, CopyButton, Dialog, Loaded, useResource } from '../../ui/index.ts';
import type { ShownKey } from './actions.tsx';
import { Snippets } from './snippets-view.tsx';

/** Asks for confirmation before closing, because the key cannot be shown again. */
export function ShownKeyDialog({
  created,
  replaced,
  onClose,
}: ShownKey & { readonly onClose: () => void }) {
  const connection = useResource<ConnectionRecord>('/connection');
  const [asked, setAsked] = useState(false);
  return (
    <Dialog
      title={replaced === undefined ? 'Your new API key' : 'Your replacement key'}
      wide
      onClose={() => (asked ? onClose() : setAsked(true))}
    >
      <p>
        {replaced !== undefined && (
          <>
            It replaces <code>{replaced}</code>, which no longer works.{' '}
          </>
        )}
        Copy it now and store it in a secret manager. <strong>It is not shown again</strong>: the
        server stores only a hash of it.
      </p>
      <div class="secret">
        <code>{created.key}</code>
        <CopyButton text={created.key} label="Copy key" kind="primary">
          Copy key
        </CopyButton>
      </div>
      <Loaded resource={connection}>
        {(data) => <Snippets connection={data} apiKey={created.key} />}
      </Loaded>
      {asked && (
        <Alert tone="warning" title="Close without saving the key?">
          You can't see this key again after closing. If you lose it, rotate it.
        </Alert>
      )}
      <div class="actions">
        <Button kind={asked ? 'danger' : 'primary'} onClick={onClose}>
          {asked ? 'Close anyway' : 'Done, I’ve saved it'}
        </Button>
      </div>
    </Dialog>
  );
}
