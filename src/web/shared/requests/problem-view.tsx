// A failed or refused request on pages: the status with its code, and the whole problem.

import type { ComponentChildren } from 'preact';
import type { ProblemRecord } from '../../../dashboard/records/customer-request.ts';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Alert } from '../../ui/parts.tsx';
import { StateBadge } from '../../ui/text.tsx';
import { problemAdvice } from './problems.ts';

const OK = 200;

/** For a cell: how it ended, with the status unless it is 200, and how many equal requests did. */
export function OutcomeCell({
  outcome,
  status,
  count,
}: {
  readonly outcome: string;
  readonly status: number | null;
  readonly count: number;
}) {
  return (
    <span class="nowrap">
      <StateBadge state={outcome} /> {status !== null && status !== OK && <span>{status}</span>}
      {count > 1 && <span class="soft"> ×{formatCount(count)}</span>}
    </span>
  );
}

/** In one line: the error code and the message, then what to do, or what the operator knows. */
export function ProblemNote({
  problem,
  cause,
}: {
  readonly problem: ProblemRecord;
  readonly cause?: string | null;
}) {
  const { code, message } = problem;
  const advice = cause == null ? problemAdvice(problem) : labelOf(cause.split(':')[0] ?? cause);
  return (
    <div title={`${message} ${advice}`}>
      {code !== null && <code>{code}</code>} <span lang="en">{message}</span>{' '}
      <span class="soft">{advice}</span>
    </div>
  );
}

/** The banner of a failed or refused request. */
export function ProblemAlert({
  problem,
  children,
}: {
  readonly problem: ProblemRecord;
  readonly children?: ComponentChildren;
}) {
  return (
    <Alert tone="warning" title={<span lang="en">{problem.message}</span>}>
      <p>{problemAdvice(problem)}</p>
      <p>
        {problem.status === null
          ? t('The client received no status: its connection broke.')
          : problem.status === 200
            ? t('The client received status 200, then the error {code} in the stream.', {
                code: problem.code ?? '–',
              })
            : t('The client received status {status} with the error {code}.', {
                status: problem.status,
                code: problem.code ?? '–',
              })}
      </p>
      {children}
    </Alert>
  );
}
