// Images of a message: read from files, made small enough for a request, and previewed on a canvas, so
// that the page needs no right to show images of its own.

import { t } from '../../text/t.ts';
import type { Picture } from './request.ts';

export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** Of one message. */
export const PICTURES_MAX = 4;

const FILE_BYTES_MAX = 20_000_000;
/** Four of them fit into a request of 2 MB. */
const SENT_BYTES_MAX = 340_000;
const SIDES = [1_568, 1_024, 768, 512, 256];
const JPEG_QUALITY = 0.85;

/** The image, or why the file cannot be sent. */
export async function readPicture(file: File): Promise<Picture | string> {
  const { name, type, size } = file;
  if (!PICTURE_TYPES.includes(type)) return t('Choose PNG, JPEG, WebP or GIF images.');
  if (size > FILE_BYTES_MAX) return t('Images can be up to 20 MB.');
  try {
    const bitmap = await createImageBitmap(file);
    const sent = size <= SENT_BYTES_MAX ? file : await shrink(bitmap);
    bitmap.close();
    if (sent === undefined) return t('This image is too large.');
    return { name, type: sent.type, data: await base64Of(sent) };
  } catch {
    return t('This file is not a readable image.');
  }
}

/** Draws the image at most `side` wide and high. An unreadable one leaves the canvas empty. */
export async function drawPicture(
  canvas: HTMLCanvasElement,
  picture: Picture,
  side: number,
): Promise<void> {
  try {
    const bytes = Uint8Array.from(atob(picture.data), (character) => character.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type: picture.type }));
    draw(canvas, bitmap, side);
    bitmap.close();
  } catch {
    // The label says which image it is.
  }
}

function draw(canvas: HTMLCanvasElement, bitmap: ImageBitmap, side: number): void {
  const scale = Math.min(1, side / Math.max(bitmap.width, bitmap.height));
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
}

async function shrink(bitmap: ImageBitmap): Promise<Blob | undefined> {
  const canvas = document.createElement('canvas');
  for (const side of SIDES) {
    draw(canvas, bitmap, side);
    const blob = await new Promise<Blob | null>((resolve) =>
      canvas.toBlob(resolve, 'image/jpeg', JPEG_QUALITY),
    );
    if (blob !== null && blob.size <= SENT_BYTES_MAX) return blob;
  }
  return undefined;
}

async function base64Of(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = '';
  // A call has room for some thousands of arguments.
  for (let start = 0; start < bytes.length; start += 8_192) {
    text += String.fromCharCode(...bytes.subarray(start, start + 8_192));
  }
  return btoa(text);
}
