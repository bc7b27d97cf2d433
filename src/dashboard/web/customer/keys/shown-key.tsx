// The one time that a key is seen: to be copied, with everything that it can be pasted into.

import { useState } from 'preact/hooks';
import type { ConnectionRecord } from '../../../records/key.ts';
import { Alert, Button, CopyButton, Dialog, Loaded, useResource } from '../../ui/index.ts';
import type { ShownKey } from './actions.tsx';
import { Snippets } from './snippets-view.tsx';

/** Closing it by accident asks once more: what is in it is nowhere else. */
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
            It takes the place of <code>{replaced}</code>, which is refused from now on.{' '}
          </>
        )}
        Copy it now and keep it where secrets are kept. <strong>It is not shown again</strong>: only
        a fingerprint of it is stored here.
      </p>
      <div class="secret">
        <code>{created.key}</code>
        <CopyButton text={created.key} label="Copy the key" kind="primary">
          Copy key
        </CopyButton>
      </div>
      <Loaded resource={connection}>
        {(data) => <Snippets connection={data} apiKey={created.key} />}
      </Loaded>
      {asked && (
        <Alert tone="warning" title="Close without the key?">
          Once this is closed, the key cannot be shown again. If it is lost, rotate it.
        </Alert>
      )}
      <div class="actions">
        <Button kind={asked ? 'danger' : 'primary'} onClick={onClose}>
          {asked ? 'Close anyway' : 'I have stored it'}
        </Button>
      </div>
    </Dialog>
  );
}
