// Downloads all receipts of the account and verifies the whole chain step by step.

import { useEffect, useRef, useState } from 'preact/hooks';
import type { ReceiptCheckRecord } from '../../../dashboard/records/customer-ledger.ts';
import { language, t } from '../../text/t.ts';
import { amountText } from '../../ui/amount-text.ts';
import { apiUrl, get } from '../../ui/api.ts';
import { Button, LinkButton } from '../../ui/button.tsx';
import { formatCount } from '../../ui/format.ts';
import { Alert, Card, ErrorAlert, Meter } from '../../ui/parts.tsx';
import { useAction } from '../../ui/resource.ts';
import { CodeBlock } from '../../ui/tabs.tsx';

type Progress = {
  readonly last: ReceiptCheckRecord;
  readonly problems: ReceiptCheckRecord['problems'];
};

const PROBLEMS_SHOWN = 20;

/** For other languages than that of the details. */
const PROBLEMS: Readonly<Record<Progress['problems'][number]['kind'], string>> = {
  unreadable: t('It can’t be read.'),
  account: t('It belongs to another account.'),
  missing: t('It is missing, perhaps with others after it.'),
  order: t('It is out of order.'),
  changed: t('It was changed: the next receipt names another hash.'),
  beginning: t('The chain does not begin with it as it should.'),
  charge: t('Its tokens and prices do not give its charge.'),
  debit: t('What was debited and waived is not the charge.'),
  balance: t('Its balance does not follow from the one before.'),
  end: t('The chain does not end as its last line says.'),
};

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
      title={t('Receipts')}
      actions={
        <LinkButton size="small" download href={apiUrl('/receipts/export')}>
          {t('Download all')}
        </LinkButton>
      }
    >
      <div class="stack">
        <p>
          {t(
            'Each receipt contains the hash of the one before. Keep a copy: you can verify it later with the command below, without this server.',
          )}
        </p>
        <CodeBlock label={t('Verify a file')} code={`tollgate receipts verify ${exportName()}`} />
        <ErrorAlert error={check.error.value} />
        {progress && <Result {...progress} />}
        <div>
          <Button busy={check.busy.value} onClick={() => void check.run()}>
            {t('Verify all receipts')}
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
        title={t('{problems, plural, one {# receipt} other {# receipts}} failed verification', {
          problems: problems.length,
        })}
      >
        <ul>
          {problems.slice(0, PROBLEMS_SHOWN).map(({ sequence, kind, detail }) => (
            <li key={`${sequence} ${kind}`}>
              {t('Receipt {sequence}: {detail}', {
                sequence,
                detail: language === 'en' ? detail : PROBLEMS[kind],
              })}
            </li>
          ))}
        </ul>
        <p>{t('Keep your receipt files and contact the operator.')}</p>
      </Alert>
    );
  }
  if (next !== null) {
    return (
      <Meter
        label={t('Verifying')}
        used={last}
        limit={end}
        text={t('{part} of {whole}', { part: formatCount(last), whole: formatCount(end) })}
      />
    );
  }
  if (end === 0)
    return <Alert title={t('No receipts yet')}>{t('Your balance has no entries.')}</Alert>;
  return (
    <Alert
      tone="good"
      title={
        end === 1
          ? t('1 receipt verified')
          : t('All {end} receipts verified', { end: formatCount(end) })
      }
    >
      {t(
        'The chain is complete, every charge matches its tokens and prices, and the last receipt matches your balance of {balance}.',
        { balance: amountText({ tokens: balance }) },
      )}
    </Alert>
  );
}

/** The name of the file of all receipts, with today's date. */
function exportName(): string {
  return `receipts-${new Date().toISOString().slice(0, 10)}.jsonl`;
}
