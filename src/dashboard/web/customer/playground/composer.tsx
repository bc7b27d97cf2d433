// Edits the next message: text and images, which are chosen, pasted or dropped.

import { useRef } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { sendsOnEnter } from './keys.ts';
import { PICTURE_TYPES, PICTURES_MAX, type Picture } from './picture.ts';
import { Pictures } from './picture-view.tsx';
import { readPicture } from './pictures.ts';

export function Composer({
  text,
  pictures,
  takesPictures,
  isRunning,
  onInput,
  onPictures,
  onSend,
  onStop,
}: {
  readonly text: string;
  readonly pictures: readonly Picture[];
  /** Whether all chosen models see images. */
  readonly takesPictures: boolean;
  readonly isRunning: boolean;
  readonly onInput: (text: string) => void;
  /** `change` gets the images of the moment: more may have come while one was read. */
  readonly onPictures: (change: (now: readonly Picture[]) => readonly Picture[]) => void;
  readonly onSend: () => void;
  readonly onStop: () => void;
}) {
  const file = useRef<HTMLInputElement>(null);
  const send = (): void => {
    if (!isRunning && (text.trim() !== '' || pictures.length > 0)) onSend();
  };
  const attach = async (files: Iterable<File>): Promise<void> => {
    if (!takesPictures) {
      toast(t('This model does not take images.'));
      return;
    }
    for (const each of files) {
      const read = await readPicture(each);
      if (typeof read === 'string') toast(read);
      else onPictures((now) => withPicture(now, read));
    }
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
        void attach(event.dataTransfer?.files ?? []);
      }}
    >
      <TextArea
        label={t('Message')}
        rows={3}
        value={text}
        onInput={onInput}
        onKeyDown={sendsOnEnter(send)}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void attach(files);
        }}
        hint={t('Enter sends, Shift+Enter starts a new line.')}
      />
      <Pictures
        pictures={pictures}
        onRemove={(index) => onPictures((now) => now.toSpliced(index, 1))}
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
                const { files } = event.currentTarget;
                void attach([...(files ?? [])]);
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

function withPicture(now: readonly Picture[], picture: Picture): readonly Picture[] {
  if (now.length < PICTURES_MAX) return [...now, picture];
  toast(t('A message can have at most {max} images.', { max: String(PICTURES_MAX) }));
  return now;
}
