// The receipt of a request or ledger entry: its content, a download, and how to verify it without
// this server.

import { useState } from 'preact/hooks';
import type { ReceiptRecord } from '../../../dashboard/records/customer-ledger.ts';
import { rich } from '../../text/rich.ts';
import { t } from '../../text/t.ts';
import { apiUrl } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { Card, Loaded } from '../../ui/parts.tsx';
import { useResource } from '../../ui/resource.ts';
import { CodeBlock } from '../../ui/tabs.tsx';

export function ReceiptCard({ id, sequence }: { readonly id: string; readonly sequence: number }) {
  const [open, setOpen] = useState(false);
  const path = `/receipts/${encodeURIComponent(id)}`;
  return (
    <Card
      title={t('Receipt {sequence}', { sequence })}
      actions={
        <>
          <Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? t('Hide') : t('Show')}
          </Button>
          <LinkButton size="small" download href={apiUrl(`${path}/file`)}>
            {t('Download')}
          </LinkButton>
        </>
      }
    >
      <div class="stack">
        <p>
          {t(
            'Your receipts form a chain: each contains the hash of the one before, so changing one breaks all later ones. Verify a downloaded file without this server:',
          )}
        </p>
        <CodeBlock
          label={t('Verify a receipt')}
          code={`tollgate receipts verify receipt-${sequence}.jsonl`}
        />
        {open && <ReceiptText path={path} />}
      </div>
    </Card>
  );
}

/** The receipt and its hash. */
export function ReceiptText({ path }: { readonly path: string }) {
  const receipt = useResource<ReceiptRecord>(path);
  return (
    <Loaded resource={receipt}>
      {({ receipt: text, hash }) => (
        <>
          <CodeBlock label={t('Receipt')} code={JSON.stringify(text, undefined, 2)} />
          <p class="soft">
            {rich('SHA-256 of its line in the file: {hash}', { hash: <code>{hash}</code> })}
          </p>
        </>
      )}
    </Loaded>
  );
}
