// Sets up two-factor authentication: shows the secret as a QR code and as text, checks a first code,
// then shows the recovery codes.

import { useMemo, useState } from 'preact/hooks';
import type { RecoveryCodesRecord, TwoFactorStartRecord } from '../../dashboard/records/auth.ts';
import { t } from '../text/t.ts';
import { post } from '../ui/api.ts';
import { CopyButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form, TextField } from '../ui/field.tsx';
import { useAction } from '../ui/resource.ts';
import { encodeQr } from './qr.ts';
import { RecoveryCodes } from './recovery-codes.tsx';

export type SetupProps = {
  readonly start: TwoFactorStartRecord;
  /** `isDone`: two-factor authentication is now on. */
  readonly onClose: (isDone: boolean) => void;
};

export function TwoFactorSetup({ start, onClose }: SetupProps) {
  const [code, setCode] = useState('');
  const [codes, setCodes] = useState<readonly string[]>();
  const action = useAction(async () => {
    const record = await post<RecoveryCodesRecord>('/auth/two-factor/confirm', {
      code: code.trim(),
    });
    setCodes(record.codes);
  });
  if (codes !== undefined) {
    const title = t('Two-factor authentication is on');
    return <RecoveryCodes title={title} codes={codes} onClose={() => onClose(true)} />;
  }
  return (
    <Dialog title={t('Set up two-factor authentication')} onClose={() => onClose(false)}>
      <p>{t('Scan this with your authenticator app:')}</p>
      <QrCode text={start.uri} />
      <p>{t('Or enter the secret:')}</p>
      <div class="secret">
        <code>{start.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={start.secret} label={t('Copy secret')} />
      </div>
      <Form
        action={action}
        submit={t('Turn on')}
        cancel={() => onClose(false)}
        onSubmit={() => void action.run()}
      >
        <TextField
          label={t('Code from the app')}
          name="code"
          inputMode="numeric"
          autocomplete="one-time-code"
          required
          value={code}
          onInput={setCode}
        />
      </Form>
    </Dialog>
  );
}

const QUIET_ZONE = 4;

function QrCode({ text }: { readonly text: string }) {
  const { path, size } = useMemo(() => {
    const modules = encodeQr(text);
    return {
      size: modules.length + QUIET_ZONE * 2,
      path: modules
        .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
        .join(''),
    };
  }, [text]);
  return (
    <svg
      class="qr"
      viewBox={`${-QUIET_ZONE} ${-QUIET_ZONE} ${size} ${size}`}
      shape-rendering="crispEdges"
      role="img"
      aria-label={t('QR code of the secret')}
    >
      <path d={path} />
    </svg>
  );
}
