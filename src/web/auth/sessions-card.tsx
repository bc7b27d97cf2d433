// Lists the sessions of the user and ends them, in the settings of both applications.

import { useState } from 'preact/hooks';
import type { ListedSessionRecord, SessionListRecord } from '../../dashboard/records/auth.ts';
import { t } from '../text/t.ts';
import { remove } from '../ui/api.ts';
import { Button } from '../ui/button.tsx';
import { timeColumn } from '../ui/common-columns.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Card, Loaded } from '../ui/parts.tsx';
import type { Resource } from '../ui/resource.ts';
import { Table } from '../ui/table.tsx';
import { Badge, Time } from '../ui/text.tsx';
import { deviceName } from './device.ts';

export function SessionsCard({ sessions }: { readonly sessions: Resource<SessionListRecord> }) {
  const [ending, setEnding] = useState<ListedSessionRecord | 'others'>();
  const others = sessions.data.value?.data.filter(({ current }) => !current) ?? [];
  return (
    <Card
      title={t('Sessions')}
      flush
      actions={
        others.length > 0 && (
          <Button size="small" onClick={() => setEnding('others')}>
            {t('Sign out all others')}
          </Button>
        )
      }
    >
      <Loaded resource={sessions}>
        {({ data }) => (
          <Table
            caption={t('Where you are signed in')}
            rows={data}
            rowKey={({ id }) => id}
            columns={[
              { label: t('Browser'), show: (row) => <Device row={row} /> },
              { label: t('IP address'), show: ({ address }) => address },
              { label: t('Signed in'), show: ({ created_at: at }) => <Time at={at} /> },
              timeColumn(t('Last seen'), 'last_seen_at', { relative: true }),
              {
                label: '',
                end: true,
                show: (row) =>
                  row.current ? undefined : (
                    <Button
                      size="small"
                      aria-label={t('Sign out {userAgent}', {
                        userAgent: deviceName(row.user_agent),
                      })}
                      onClick={() => setEnding(row)}
                    >
                      {t('Sign out')}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
      {ending !== undefined && (
        <ConfirmDialog
          title={
            ending === 'others' ? t('Sign out all other sessions?') : t('Sign out this session?')
          }
          consequences={[
            ending === 'others'
              ? t('All your other sessions are signed out at once.')
              : t('{userAgent} at {address} is signed out at once.', {
                  userAgent: deviceName(ending.user_agent),
                  address: ending.address,
                }),
            t('If you don’t recognize a session, change your password too.'),
          ]}
          confirm={ending === 'others' ? t('Sign out all') : t('Sign out')}
          act={() => remove(ending === 'others' ? '/auth/sessions' : `/auth/sessions/${ending.id}`)}
          onDone={sessions.reload}
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
      {row.current && <Badge tone="accent">{t('This device')}</Badge>}
    </span>
  );
}
