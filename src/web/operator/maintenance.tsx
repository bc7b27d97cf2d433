// Maintenance: rejects every request, with a message for clients.

import { useState } from 'preact/hooks';
import type { MaintenanceRecord } from '../../dashboard/records/operator-lists.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { Button } from '../ui/button.tsx';
import type { ChangeDialogProps } from '../ui/collection.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { Alert, Card, Loaded, Page } from '../ui/parts.tsx';
import { useResource } from '../ui/resource.ts';

const STANDARD_WORDS = t('The service is in maintenance. Retry with back-off.');

export function View() {
  const resource = useResource<MaintenanceRecord>('/maintenance');
  const [turning, setTurning] = useState<boolean | undefined>(undefined);
  return (
    <Page
      title={t('Maintenance')}
      lead={t(
        'While maintenance is on, all customer requests are rejected with 503 maintenance_mode. This console and the dashboard keep working.',
      )}
    >
      <Loaded resource={resource} lines={3}>
        {({ maintenance, message }) =>
          maintenance ? (
            <Alert
              tone="warning"
              title={t('Maintenance is on: all requests are rejected')}
              actions={
                <Button kind="primary" needs="service.manage" onClick={() => setTurning(false)}>
                  {t('Turn off maintenance')}
                </Button>
              }
            >
              {t('Message to clients: {message}', { message: message ?? STANDARD_WORDS })}
            </Alert>
          ) : (
            <Card
              title={t('Maintenance is off')}
              actions={
                <Button needs="service.manage" onClick={() => setTurning(true)}>
                  {t('Turn on maintenance')}
                </Button>
              }
            >
              <p class="soft">
                {t(
                  'Turn it on before you work on the server or an upstream. Requests in progress finish normally.',
                )}
              </p>
            </Card>
          )
        }
      </Loaded>
      {turning === true && (
        <TurnOnDialog onDone={resource.reload} onClose={() => setTurning(undefined)} />
      )}
      {turning === false && (
        <ConfirmDialog
          title={t('Turn off maintenance?')}
          confirm={t('Turn off')}
          consequences={[t('Requests are accepted again within 1 second.')]}
          act={() => post('/maintenance', { maintenance: false })}
          done={t('Maintenance is off.')}
          onDone={resource.reload}
          onClose={() => setTurning(undefined)}
        />
      )}
    </Page>
  );
}

function TurnOnDialog(dialog: ChangeDialogProps) {
  const [message, setMessage] = useState('');
  return (
    <ConfirmDialog
      title={t('Turn on maintenance?')}
      danger
      confirm={t('Reject all requests')}
      consequences={[
        t(
          'Within 1 second, all new requests are rejected with 503 until you turn maintenance off.',
        ),
        t('Requests in progress finish normally and are charged.'),
        t('Rejected requests are not charged.'),
      ]}
      act={async () => {
        const words = message.trim();
        await post('/maintenance', {
          maintenance: true,
          ...(words === '' ? {} : { message: words }),
        });
      }}
      done={t('Maintenance is on.')}
      {...dialog}
    >
      <TextField
        label={t('Message')}
        hint={t(
          'One line for clients, such as the end of the maintenance. Leave empty for the default message.',
        )}
        placeholder={STANDARD_WORDS}
        maxLength={200}
        value={message}
        onInput={setMessage}
      />
    </ConfirmDialog>
  );
}
