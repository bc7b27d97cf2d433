// The receipt of a request or a movement: what it says, a file of it, and how that is checked
// without this server.

import { useState } from 'preact/hooks';
import type { ReceiptRecord } from '../../../records/customer-ledger.ts';
import {
  apiUrl,
  Button,
  Card,
  CodeBlock,
  LinkButton,
  Loaded,
  useResource,
} from '../../ui/index.ts';

export function ReceiptCard({ id, sequence }: { readonly id: string; readonly sequence: number }) {
  const [open, setOpen] = useState(false);
  const path = `/receipts/${encodeURIComponent(id)}`;
  return (
    <Card
      title={`Receipt ${sequence}`}
      actions={
        <>
          <Button size="small" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? 'Hide it' : 'Show it'}
          </Button>
          <LinkButton size="small" download href={apiUrl(`${path}/file`)}>
            Download
          </LinkButton>
        </>
      }
    >
      <div class="stack">
        <p>
          The receipts of your account are a chain: each one holds the hash of the one before, so
          that none can be changed later without breaking all that follow. Check a downloaded file
          anywhere, without this server:
        </p>
        <CodeBlock
          label="Check of a receipt"
          code={`tollgate receipts verify receipt-${sequence}.jsonl`}
        />
        {open && <ReceiptText path={path} />}
      </div>
    </Card>
  );
}

/** The receipt as it is, and its hash. */
export function ReceiptText({ path }: { readonly path: string }) {
  const receipt = useResource<ReceiptRecord>(path);
  return (
    <Loaded resource={receipt}>
      {({ receipt: text, hash }) => (
        <>
          <CodeBlock label="Receipt" code={JSON.stringify(text, undefined, 2)} />
          <p class="soft">
            SHA-256 of its one line of text: <code>{hash}</code>
          </p>
        </>
      )}
    </Loaded>
  );
}
