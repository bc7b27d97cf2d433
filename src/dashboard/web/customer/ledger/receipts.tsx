// Downloads all receipts of the account and verifies the whole chain step by step.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReceiptCheckRecord } from '../../../records/customer-ledger.ts';
import {
  Alert,
  apiUrl,
  Button,
  Card,
  CodeBlock,
  ErrorAlert,
  formatCount,
  formatTokens,
  get,
  LinkButton,
  Meter,
  useAction,
} from '../../ui/index.ts';

type Progress = {
  readonly last: ReceiptCheckRecord;
  readonly problems: ReceiptCheckRecord['problems'];
};

const PROBLEMS_SHOWN = 20;

export function ReceiptsCard() {
  const [progress, setProgress] = useState<Progress | undefined>(undefined);
  const left = useRef(false);
  useEffect(
    () => () => {
      left.current = true;
    },
    [],
  );
  const check = useAction(async () => {
    let next: number | null = 0;
    let problems: Progress['problems'] = [];
    while (next !== null && !left.current) {
      const step: ReceiptCheckRecord = await get<ReceiptCheckRecord>(
        `/receipts/check?after=${next}`,
      );
      problems = [...problems, ...step.problems];
      setProgress({ last: step, problems });
      next = step.next;
    }
  });
  return (
    <Card
      title="Receipts"
      actions={
        <LinkButton size="small" download href={apiUrl('/receipts/export')}>
          Download all
        </LinkButton>
      }
    >
      <div class="stack">
        <p>
          Each receipt contains the hash of the one before. Keep a copy: you can verify it later
          with the command below, without this server.
        </p>
        <CodeBlock label="Verify a file" code={`tollgate receipts verify ${exportName()}`} />
        <ErrorAlert error={check.error.value} />
        {progress && <Result {...progress} />}
        <div>
          <Button busy={check.busy.value} onClick={() => void check.run()}>
            Verify all receipts
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Result({ last: { last, end, next, balance }, problems }: Progress) {
  if (problems.length > 0) {
    return (
      <Alert tone="danger" title={`${formatCount(problems.length)} receipts failed verification`}>
        <ul>
          {problems.slice(0, PROBLEMS_SHOWN).map(({ sequence, kind, detail }) => (
            <li key={`${sequence} ${kind}`}>
              Receipt {sequence}: {detail}
            </li>
          ))}
        </ul>
        <p>Keep your receipt files and contact the operator.</p>
      </Alert>
    );
  }
  if (next !== null) {
    return (
      <Meter
        label="Verifying"
        used={last}
        limit={end}
        text={`${formatCount(last)} of ${formatCount(end)}`}
      />
    );
  }
  if (end === 0) return <Alert title="No receipts yet">Your balance has no entries.</Alert>;
  return (
    <Alert
      tone="good"
      title={end === 1 ? '1 receipt verified' : `All ${formatCount(end)} receipts verified`}
    >
      The chain is complete, every charge matches its tokens and prices, and the last receipt
      matches your balance of {formatTokens(balance)} service tokens.
    </Alert>
  );
}

/** The name of the file of all receipts, with today's date. */
function exportName(): string {
  return `receipts-${new Date().toISOString().slice(0, 10)}.jsonl`;
}
