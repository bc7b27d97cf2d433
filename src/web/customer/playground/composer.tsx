// Edits the next message: text and images, which are chosen, pasted or dropped.

import { useRef } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { sendsOnEnter } from './keys.ts';
import { Pictures } from './picture-view.tsx';
import { PICTURE_TYPES, PICTURES_MAX, readPicture } from './pictures.ts';
import type { Picture } from './request.ts';
import { changeMessage, message } from './state.ts';

export function Composer({
  takesPictures,
  isRunning,
  onSend,
  onStop,
}: {
  /** Whether all chosen models see images. */
  readonly takesPictures: boolean;
  readonly isRunning: boolean;
  readonly onSend: () => void;
  readonly onStop: () => void;
}) {
  const file = useRef<HTMLInputElement>(null);
  const { text, pictures } = message.value;
  const send = (): void => {
    if (!isRunning && (text.trim() !== '' || pictures.length > 0)) onSend();
  };
  const attach = (files: FileList | null | undefined): void => {
    if (takesPictures) void addPictures([...(files ?? [])]);
    else toast(t('This model does not take images.'));
  };
  return (
    <form
      class="form composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        attach(event.dataTransfer?.files);
      }}
    >
      <TextArea
        label={t('Message')}
        rows={2}
        value={text}
        onInput={(typed) => changeMessage({ text: typed })}
        onKeyDown={sendsOnEnter(send)}
        onPaste={(event) => {
          if (!event.clipboardData?.files.length) return;
          event.preventDefault();
          attach(event.clipboardData.files);
        }}
        hint={t('Enter sends, Shift+Enter starts a new line.')}
      />
      <Pictures
        pictures={pictures}
        onRemove={(index) => changeMessage({ pictures: pictures.toSpliced(index, 1) })}
      />
      <div class="actions">
        {takesPictures && (
          <>
            <input
              ref={file}
              type="file"
              class="sr-only"
              tabIndex={-1}
              aria-label={t('Images')}
              accept={PICTURE_TYPES.join(',')}
              multiple
              onChange={(event) => {
                attach(event.currentTarget.files);
                event.currentTarget.value = '';
              }}
            />
            <Button onClick={() => file.current?.click()}>{t('Attach images')}</Button>
          </>
        )}
        {isRunning && <Button onClick={onStop}>{t('Stop')}</Button>}
        <Button type="submit" kind="primary" busy={isRunning}>
          {t('Send')}
        </Button>
      </div>
    </form>
  );
}

async function addPictures(files: readonly File[]): Promise<void> {
  for (const file of files) {
    const read = await readPicture(file);
    if (typeof read === 'string') toast(read);
    else addPicture(read);
  }
}

function addPicture(picture: Picture): void {
  const { pictures } = message.value;
  if (pictures.length < PICTURES_MAX) changeMessage({ pictures: [...pictures, picture] });
  else toast(t('A message can have at most {max} images.', { max: String(PICTURES_MAX) }));
}
