// A failed or refused request on pages: the status with its code, and the whole problem.

import type { ComponentChildren } from 'preact';
import type { ProblemRecord } from '../../../records/customer-request.ts';
import { t } from '../../text/t.ts';
import { formatCount } from '../../ui/format.ts';
import { labelOf } from '../../ui/labels.ts';
import { Alert } from '../../ui/parts.tsx';
import { Nothing } from '../../ui/text.tsx';
import { problemAdvice } from './problems.ts';

/** For a cell: the status, and how many equal requests had it. */
export function StatusCell({
  status,
  count,
}: {
  readonly status: number | null;
  readonly count: number;
}) {
  return (
    <span class="nowrap">
      {status ?? <Nothing />}
      {count > 1 && <span class="soft"> ×{formatCount(count)}</span>}
    </span>
  );
}

/** For a cell: the error code and the message, then what to do, or what the operator knows. */
export function ProblemCell({
  problem,
  cause,
}: {
  readonly problem: ProblemRecord | null;
  readonly cause?: string | null;
}) {
  if (problem === null) return <Nothing />;
  const { code, message } = problem;
  const advice = cause == null ? problemAdvice(problem) : labelOf(cause.split(':')[0] ?? cause);
  return (
    <div class="problem" title={`${message} ${advice}`}>
      <div>
        {code !== null && <code class="soft">{code}</code>} {message}
      </div>
      <div class="soft small">{advice}</div>
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
    <Alert tone="warning" title={problem.message}>
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
