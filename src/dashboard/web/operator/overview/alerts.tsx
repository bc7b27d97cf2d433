// What only an operator can mend, as the server has raised it since it started.

import type { AlertRecord } from '../../../records/operator-machine.ts';
import { Card, Empty, Table, Time } from '../../ui/index.ts';

export function AlertsCard({ alerts }: { readonly alerts: readonly AlertRecord[] }) {
  return (
    <Card title="Last alerts" flush>
      {alerts.length === 0 ? (
        <Empty title="No alerts">Nothing has needed you since the server started.</Empty>
      ) : (
        <Table
          caption="Last alerts"
          rows={alerts}
          rowKey={({ at, kind, message }) => `${at} ${kind} ${message}`}
          columns={[
            { label: 'When', show: ({ at }) => <Time at={at} relative /> },
            { label: 'What happened', wrap: true, show: ({ message }) => capitalized(message) },
          ]}
        />
      )}
    </Card>
  );
}

/** The words are those of the log, which begin small. */
function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
