// All receipts of the account: a file of them to take along, and the check of the whole chain, which
// goes over it step by step.

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
          Each receipt holds the hash of the one before. Keep a file of them: whatever was in it can
          be proven later, here or anywhere with the same program and without this server.
        </p>
        <CodeBlock label="Check of a file" code={`tollgate receipts verify ${exportName()}`} />
        <ErrorAlert error={check.error.value} />
        {progress && <Result {...progress} />}
        <div>
          <Button busy={check.busy.value} onClick={() => void check.run()}>
            Check all receipts now
          </Button>
        </div>
      </div>
    </Card>
  );
}

function Result({ last: { last, end, next, balance }, problems }: Progress) {
  if (problems.length > 0) {
    return (
      <Alert
        tone="danger"
        title={`${formatCount(problems.length)} receipts are not what they should be`}
      >
        <ul>
          {problems.slice(0, PROBLEMS_SHOWN).map(({ sequence, kind, detail }) => (
            <li key={`${sequence} ${kind}`}>
              Receipt {sequence}: {detail}
            </li>
          ))}
        </ul>
        <p>Keep your files of receipts, and tell the operator.</p>
      </Alert>
    );
  }
  if (next !== null) {
    return (
      <Meter
        label="Checking"
        used={last}
        limit={end}
        text={`${formatCount(last)} of ${formatCount(end)}`}
      />
    );
  }
  if (end === 0)
    return <Alert title="There are no receipts yet">Nothing moved your balance so far.</Alert>;
  return (
    <Alert
      tone="good"
      title={end === 1 ? 'The receipt is right' : `All ${formatCount(end)} receipts are right`}
    >
      Each follows from the one before, every charge is what its tokens cost, and the last one
      leaves {formatTokens(balance)} service tokens, as the balance says.
    </Alert>
  );
}

/** What the file of all receipts is called today. */
function exportName(): string {
  return `receipts-${new Date().toISOString().slice(0, 10)}.jsonl`;
}
