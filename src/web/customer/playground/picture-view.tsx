// Images of a message as small previews.

import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../text/t.ts';
import { drawPicture } from './pictures.ts';
import type { Picture } from './request.ts';

const PREVIEW_PIXELS = 160;

export function Pictures({
  pictures,
  onRemove,
}: {
  readonly pictures: readonly Picture[];
  readonly onRemove?: (index: number) => void;
}) {
  if (pictures.length === 0) return null;
  return (
    <ul class="plain pictures">
      {pictures.map((picture, index) => (
        <li key={`${picture.name} ${picture.data.length}`}>
          {picture.data === '' ? (
            <span class="soft small">{t('{name} (not kept)', { name: picture.name })}</span>
          ) : (
            <Preview picture={picture} />
          )}
          {onRemove && (
            <button
              type="button"
              class="button small"
              aria-label={t('Remove {name}', { name: picture.name })}
              onClick={() => onRemove(index)}
            >
              ×
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function Preview({ picture }: { readonly picture: Picture }) {
  const { name } = picture;
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current) void drawPicture(canvas.current, picture, PREVIEW_PIXELS);
  }, [picture]);
  return <canvas ref={canvas} role="img" aria-label={name} title={name} />;
}
