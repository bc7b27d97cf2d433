// Two-factor authentication in the settings of both applications. The setup dialog is loaded only
// when it is opened.

import type { ComponentType } from 'preact';
import { useState } from 'preact/hooks';
import type { RecoveryCodesRecord, TwoFactorStartRecord } from '../../dashboard/records/auth.ts';
import { t } from '../text/t.ts';
import { post, remove } from '../ui/api.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Alert, Card, ErrorAlert } from '../ui/parts.tsx';
import { useAction } from '../ui/resource.ts';
import { loadSession, session } from '../ui/session.ts';
import { Badge } from '../ui/text.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import type { SetupProps } from './two-factor-setup.tsx';

const FEW_CODES = 3;

/** Calls `onChanged` when sessions may have ended with the change. */
export function TwoFactorCard({ onChanged }: { readonly onChanged: () => unknown }) {
  const isOn = session.value?.two_factor === true;
  return (
    <Card
      title={t('Two-factor authentication')}
      actions={<Badge tone={isOn ? 'good' : 'warning'}>{isOn ? t('On') : t('Off')}</Badge>}
    >
      {isOn ? <Manage /> : <Begin onChanged={onChanged} />}
    </Card>
  );
}

type Setup = { readonly start: TwoFactorStartRecord; readonly View: ComponentType<SetupProps> };

function Begin({ onChanged }: { readonly onChanged: () => unknown }) {
  const [setup, setSetup] = useState<Setup>();
  const action = useAction(async () => {
    const [start, { TwoFactorSetup: View }] = await Promise.all([
      post<TwoFactorStartRecord>('/auth/two-factor'),
      import('./two-factor-setup.tsx'),
    ]);
    setSetup({ start, View });
  });
  return (
    <>
      <p>
        {t('Protects your account if your password is stolen. Works with any authenticator app.')}
      </p>
      <ErrorAlert error={action.error.value} />
      <div>
        <Button busy={action.busy.value} onClick={() => void action.run()}>
          {t('Set up')}
        </Button>
      </div>
      {setup && (
        <setup.View
          start={setup.start}
          onClose={(isDone) => {
            setSetup(undefined);
            if (isDone) void loadSession().then(onChanged);
          }}
        />
      )}
    </>
  );
}

function Manage() {
  const [codes, setCodes] = useState<readonly string[]>();
  const [isEnding, setEnding] = useState(false);
  const left = session.value?.recovery_codes_left ?? 0;
  const renew = useAction(async () => {
    const record = await post<RecoveryCodesRecord>('/auth/two-factor/recovery-codes');
    setCodes(record.codes);
    await loadSession();
  });
  return (
    <>
      {left <= FEW_CODES && (
        <Alert
          tone="warning"
          title={left === 1 ? t('1 recovery code left') : t('{left} recovery codes left', { left })}
        >
          {t("Create new ones now. Without the app and a recovery code you can't sign in.")}
        </Alert>
      )}
      <p>{t('You sign in with a code from your app. Unused recovery codes: {left}.', { left })}</p>
      <ErrorAlert error={renew.error.value} />
      <div class="row">
        <Button busy={renew.busy.value} onClick={() => void renew.run()}>
          {t('Create recovery codes')}
        </Button>
        <Button kind="quiet-danger" onClick={() => setEnding(true)}>
          {t('Turn off')}
        </Button>
      </div>
      {codes && (
        <RecoveryCodes
          title={t('New recovery codes')}
          codes={codes}
          onClose={() => setCodes(undefined)}
        />
      )}
      {isEnding && (
        <ConfirmDialog
          title={t('Turn off two-factor authentication?')}
          danger
          confirm={t('Turn off')}
          consequences={[
            t('Your password alone is enough to sign in.'),
            t('The entry in your app and all recovery codes stop working.'),
          ]}
          act={() => remove('/auth/two-factor')}
          done={t('Two-factor authentication is off.')}
          onDone={loadSession}
          onClose={() => setEnding(false)}
        />
      )}
    </>
  );
}
