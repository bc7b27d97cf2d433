// What is wrong now, as one list: on the overview and on the page of alerts.

import type { OpenRecord, Sentence } from '../../../dashboard/records/operator-server.ts';
import { said } from '../../text/said.ts';
import { t } from '../../text/t.ts';
import { Link } from '../../ui/link.tsx';
import { Alert } from '../../ui/parts.tsx';

export function OpenProblems({ record }: { readonly record: OpenRecord | undefined }) {
  if (record === undefined || record.problems.length === 0) return null;
  const { status, problems } = record;
  const isReady = status === 'ready';
  return (
    <Alert
      tone={isReady ? 'warning' : 'danger'}
      title={
        isReady
          ? t('{count, plural, one {# open problem} other {# open problems}}', {
              count: problems.length,
            })
          : t('Not ready for new requests')
      }
    >
      <ul>
        {problems.map((problem) => {
          const [words, page] = [said(problem), pageOf(problem)];
          return (
            <li key={words}>{page === undefined ? words : <Link href={page}>{words}</Link>}</li>
          );
        })}
      </ul>
    </Alert>
  );
}

/** The page of the cause, where it has one. */
export function pageOf({ about }: Sentence): string | undefined {
  return about === undefined || about.startsWith('alerts#') ? undefined : `/${about}`;
}
