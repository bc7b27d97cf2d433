// Where one is signed in, and ending that, in the settings of both applications.

import { useState } from 'preact/hooks';
import type { ListedSessionRecord, SessionListRecord } from '../../../records/auth.ts';
import { remove } from '../api.ts';
import { Button } from '../button.tsx';
import { ConfirmDialog } from '../dialog.tsx';
import { Card, Loaded } from '../parts.tsx';
import type { Resource } from '../resource.ts';
import { Table } from '../table.tsx';
import { Badge, Time } from '../text.tsx';
import { deviceName } from './device.ts';

export function SessionsCard({ sessions }: { readonly sessions: Resource<SessionListRecord> }) {
  const [ending, setEnding] = useState<ListedSessionRecord | 'others'>();
  const others = sessions.data.value?.data.filter(({ current }) => !current) ?? [];
  return (
    <Card
      title="Sessions"
      flush
      actions={
        others.length > 0 && (
          <Button size="small" onClick={() => setEnding('others')}>
            End all others
          </Button>
        )
      }
    >
      <Loaded resource={sessions}>
        {({ data }) => (
          <Table
            caption="Where you are signed in"
            rows={data}
            rowKey={({ id }) => id}
            columns={[
              { label: 'Browser', show: (row) => <Device row={row} /> },
              { label: 'Address', show: ({ address }) => address },
              { label: 'Signed in', show: ({ created_at: at }) => <Time at={at} /> },
              { label: 'Last seen', show: ({ last_seen_at: at }) => <Time relative at={at} /> },
              {
                label: '',
                end: true,
                show: (row) =>
                  row.current ? undefined : (
                    <Button
                      size="small"
                      aria-label={`End the session of ${deviceName(row.user_agent)}`}
                      onClick={() => setEnding(row)}
                    >
                      End
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {ending !== undefined && (
        <ConfirmDialog
          title={ending === 'others' ? 'End all other sessions?' : 'End this session?'}
          consequences={[
            ending === 'others'
              ? 'Everybody else who is signed in as you is signed out at once.'
              : `${deviceName(ending.user_agent)} at ${ending.address} is signed out at once.`,
            'Whoever knows the password can sign in again: change it if that is not you.',
          ]}
          confirm={ending === 'others' ? 'End them' : 'End it'}
          act={async () => {
            await remove(ending === 'others' ? '/auth/sessions' : `/auth/sessions/${ending.id}`);
            await sessions.reload();
          }}
          onClose={() => setEnding(undefined)}
        />
      )}
    </Card>
  );
}

function Device({ row }: { readonly row: ListedSessionRecord }) {
  return (
    <span class="row" title={row.user_agent}>
      {deviceName(row.user_agent)}
      {row.current && <Badge tone="accent">This one</Badge>}
    </span>
  );
}
