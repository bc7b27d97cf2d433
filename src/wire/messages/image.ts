// The source of an image block. Called for images in messages and in tool results. Images are
// never decoded and never fetched here.

import { Type } from '@sinclair/typebox';
import type { ImagePart } from '../../core/generation.ts';
import { oneOf, type Reader, readObject, shape } from '../check.ts';
import { sniffImageType } from '../image-type.ts';

const readSourceType = oneOf('base64', 'url');
const readMediaType = shape(
  Type.String({ pattern: '^image/[A-Za-z0-9.+-]+$', expected: 'an image type such as image/png' }),
);
const readImageData = shape(
  Type.String({
    pattern: '^[A-Za-z0-9+/]+={0,2}$',
    expected: 'base64 without a data: prefix and without line breaks',
  }),
);
const readImageUrl = shape(
  Type.String({ pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\s]', expected: 'an http or https URL' }),
);

/** The image of a block's `source`: a URL that the upstream fetches, or base64 as a data URL. */
export const readImage: Reader<ImagePart> = (value, path) => {
  const source = readObject(value, path);
  if (readSourceType(source['type'], `${path}.type`) === 'url') {
    return { kind: 'image', url: readImageUrl(source['url'], `${path}.url`) };
  }
  const data = readImageData(source['data'], `${path}.data`);
  // Some clients leave the media type out; the first bytes give it away.
  const type = source['media_type'] ?? sniffImageType(data) ?? 'image/jpeg';
  const mediaType = readMediaType(type, `${path}.media_type`);
  return { kind: 'image', url: `data:${mediaType};base64,${data}` };
};
